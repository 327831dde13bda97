"""What checks must not blame: each test is a finding on a re-created system that was none."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from sixfold.harness.candidate import CONTROL, Candidate, Contract
from sixfold.harness.environment import Environment
from sixfold.harness.steps import (
    Arrangement,
    Configure,
    Continue,
    LateResults,
    LoadTurn,
    ToolCall,
    ToolRound,
    UserTurn,
)

from ..helpers import codes, scenario_of

ROUND = ToolRound()
UNPARSABLE = ToolRound(calls=(ToolCall(), ToolCall(kind="invalid")))


def of(cls: type[Any]) -> Candidate:
    return Candidate(name=cls.__name__, build=lambda e: [cls(e)], contract=Contract(compacts=True))


class AroundTheQuestion(AgentMiddleware[Any, Any, Any]):
    """Replaces the history by a note, the question and a record of what was done, in this order."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        question, *work = state["messages"]
        if not work:
            return None
        new_id = self.environment.new_id
        note = HumanMessage("a note", id=new_id("note"))
        record = AIMessage("\n".join(f"- {m.text}" for m in work), id=new_id("record"))
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), note, question, record]}


def test_what_stands_as_it_was_written_has_not_come_apart() -> None:
    one_round = scenario_of(UserTurn(rounds=(ROUND,)))
    found = codes(of(AroundTheQuestion), one_round)
    assert "4.cut-inside-turn" in found
    assert "6.fold-incoherent" not in found


class KeepFive(AgentMiddleware[Any, Any, Any]):
    """Keeps the last five messages before each model call."""

    def __init__(self, environment: Environment) -> None:
        pass

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return {"messages": [RemoveMessage(id=m.id) for m in state["messages"][:-5]]}


def test_cut_between_two_tellings_of_a_result_leaves_no_hole() -> None:
    told_twice = LoadTurn(calls=3, arrangement="result_twice")
    found = codes(of(KeepFive), scenario_of(told_twice, Continue(rounds=(ROUND,))))
    assert "4.cut-inside-turn" in found
    assert "4.hole" not in found


class DropSystem(AgentMiddleware[Any, Any, Any]):
    """Removes the system message from the state in the second turn, and nothing else."""

    def __init__(self, environment: Environment) -> None:
        pass

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        first, *rest = state["messages"]
        return {"messages": [RemoveMessage(id=first.id)]} if rest[1:] and first.type == "system" else None


class DropSystemAndMore(DropSystem):
    """Removes all that is older than the current question."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        old = state["messages"][:-1]
        return {"messages": [RemoveMessage(id=m.id) for m in old]} if old[1:] else None


def test_a_smaller_cut_of_the_system_message_is_blamed_for_no_more_than_a_larger_one() -> None:
    story = scenario_of(Configure(system_in_state=True), UserTurn(), UserTurn())
    assert codes(of(DropSystem), story) == {"4.system-lost"}
    assert "5.prefix-broken" not in codes(of(DropSystemAndMore), story)


class Shorten(AgentMiddleware[Any, Any, Any]):
    """Cuts the first message shorter at every turn, under its id."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        first, *rest = state["messages"]
        if not rest:
            return None
        text = f"⟦u1⟧ {'…' * len(rest)}"
        return {"messages": [first.model_copy(update={"content": text})]}


def test_what_is_left_of_a_message_is_no_summary() -> None:
    found = codes(of(Shorten), scenario_of(UserTurn(), UserTurn(), UserTurn()))
    assert "2.content-changed" in found
    assert "5.summary-rewritten" not in found


class SummariseResults(AgentMiddleware[Any, Any, Any]):
    """Folds one message of finished turns into a summary before each model call."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def folded(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return the oldest work of finished turns, and the summary of what was folded before."""
        summary = [m for m in messages if m.name == "summary"]
        now = max(place for place, m in enumerate(messages) if isinstance(m, HumanMessage))
        oldest = next((m for m in messages[:now] if isinstance(m, AIMessage | ToolMessage)), None)
        return [] if oldest is None else [*summary, oldest]

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        folded = self.folded(messages)
        if not folded:
            return None
        text = self.environment.model.invoke("\n".join(f"- {m.text}" for m in folded)).text
        summary = HumanMessage(text, id=self.environment.new_id("summary"), name="summary")
        kept = [m for m in messages if m not in folded]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), kept[0], summary, *kept[1:]]}


def test_a_complaint_about_arguments_is_news_for_a_summary() -> None:
    # LangChain itself answers the call that could not be parsed; before each call one message is folded.
    story = scenario_of(UserTurn(rounds=(UNPARSABLE,)), UserTurn(rounds=(ROUND,) * 4))
    found = codes(of(SummariseResults), story)
    assert "4.cut-inside-turn" in found
    assert "5.regenerated" not in found


@pytest.mark.parametrize("arrangement", get_args(Arrangement))
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_control_goes_on_after_a_loaded_turn(arrangement: Arrangement, calls: int) -> None:
    # LangChain answers a call that could not be parsed when it calls the model again, amid what was said.
    invalid = ToolRound(calls=(ToolCall(kind="invalid"),))
    for first in (UserTurn(), UserTurn(rounds=(invalid,))):
        for behind in ((), (LateResults(),)):
            story = scenario_of(first, LoadTurn(calls=calls, arrangement=arrangement), *behind, Continue())
            assert codes(CONTROL, story) == set()
