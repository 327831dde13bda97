"""Candidates that are correct by their own rules and have no file in models/ of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.messages import SystemMessage

from sixfold.harness.candidate import Candidate, Contract, Middleware
from sixfold.harness.environment import Environment

Request = ModelRequest[Any]


class Idle(AgentMiddleware[Any, Any, Any]):
    """Has hooks and does nothing."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        return None

    def before_model(self, state: Any, runtime: Any) -> None:
        return None

    def after_model(self, state: Any, runtime: Any) -> None:
        return None


class PromptOnly(AgentMiddleware[Any, Any, Any]):
    """Rewrites the system prompt, with the current state, and nothing else."""

    def __init__(self, environment: Environment) -> None:
        self._state = environment.state

    def _rewritten(self, request: Request) -> Request:
        return request.override(system_message=SystemMessage(f"Be careful.\n\nFiles:\n{self._state.text()}"))

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        return handler(self._rewritten(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        return await handler(self._rewritten(request))


def idle(environment: Environment) -> list[Middleware]:
    return [Idle()]


def prompt_only(environment: Environment) -> list[Middleware]:
    return [PromptOnly(environment)]


IDLE = Candidate(name="idle", build=idle, source="a middleware that does nothing")
PROMPT_ONLY = Candidate(
    name="prompt-only",
    build=prompt_only,
    contract=Contract(edits_requests=True),
    source="a middleware that only rewrites the system prompt",
)
