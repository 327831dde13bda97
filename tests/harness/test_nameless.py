"""A message that stands in the state without an id is told; what a reducer has named is not."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
from langgraph.types import Overwrite

from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.differential import try_out
from sixfold.harness.nameless import unnamed
from sixfold.harness.play import play
from sixfold.harness.steps import TrimState, UserMessage, UserTurn

from ..helpers import agent_of, graph_agent_of, scenario_of

SENT_WITHOUT_ID = UserTurn(messages=(UserMessage(id="none"),))


class Notes(AgentMiddleware[Any, Any, Any]):
    """Writes a note past the reducer or through it, with or without an id."""

    def __init__(self, *, past: bool, named: bool) -> None:
        self.past = past
        self.named = named

    def before_agent(self, state: Any, runtime: Any) -> Any:
        count = len(state["messages"])
        note = HumanMessage("Be brief.", id=f"note{count}" if self.named else None, name="note")
        return {"messages": Overwrite([*state["messages"], note]) if self.past else [note]}


def _candidate(*, past: bool, named: bool) -> Candidate:
    return Candidate(name=f"notes-{past}-{named}", build=lambda _environment: [Notes(past=past, named=named)])


@pytest.mark.parametrize("lane", ["reducer", "graph"])
def test_message_written_past_the_reducer_without_an_id_is_told(lane: Any) -> None:
    candidate = _candidate(past=True, named=False)
    agent = agent_of(candidate) if lane == "reducer" else graph_agent_of(candidate)
    said = unnamed(play(agent, scenario_of(UserTurn()), lane=lane).history)
    assert said is not None
    assert said.startswith("Notes.before_agent left a human message")
    violated = try_out(agent, scenario_of(UserTurn()), lane=lane, comparing=True).violated()
    assert ("5.replay-differs", "replay") in violated


@pytest.mark.parametrize(("past", "named"), [(True, True), (False, False), (False, True)])
def test_named_message_is_not(past: bool, named: bool) -> None:
    agent = agent_of(_candidate(past=past, named=named))
    assert unnamed(play(agent, scenario_of(SENT_WITHOUT_ID, UserTurn())).history) is None


def test_client_that_overwrites_is_not() -> None:
    scenario = scenario_of(SENT_WITHOUT_ID, SENT_WITHOUT_ID, TrimState(how="overwrite"), UserTurn())
    assert unnamed(play(agent_of(CONTROL), scenario).history) is None
