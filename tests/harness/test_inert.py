"""What LangChain and LangGraph wrote is read as the data it is, and nothing is called."""

import json
from typing import Any

import ormsgpack
import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
    messages_to_dict,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from sixfold.harness.errors import SixfoldError
from sixfold.harness.foreign import Conversation, checked
from sixfold.harness.inert import MAX_DEPTH, DecodeError, Inert, from_json, from_msgpack
from sixfold.harness.steps import Configure, UserMessage, UserTurn

CALL = {"name": "look", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
MESSAGES: list[BaseMessage] = [
    SystemMessage("be kind", id="s"),
    HumanMessage("what is it", id="h"),
    AIMessage("let me look", id="a", tool_calls=[CALL]),
    ToolMessage("found", tool_call_id="c1", id="t"),
    AIMessage([{"type": "text", "text": "this is it"}], id="b", response_metadata={"finish_reason": "stop"}),
]


def packed(value: Any) -> bytes:
    return JsonPlusSerializer().dumps_typed(value)[1]


@pytest.mark.parametrize(
    "message",
    [*MESSAGES, HumanMessageChunk(content="x"), AIMessageChunk(content="y"), RemoveMessage(id="z")],
    ids=lambda message: type(message).__name__,
)
def test_a_stored_message_is_the_dict_of_its_fields(message: BaseMessage) -> None:
    assert from_msgpack(packed([message])) == [message.model_dump()]


@pytest.mark.parametrize(
    "written",
    [
        lambda: json.loads(json.dumps([message.model_dump() for message in MESSAGES])),
        lambda: messages_to_dict(MESSAGES),
        lambda: from_json(json.dumps(dumpd(MESSAGES))),
        lambda: from_msgpack(packed(MESSAGES)),
    ],
    ids=["plain", "messages_to_dict", "dumpd", "msgpack"],
)
def test_every_way_to_write_messages_is_retold_alike(written: Any) -> None:
    start, turn = Conversation("x", checked(written(), "x")).retold().scenario.steps
    assert start == Configure(system_in_state=True)
    assert isinstance(turn, UserTurn)
    assert turn.messages == (UserMessage(words=2),)
    assert [len(each.calls) for each in turn.rounds] == [1]
    assert (turn.reply, turn.reply_words, turn.metadata) == ("blocks", 2, True)


def test_the_messages_of_openai_are_retold_alike_but_for_ids_and_metadata() -> None:
    messages = convert_to_openai_messages(MESSAGES)
    assert isinstance(messages, list)
    _, turn = Conversation("x", tuple(messages)).retold().scenario.steps
    assert isinstance(turn, UserTurn)
    assert turn.messages == (UserMessage(words=2, form="dict", id="none"),)
    assert [len(each.calls) for each in turn.rounds] == [1]


@pytest.mark.parametrize("version", [1, 2])
def test_constructors_of_messages_are_dicts_and_all_others_markers(version: int) -> None:
    def constructor(*path: str) -> dict[str, Any]:
        return {"lc": version, "type": "constructor", "id": path, "kwargs": {"content": "x"}}

    stored = [
        constructor("langchain", "schema", "messages", "HumanMessage"),
        constructor("langchain_core", "messages", "ai", "AIMessage"),
        constructor("langchain_core", "prompts", "HumanMessage"),
        constructor("os", "system"),
    ]
    assert from_json(json.dumps(stored)) == [
        {"content": "x", "type": "human"},
        {"content": "x", "type": "ai"},
        Inert("langchain_core.prompts.HumanMessage"),
        Inert("os.system"),
    ]


def test_a_class_of_another_module_is_no_message() -> None:
    for module in ("evil", "langchain_core.messages_evil", "langchain_core"):
        inner = ormsgpack.packb([module, "HumanMessage", {"content": "x"}, "model_validate_json"])
        assert from_msgpack(ormsgpack.packb(ormsgpack.Ext(5, inner))) == Inert(f"{module}.HumanMessage")


def test_nesting_is_bounded() -> None:
    with pytest.raises(DecodeError):
        from_msgpack(b"\x91" * (MAX_DEPTH + 2) + b"\xc0")
    data: Any = b"\xc0"
    for _ in range(MAX_DEPTH + 2):
        data = ormsgpack.packb(ormsgpack.Ext(7, data))
    with pytest.raises(DecodeError):
        from_msgpack(data)


def test_what_is_no_message_is_named() -> None:
    with pytest.raises(SixfoldError, match=r"message 0 is of no known shape \(os\.system\)"):
        checked([Inert("os.system")], "here")


def test_calls_that_langchain_does_not_see_end_the_turn() -> None:
    unseen = {"type": "tool_use", "id": "c9", "name": "look", "input": {}}
    messages = [
        {"type": "human", "content": "go"},
        {"type": "ai", "content": [unseen], "tool_calls": []},
        {"type": "human", "content": "go on"},
        {"role": "assistant", "content": [unseen]},
    ]
    first, second = Conversation("x", tuple(messages)).retold().scenario.steps
    assert isinstance(first, UserTurn)
    assert isinstance(second, UserTurn)
    assert (first.rounds[0].view, first.stop) == ("blocks_only", None)
    assert (second.rounds[0].view, second.stop) == ("blocks", "after_calls")
