"""Messages of the script are lent to one history after the other: nothing done to them in place stays."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import BaseMessage

from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes
from sixfold.harness.history import Mutated, Requested
from sixfold.harness.play import Player, play
from sixfold.harness.steps import Restart, Rewind, ToolRound, UserTurn

from ..helpers import agent_of, explored, scenario_of

STORY = scenario_of(UserTurn(rounds=(ToolRound(),)), UserTurn())


class Scribbles(AgentMiddleware[Any, Any, Any]):
    """Changes every message that it is shown, in place, in all the ways there are."""

    def __init__(self, shown: list[tuple[str, ...]]) -> None:
        self.shown = shown

    def before_model(self, state: Any, runtime: Any) -> None:
        messages: list[BaseMessage] = state["messages"]
        self.shown.append(tuple(m.text for m in messages))
        for message in messages:
            message.content = "scribbled"
            message.additional_kwargs["scribbled"] = True
            message.response_metadata["scribbled"] = True
            for call in getattr(message, "tool_calls", ()):
                call["args"]["scribbled"] = True
            message.scribbled = True  # type: ignore[attr-defined]


def scribbling(shown: list[tuple[str, ...]]) -> Candidate:
    return Candidate(name="scribbles", build=lambda _: [Scribbles(shown)])


def test_what_one_history_scribbles_no_other_sees() -> None:
    shown: list[tuple[str, ...]] = []
    agent = agent_of(scribbling(shown))
    first = play(agent, STORY).history
    seen, shown[:] = list(shown), []
    again = play(agent, STORY).history
    assert first == again
    assert seen == shown
    assert not any("scribbled" in text for text in seen[0])
    assert any(isinstance(record, Mutated) for record in first.records)
    control = play(agent_of(Candidate(name="control", build=lambda _: [])), STORY).history
    requests = [record for record in control.records if isinstance(record, Requested)]
    assert not any("scribbled" in view.text + view.extra for r in requests for view in r.messages)


class AsksTwice(AgentMiddleware[Any, Any, Any]):
    """Has each answer given twice, and scribbles on the first one."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        draft = handler(request)
        draft.result[0].content = "scribbled"
        return handler(request)


TWICE = Candidate(name="asks twice", build=lambda _: [AsksTwice()])


def test_what_is_said_again_is_said_as_it_was() -> None:
    agent = agent_of(TWICE)
    assert compare_lanes(play(agent, STORY).history, play(agent, STORY, lane="graph").history) is None


def test_what_a_checkpoint_gives_back_is_what_stood_in_the_state() -> None:
    story = scenario_of(UserTurn(), Restart(), UserTurn())
    play(agent_of(TWICE), story)
    control = play(agent_of(Candidate(name="control", build=lambda _: [])), story).history
    assert "scribbled" not in repr(control.records)


def test_nothing_stays_when_a_history_ends_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = agent_of(scribbling([]))
    expected = play(agent, STORY).history

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Player, "_configure", broken)
        patch.setattr("sixfold.harness.play.Player._rewind", broken)
        with pytest.raises(KeyboardInterrupt):
            play(agent, scenario_of(*STORY.steps, Rewind()))
    assert play(agent, STORY).history == expected


class Counts(AgentMiddleware[Any, Any, Any]):
    """Counts the objects that it is shown."""

    def __init__(self, objects: set[int]) -> None:
        self.objects = objects

    def before_model(self, state: Any, runtime: Any) -> None:
        self.objects |= {id(message) for message in state["messages"]}
        texts = [m.text for m in state["messages"]]
        assert len({id(m) for m in state["messages"]}) == len(texts)


def test_no_object_stands_twice_in_a_history() -> None:
    agent = agent_of(Candidate(name="counts", build=lambda _: [Counts(set())]))
    for scenario in explored(150):
        errors = [r.error for r in play(agent, scenario).history.records if getattr(r, "error", None)]
        assert not any("AssertionError" in error for error in errors), scenario


def test_histories_that_go_on_side_by_side_share_nothing() -> None:
    shown: list[tuple[str, ...]] = []
    scribbler = Player(agent_of(scribbling(shown)))
    for step in STORY.steps:
        scribbler.perform(step)
    reader_shown: list[tuple[str, ...]] = []

    class Reads(Scribbles):
        def before_model(self, state: Any, runtime: Any) -> None:
            self.shown.append(tuple(m.text for m in state["messages"]))

    reader = Player(agent_of(Candidate(name="reads", build=lambda _: [Reads(reader_shown)])))
    for step in STORY.steps:
        reader.perform(step)
    assert not any("scribbled" in text for texts in reader_shown for text in texts)
