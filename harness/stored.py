"""Stored formats: the messages of a checkpoint as earlier versions wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.load import dumps
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from .steps import Stored


def written(stored: Stored, messages: Sequence[Any]) -> tuple[str, bytes]:
    """Return the messages as a checkpoint holds them: the name of the encoding, and the bytes."""
    messages = convert_to_messages(messages)
    if stored == "json":
        return "json", dumps(messages).encode()
    values = list(map(_as_dict, messages)) if stored == "dicts" else messages
    return JsonPlusSerializer().dumps_typed(values)


def _as_dict(message: BaseMessage) -> Any:
    """Return the message as a dict; itself when a dict cannot hold all of it."""
    data: dict[str, Any] = {"role": message.type, "content": message.content, "id": message.id}
    if message.name is not None:
        data["name"] = message.name
    if message.additional_kwargs:
        data["additional_kwargs"] = message.additional_kwargs
    if isinstance(message, ToolMessage):
        data["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage):
        if message.invalid_tool_calls or message.usage_metadata or message.response_metadata:
            return message
        if message.tool_calls:
            data["tool_calls"] = message.tool_calls
    return data
