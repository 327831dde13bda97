"""A summary model without a synchronous client: it refuses one form of call and answers the other."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware

from sixfold.harness.candidate import Candidate
from sixfold.harness.environment import Environment
from sixfold.harness.history import Summarised
from sixfold.harness.play import play
from sixfold.harness.steps import Configure, UserTurn

from ..helpers import agent_of, scenario_of


class Summarises(AgentMiddleware[Any, Any, Any]):
    """Calls the summary model in both forms of its hook."""

    def __init__(self, environment: Environment) -> None:
        self.model = environment.model.model_copy(update={"only_async": True})

    def before_agent(self, state: Any, runtime: Any) -> None:
        self.model.invoke(state["messages"])

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        await self.model.ainvoke(state["messages"])


CANDIDATE = Candidate(name="only-async-model", build=lambda environment: [Summarises(environment)])


def _failures(*, run_async: bool) -> list[str | None]:
    scenario = scenario_of(Configure(run_async=run_async), UserTurn())
    records = play(agent_of(CANDIDATE), scenario).history.records
    return [record.failure for record in records if isinstance(record, Summarised)]


def test_only_the_synchronous_call_is_refused() -> None:
    assert _failures(run_async=False) == ["raise"]
    assert _failures(run_async=True) == [None]
