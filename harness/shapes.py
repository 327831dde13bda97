"""Shapes: how one message is written down as an object of the message library.

The odd ones are what providers, gateways and front ends really send; the words in them are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    HumanMessageChunk,
    InvalidToolCall,
    ToolMessage,
)
from langchain_core.messages import ToolCall as ToolCallDict
from langchain_core.messages.tool import invalid_tool_call

from .copies import with_fields
from .steps import CallView, IdStyle, Shape

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_LINK = "https://example.org/pixel.png"

#: Validating a message costs more than all that the harness does with it: what is sent are copies of these.
_AI = AIMessage("", id="", tool_calls=[], invalid_tool_calls=[])
_AI_CHUNK = AIMessageChunk(content="", id="", tool_calls=[], invalid_tool_calls=[], tool_call_chunks=[])
_HUMAN = HumanMessage("", id="", name=None, additional_kwargs={})
_HUMAN_CHUNK = HumanMessageChunk(content="", id="", name=None, additional_kwargs={})
_TOOL = ToolMessage("", id="", name="lookup", tool_call_id="")

M = TypeVar("M", bound=BaseMessage)


def _filled(prototype: M, values: dict[str, Any]) -> M:
    """Return a copy of `prototype` with `values`."""
    return with_fields(
        prototype, {**prototype.__dict__, "additional_kwargs": {}, "response_metadata": {}, **values}
    )


def answer(content: Any, message_id: str, *, chunk: bool = False, **fields: Any) -> AIMessage:
    """Return a message of the model."""
    if chunk:
        return _filled(_AI_CHUNK, {"content": content, "id": message_id, "tool_call_chunks": [], **fields})
    return _filled(_AI, {"content": content, "id": message_id, **fields})


def result(content: str, message_id: str, call_id: str | None, **fields: Any) -> ToolMessage:
    """Return a message of the tool."""
    return _filled(_TOOL, {"content": content, "id": message_id, "tool_call_id": call_id, **fields})


def words(content: Any, message_id: str | None, *, chunk: bool = False, **fields: Any) -> HumanMessage:
    """Return a message of the user."""
    return _filled(_HUMAN_CHUNK if chunk else _HUMAN, {"content": content, "id": message_id, **fields})


def renamed(message: M, message_id: str) -> M:
    """Return a copy of `message` under another id."""
    return message.model_copy(update={"id": message_id})


def id_of(style: IdStyle, turn: int, number: int) -> str | None:
    """Return the id of the user's message `number` of `turn`, in a style that depends on nothing else."""
    token = user_token(turn, number)
    match style:
        case "none":
            return None
        case "empty":
            return ""
        case "suffixed":
            return f"{token}__user"
        case "infixed":
            return f"{token}__user.part"
        case "numeric":
            return f"{turn}{number}"
        case "twice" if number:
            return user_token(turn, number - 1)
        case _:
            return token


def user_token(turn: int, number: int) -> str:
    """Return the token of the user's message `number` (from 0) of `turn`."""
    return f"u{turn}" if number == 0 else f"u{turn}.{number + 1}"


def content_of(shape: Shape, text: str) -> Any:
    """Return the content that holds `text` in this shape."""
    match shape:
        case "blocks":
            return [{"type": "text", "text": text}]
        case "strings":
            return [text, "please"]
        case "image" | "link":
            url = _PIXEL if shape == "image" else _LINK
            return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
        case "empty":
            return ""
        case "none":
            return None
        case _:
            return text


def thinking(content: Any) -> list[Any]:
    """Return `content` behind a thinking block, as a provider signs it."""
    block = {"type": "thinking", "thinking": "First I look, then I answer.", "signature": "c2lnbmVk"}
    return [block, *(content if isinstance(content, list) else [{"type": "text", "text": content}])]


def unparsable(call_id: str, name: str) -> InvalidToolCall:
    """Return a call of the tool `name` whose arguments could not be parsed."""
    return invalid_tool_call(name=name, args="{broken", id=call_id, error="no JSON")


def as_viewed(view: CallView, content: Any, calls: Sequence[ToolCallDict]) -> tuple[Any, dict[str, Any]]:
    """Return content and `additional_kwargs` of an answer that names `calls` in another field, too.

    The entries of `additional_kwargs` are flat, as of the Responses API: LangChain parses those of the
    older API into `tool_calls` whenever a stored message is read, so a view of its own does not last.
    """
    if view in ("blocks", "blocks_only"):
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        uses = [
            {"type": "tool_use", "id": call["id"], "name": call["name"], "input": dict(call["args"])}
            for call in calls
        ]
        return [*blocks, *uses], {}
    if view == "calls":
        return content, {}
    raw = [
        {"type": "function_call", "id": call["id"], "name": call["name"], "arguments": "{}"} for call in calls
    ]
    if view == "differs" and raw:
        raw.append({**raw[-1], "id": f"{raw[-1]['id']}.more"})
    return content, {"tool_calls": raw}
