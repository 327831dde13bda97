"""Foreign conversations become scenarios that say what happened, and no word of what was said."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings

from sixfold.harness.candidate import CONTROL
from sixfold.harness.differential import compare_lanes, try_out
from sixfold.harness.foreign import Conversation
from sixfold.harness.redaction import Redaction
from sixfold.harness.retelling import MAX_TOLD, MAX_TURNS, Retold
from sixfold.harness.scenario import from_json, to_json
from sixfold.harness.steps import (
    Configure,
    Continue,
    LateResults,
    LoadTurn,
    Step,
    ToolCall,
    ToolRound,
    UserMessage,
    UserTurn,
)

from ..helpers import agent_of, graph_agent_of
from ..histories import CONVERSATIONS

FOREIGN_WORD = re.compile(r"[qxzj]{3,}")


def retold(*messages: dict[str, Any]) -> Retold:
    return Conversation("test", messages).retold()


def steps(*messages: dict[str, Any]) -> tuple[Step, ...]:
    return retold(*messages).scenario.steps


def human(text: str = "some words to ask", **fields: Any) -> dict[str, Any]:
    return {"type": "human", "content": text, "id": "h", **fields}


def ai(*ids: str | None, text: str = "some words to say", **fields: Any) -> dict[str, Any]:
    calls = [{"name": "look", "args": {}, "id": call_id, "type": "tool_call"} for call_id in ids]
    return {"type": "ai", "content": text, "tool_calls": calls, **fields}


def result(call_id: str, text: str = "found") -> dict[str, Any]:
    return {"type": "tool", "content": text, "tool_call_id": call_id}


ASKED = UserMessage(words=3)
FOUND = ToolCall(words=1)


@settings(max_examples=100)
@given(CONVERSATIONS)
def test_what_is_retold_can_be_stored_and_holds_on_control(messages: list[Any]) -> None:
    scenario = retold(*messages).scenario
    assert from_json(to_json(scenario)) == scenario
    assert not try_out(agent_of(CONTROL), scenario).violated()


@settings(max_examples=15)
@given(CONVERSATIONS)
def test_both_lanes_play_it_in_the_same_way(messages: list[Any]) -> None:
    scenario = retold(*messages).scenario
    reducer = try_out(agent_of(CONTROL), scenario)
    graph = try_out(graph_agent_of(CONTROL), scenario, lane="graph")
    assert compare_lanes(reducer.history, graph.history) is None


@settings(max_examples=150)
@given(CONVERSATIONS)
def test_no_word_is_left_in_scenarios_and_redacted_messages(messages: list[Any]) -> None:
    redacted = Redaction().messages(messages)
    for text in (json.dumps(redacted, ensure_ascii=False), to_json(retold(*messages).scenario)):
        assert not FOREIGN_WORD.search(text)
        assert not re.search(r"(?<!\d)[1-9]\d{4}(?!\d)", text.replace("90000", ""))


@settings(max_examples=150)
@given(CONVERSATIONS)
def test_redacted_messages_are_retold_as_the_same_scenario(messages: list[Any]) -> None:
    assert retold(*Redaction().messages(messages)) == retold(*messages)


def test_a_turn_with_rounds_of_calls() -> None:
    assert steps(
        human(), ai("a", "b"), result("a"), result("b", "f" * 70), ai("c"), result("c"), ai(text="x" * 35)
    ) == (
        UserTurn(
            messages=(ASKED,),
            rounds=(ToolRound(calls=(FOUND, ToolCall(words=10))), ToolRound(calls=(FOUND,))),
            reply_words=5,
        ),
    )


def test_a_system_message_and_turns_that_were_stopped() -> None:
    told = steps({"role": "system", "content": "be kind"}, human(), ai("a"), human(), ai("b"), result("b"))
    assert told[0] == Configure(system_in_state=True)
    assert [step.stop for step in told[1:] if isinstance(step, UserTurn)] == ["after_calls", "after_results"]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([ai("a", "b"), result("b"), result("a"), ai()], LoadTurn(calls=2, arrangement="results_reversed")),
        ([ai("a", "b"), result("a"), ai()], LoadTurn(calls=2, arrangement="result_missing")),
        ([ai("a"), result("a"), result("a"), ai()], LoadTurn(calls=1, arrangement="result_twice")),
        ([ai("a"), ai(), result("a")], LoadTurn(calls=1, arrangement="results_last")),
        ([ai("a"), human(), result("a"), ai()], LoadTurn(calls=1, arrangement="human_between")),
        (
            [ai("a"), ai("b"), result("a"), result("b"), ai()],
            LoadTurn(calls=2, arrangement="consecutive_calls"),
        ),
        ([ai(None), ai()], LoadTurn(calls=1, arrangement="result_missing", naming="no_id")),
        ([ai(""), result(""), ai()], LoadTurn(calls=1, naming="empty_id")),
    ],
)
def test_disorder_becomes_a_loaded_turn(messages: list[dict[str, Any]], expected: LoadTurn) -> None:
    told = retold(human(), *messages)
    assert told.scenario.steps == (expected,)
    assert told.lost == ()


def test_disorder_in_a_longer_turn_is_told_behind_it() -> None:
    told = retold(human(), ai("a", "b"), result("b"), result("a"), ai("c"), result("c"), ai())
    assert told.scenario.steps[1:] == (LoadTurn(calls=2, arrangement="results_reversed"),)
    assert told.lost == ("1 × disorder of a turn that is told in a turn of its own behind it",)


def test_results_that_come_again_and_runs_without_new_words() -> None:
    told = steps(human(), ai("a"), result("a"), ai(), result("a"), ai("b"), result("b"), ai())
    assert [type(step) for step in told] == [UserTurn, Continue, LateResults]
    assert told[1] == Continue(rounds=(ToolRound(calls=(FOUND,)),))


def test_ids_shapes_and_names_of_the_user() -> None:
    [turn] = steps(
        human(id="17"),
        human(id="abc"),
        human(id="abc"),
        human(id="x__user", name="bob"),
        human([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:…"}}]),
        human(None, id="7b2c0f1e-43a1-4c57-9b3a-0d9f6f3a1c55"),
        human(additional_kwargs={"hide_from_ui": True}, type="HumanMessageChunk"),
    )
    assert isinstance(turn, UserTurn)
    assert [message.id for message in turn.messages] == [
        "numeric",
        "chosen",
        "twice",
        "suffixed",
        "chosen",
        "none",
        "chosen",
    ]
    assert [message.shape for message in turn.messages] == [
        "text",
        "text",
        "text",
        "text",
        "image",
        "none",
        "text",
    ]
    assert [message.form for message in turn.messages][5:] == ["dict", "chunk"]
    assert turn.messages[3].name == "ada"
    assert turn.messages[6].hidden


def test_what_cannot_be_expressed_is_counted() -> None:
    told = retold(
        ai(),
        human(),
        {"type": "remove", "content": "", "id": "x"},
        result("nobody asked"),
        ai("a"),
        human(),
        ai(),
        result("a"),
    )
    assert set(told.lost) == {
        "1 × answer before the first user message",
        "1 × message of the kind 'remove'",
        "1 × result without its call",
        "1 × result that came in a later turn than its call",
    }


def test_only_the_last_turns_of_a_long_conversation_are_told() -> None:
    told = retold(*[message for _ in range(MAX_TURNS + 7) for message in (human(id=None), ai())])
    assert len(told.scenario.steps) == told.turns == MAX_TURNS
    assert told.lost == ("7 × turn before the last ones",)


def test_only_the_last_messages_of_long_turns_are_told() -> None:
    turn = [human(id=None), *(m for n in range(100) for m in (ai(f"c{n}"), result(f"c{n}"))), ai()]
    told = retold(*turn, *turn, *turn, *turn)
    assert told.turns == MAX_TOLD // len(turn) == 2
    assert retold(*turn * 1).turns == 1
    long = [human(), *(m for n in range(MAX_TOLD) for m in (ai(f"c{n}"), result(f"c{n}")))]
    assert retold(*long).calls == MAX_TOLD
