"""The channels of one history are nobody else's, whatever a reducer or a hook does to them in place."""

from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState

from sixfold.harness.candidate import Candidate
from sixfold.harness.play import play
from sixfold.harness.steps import UserTurn

from ..helpers import agent_of, graph_agent_of, scenario_of


def extended(left: list[str], right: list[str]) -> list[str]:
    left.extend(right)
    return left


class Noting(AgentState[Any]):
    notes: Annotated[list[str], extended]


class TakesNotes(AgentMiddleware[Any, Any, Any]):
    state_schema = Noting

    def __init__(self, found: list[list[str]]) -> None:
        self.found = found

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        self.found.append(list(state["notes"]))
        return {"notes": ["noted"]}


def test_reducer_that_changes_its_argument_spoils_no_other_history() -> None:
    found: list[list[str]] = []
    candidate = Candidate(name="notes", build=lambda _: [TakesNotes(found)])
    for _ in range(2):
        play(agent_of(candidate), scenario_of(UserTurn(), UserTurn()))
    assert found == [[], ["noted"]] * 2
    found.clear()
    play(graph_agent_of(candidate), scenario_of(UserTurn(), UserTurn()), lane="graph")
    assert found == [[], ["noted"]]
