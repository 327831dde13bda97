"""One message object that a hook hands over in two turns, told from what only looks like it."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage

from sixfold.harness.agent import Agent
from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes, try_out
from sixfold.harness.play import LaneName, play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import Continue, Rewind, UserTurn

from ..helpers import agent_of, graph_agent_of, scenario_of

CODE = "3.attach-not-latest"
TWO_TURNS = scenario_of(UserTurn(), UserTurn())


class SameObject(AgentMiddleware[Any, Any, Any]):
    """Returns its one note in every turn."""

    def __init__(self, message_id: str | None = None) -> None:
        self.message = HumanMessage("Be brief.", name="note", id=message_id)

    def before_agent(self, state: Any, runtime: Any) -> Any:
        return {"messages": [self.message]}


class FromTheState(AgentMiddleware[Any, Any, Any]):
    """Looks for its note in the state and returns it, or a new one."""

    def before_agent(self, state: Any, runtime: Any) -> Any:
        mine = (message for message in state["messages"] if message.name == "note")
        return {"messages": [next(mine, None) or HumanMessage("Be brief.", name="note")]}


def _candidate(name: str, cls: Any, *arguments: Any) -> Candidate:
    return Candidate(name=name, build=lambda _environment: [cls(*arguments)])


SHARED = _candidate("shared-object", SameObject)
NAMED = _candidate("shared-object-with-id", SameObject, "note")
STATE = _candidate("note-from-the-state", FromTheState)


def _agent(candidate: Candidate, lane: LaneName) -> Agent:
    return agent_of(candidate) if lane == "reducer" else graph_agent_of(candidate)


@pytest.mark.parametrize("lane", ["reducer", "graph"])
def test_second_injection_in_the_place_of_the_first_is_told(lane: LaneName) -> None:
    violated = try_out(_agent(SHARED, lane), TWO_TURNS, lane=lane).violated()
    assert (CODE, "SameObject.before_agent") in violated


@pytest.mark.parametrize("lane", ["reducer", "graph"])
@pytest.mark.parametrize("candidate", [NAMED, STATE], ids=lambda candidate: candidate.name)
def test_refreshing_in_place_is_no_second_injection(candidate: Candidate, lane: LaneName) -> None:
    violated = try_out(_agent(candidate, lane), TWO_TURNS, lane=lane).violated()
    assert CODE not in {code for code, _ in violated}


def test_going_on_with_a_turn_is_no_second_injection() -> None:
    violated = try_out(agent_of(SHARED), scenario_of(UserTurn(stop="after_results"), Continue())).violated()
    assert CODE not in {code for code, _ in violated}


@pytest.mark.parametrize("candidate", [SHARED, NAMED, STATE], ids=lambda candidate: candidate.name)
@pytest.mark.parametrize(
    "scenario",
    [TWO_TURNS, scenario_of(UserTurn(), UserTurn(), Rewind(), UserTurn(), Continue(), UserTurn())],
    ids=["two turns", "rewound"],
)
def test_lanes_agree(candidate: Candidate, scenario: Scenario) -> None:
    reducer = play(agent_of(candidate), scenario).history
    graph = play(graph_agent_of(candidate), scenario, lane="graph").history
    assert compare_lanes(reducer, graph) is None
