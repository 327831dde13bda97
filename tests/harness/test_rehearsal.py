"""What was worked out for one history is handed to the next as if it had been made anew."""

from typing import Any, get_args

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import BaseMessage

from sixfold.harness import rehearsal, script
from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.copies import copy_of, fields_of
from sixfold.harness.lanes.reloading import reloaded
from sixfold.harness.lanes.storable import loaded, through_storage
from sixfold.harness.play import LaneName, play
from sixfold.harness.rehearsal import SaidLines
from sixfold.harness.steps import Stored, UserTurn
from sixfold.harness.stored import written
from sixfold.harness.views import ViewBook, view_of

from ..helpers import explored

FEW = 30


class Vandal(AgentMiddleware[Any, Any]):
    """Changes everything that it can reach of the messages it is shown, in place."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        for message in state["messages"]:
            message.additional_kwargs["seen"] = True
            message.response_metadata.setdefault("seen", []).append(True)
            for call in getattr(message, "tool_calls", ()):
                call["args"]["more"] = "more"
            if isinstance(message.content, list):
                message.content.append({"type": "text", "text": "more"})
            else:
                message.content += " more"


VANDAL = Candidate(name="vandal", build=lambda _environment: [Vandal()])


def turns() -> list[UserTurn]:
    return [step for scenario in explored(FEW) for step in scenario.steps if isinstance(step, UserTurn)]


@pytest.mark.parametrize("lane", ["reducer", "graph"])
def test_a_candidate_that_changes_messages_does_not_spoil_the_next_history(lane: LaneName) -> None:
    vandal = build_agent(VANDAL, direct=lane == "reducer")
    control = build_agent(CONTROL, direct=lane == "reducer")
    for scenario in explored(FEW if lane == "reducer" else 3):
        clean = play(control, scenario, lane=lane).history.records
        first = play(vandal, scenario, lane=lane).history.records
        assert play(vandal, scenario, lane=lane).history.records == first, scenario
        assert play(control, scenario, lane=lane).history.records == clean, scenario


def test_lines_say_what_the_script_says() -> None:
    said = 0
    for step in turns():
        made = script.of_turn(step, 3)
        rehearsed = rehearsal.of_turn(step, 3)
        for number in range(1, made.ends_at() + 1):
            line, spoken = rehearsed.answer(number), made.answer(number)
            assert (line.message, line.utterance) == spoken
            assert line.said_anew() == spoken.message
            said += 1
        for number, words in enumerate(step.messages):
            line, spoken = rehearsal.user_words(words, 3, number), script.user_words(words, 3, number)
            assert (line.message, line.utterance) == spoken
            assert line.said_anew() == spoken.message
    assert said


def test_a_line_knows_what_its_message_looks_like() -> None:
    looks = [rehearsal.of_turn(step, 3).answer(1) for step in turns()]
    assert looks
    for line in looks:
        assert line.look is not None
        assert line.look.view == view_of(line.message, line.message.id)
        assert line.look.fields == line.message.__dict__


def test_a_copy_shares_nothing_that_can_be_changed() -> None:
    def mutable(value: Any) -> set[int]:
        if isinstance(value, dict):
            return {id(value)}.union(*map(mutable, value.values()))
        return {id(value)}.union(*map(mutable, value)) if isinstance(value, list) else set()

    messages: list[BaseMessage] = [rehearsal.of_turn(step, 3).answer(1).message for step in turns()]
    assert any(mutable(message.__dict__["content"]) for message in messages)
    for message in messages:
        copy = copy_of(message)
        assert copy == message
        assert copy.model_fields_set == message.model_fields_set
        assert mutable(copy.__dict__).isdisjoint(mutable(message.__dict__))
        assert fields_of(copy) == message.__dict__


@pytest.mark.parametrize("stored", get_args(Stored))
def test_a_checkpoint_gives_back_a_line_as_the_serialiser_does(stored: Stored) -> None:
    lines = SaidLines(ViewBook())
    messages: list[BaseMessage] = []
    for step in turns():
        rehearsed = rehearsal.of_turn(step, 3)
        for number in range(1, rehearsed.script.ends_at() + 1):
            line = rehearsed.answer(number)
            messages.append(line.said_anew())
            lines.add(messages[-1], line)
    changed = messages[0]
    changed.additional_kwargs["more"] = "more"
    unknown = copy_of(messages[1])
    messages.append(unknown)
    assert lines.line_of(changed) is None
    assert lines.line_of(unknown) is None
    through = through_storage(messages) if stored == "now" else loaded(written(stored, messages))
    for _ in range(2):
        again = reloaded(messages, stored, lines)
        assert again == through
        assert all(new is not old for new, old in zip(again, messages, strict=True))
