"""Candidates that every fault can strike, and some that few can."""

import asyncio
from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage

from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.environment import Environment
from sixfold.harness.faults import FAULT_KINDS, FaultKind

PATIENCE = 5


class Everything(AgentMiddleware[Any, Any, Any]):
    """Has every hook, uses every dependency, and writes two messages in each node hook."""

    def __init__(self, environment: Environment, *, quiet: bool = False) -> None:
        self.environment = environment
        self.quiet = quiet

    def _write(self, text: str = "hint") -> Any:
        if self.quiet:
            return None
        return {"messages": [HumanMessage(text, id=self.environment.new_id("hint")) for _ in range(2)]}

    def before_agent(self, state: Any, runtime: Any) -> Any:
        self.environment.state.read()
        self.environment.token_counter(state["messages"])
        return self._write(self.environment.model.invoke("Summarise.").text)

    def before_model(self, state: Any, runtime: Any) -> Any:
        return self._write()

    def after_model(self, state: Any, runtime: Any) -> Any:
        return self._write()

    def after_agent(self, state: Any, runtime: Any) -> Any:
        return self._write()

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(messages=[*request.messages, HumanMessage("Be brief.")]))


class AsyncEverything(AgentMiddleware[Any, Any, Any]):
    """Has every hook in its asynchronous form; `wait` waits for the work that each of them does."""

    def __init__(self, environment: Environment, wait: Callable[[Callable[[], str]], Any]) -> None:
        self.environment = environment
        self.wait = wait
        self.done = 0

    def _work(self) -> str:
        self.done += 1
        return f"work {self.done}"

    async def _write(self) -> Any:
        text = await self.wait(self._work)
        if text is None:
            return None
        return {"messages": [HumanMessage(text, id=self.environment.new_id("hint")) for _ in range(2)]}

    async def abefore_agent(self, state: Any, runtime: Any) -> Any:
        self.environment.state.read()
        return await self._write()

    async def abefore_model(self, state: Any, runtime: Any) -> Any:
        return await self._write()

    async def aafter_model(self, state: Any, runtime: Any) -> Any:
        return await self._write()

    async def aafter_agent(self, state: Any, runtime: Any) -> Any:
        return await self._write()

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        text = await self.wait(self._work)
        if text is None:
            return await handler(request)
        return await handler(request.override(messages=[*request.messages, HumanMessage(text)]))


async def capped(work: Callable[[], str]) -> str | None:
    try:
        return await asyncio.wait_for(asyncio.to_thread(work), PATIENCE)
    except TimeoutError:
        return None


async def at_once(work: Callable[[], str]) -> str:
    await asyncio.sleep(0)
    return work()


async def however_long(work: Callable[[], str]) -> str:
    return await asyncio.to_thread(work)


def candidate(
    name: str,
    build: Callable[[Environment], AgentMiddleware[Any, Any, Any]],
    suffers: frozenset[FaultKind] = frozenset(FAULT_KINDS),
) -> Candidate:
    return Candidate(
        name=name, build=lambda environment: [build(environment)], contract=Contract(suffers=suffers)
    )


LOUD = candidate("loud", Everything)
QUIET = candidate("quiet", lambda environment: Everything(environment, quiet=True))
IMMUNE = candidate("immune", Everything, frozenset())
ASYNC = candidate("async", lambda environment: AsyncEverything(environment, capped))
ASYNC_IMMUNE = candidate(
    "async-immune", lambda environment: AsyncEverything(environment, capped), frozenset()
)
SWIFT = candidate("swift", lambda environment: AsyncEverything(environment, at_once))
PATIENT = candidate("patient", lambda environment: AsyncEverything(environment, however_long))
