"""Heard messages: what one message of a foreign history is like, without a word of it.

Reads the dicts of LangChain, OpenAI and Anthropic. Lengths, shapes, ids and calls are kept; texts,
names of tools and arguments are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from .steps import CallView, Shape

Role = Literal["human", "ai", "tool", "system", "other"]

#: Characters that one filler word stands for.
WORD = 7
MAX_WORDS = 10_000

ROLES: Mapping[str, Role] = {
    "human": "human",
    "user": "human",
    "HumanMessageChunk": "human",
    "ai": "ai",
    "assistant": "ai",
    "AIMessageChunk": "ai",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "system": "system",
    "developer": "system",
    "SystemMessageChunk": "system",
    "function": "other",
    "FunctionMessageChunk": "other",
    "chat": "other",
    "ChatMessageChunk": "other",
    "remove": "other",
}
THINKING = ("thinking", "redacted_thinking", "reasoning")
IMAGES = ("image", "image_url", "input_image")


@dataclass(frozen=True, slots=True)
class HeardCall:
    """A tool call: its id, whether the tool is named, whether the arguments could not be parsed."""

    id: str | None
    named: bool = True
    invalid: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """One message. `words` is its length in filler words, `answers` the call that a result answers."""

    role: Role
    words: int = 0
    shape: Shape = "text"
    id: str | None = None
    as_dict: bool = False
    chunk: bool = False
    hidden: bool = False
    name: Literal["summary", "ada"] | None = None
    calls: tuple[HeardCall, ...] = ()
    view: CallView = "calls"
    answers: str | None = None
    failed: bool = False
    thinking: bool = False
    finish: Literal["filtered", "cut"] | None = None
    tokens: int | None = None
    metadata: bool = False
    kind: str = ""


def role_of(data: Any) -> Role | None:
    """Return who speaks in `data`, None when it is not a message of a known shape."""
    if isinstance(data, (list, tuple)):
        match data:
            case [str(who), str() | list()]:
                return ROLES.get(who)
        return None
    if not isinstance(data, Mapping):
        return None
    kind = data.get("role", data.get("type"))
    inner = data.get("data")
    inside = inner if "role" not in data and isinstance(inner, Mapping) else data
    spoken = isinstance(kind, str) and ("content" in inside or "tool_calls" in inside or kind == "remove")
    return ROLES.get(str(kind)) if spoken else None


def heard(data: Any) -> tuple[Heard, ...]:
    """Return the messages in the dict `data`: one, or more where Anthropic puts results beside words."""
    role = role_of(data)
    if role is None:
        raise ValueError("not a message")
    if not isinstance(data, Mapping):
        return (replace(_plain(role, {"content": data[1]}), as_dict=True),)
    if "role" in data:
        results = list(_results(data))
        rest = [block for block in _blocks(data.get("content")) if not _is_result(block)]
        if results and not rest:
            return tuple(results)
        words = _plain(role, {**data, "content": rest} if results else data)
        return (*results, replace(words, as_dict=True))
    inner = data.get("data")
    fields = {**inner, "type": data["type"]} if isinstance(inner, Mapping) else data
    return (_plain(role, fields),)


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def _results(data: Mapping[str, Any]) -> Iterator[Heard]:
    for block in _blocks(data.get("content")):
        if _is_result(block):
            text = length(block.get("content"))
            call = _text(block.get("tool_use_id"))
            yield Heard("tool", _words(text), answers=call, failed=block.get("is_error") is True)


def _plain(role: Role, data: Mapping[str, Any]) -> Heard:
    content, extra = data.get("content"), _dict(data.get("additional_kwargs"))
    meta = _dict(data.get("response_metadata"))
    kind = str(data.get("role", data.get("type", "")))
    calls, view = _calls(data, extra) if role == "ai" else ((), "calls")
    reason = str(meta.get("finish_reason", meta.get("stop_reason", data.get("stop_reason"))))
    blocks = [block.get("type") for block in _blocks(content) if isinstance(block, Mapping)]
    summary = extra.get("lc_source") == "summarization" or data.get("name") == "summary"
    return Heard(
        role,
        _words(length(content)),
        _shape(content),
        _text(data.get("id")),
        chunk=kind.endswith("Chunk"),
        hidden=extra.get("hide_from_ui") is True,
        name="summary" if summary else "ada" if data.get("name") else None,
        calls=calls,
        view=view,
        answers=_text(data.get("tool_call_id")) if role == "tool" else None,
        failed=role == "tool" and data.get("status") == "error",
        thinking=any(block in THINKING for block in blocks),
        finish="filtered"
        if reason == "content_filter"
        else "cut"
        if reason in ("length", "max_tokens")
        else None,
        tokens=_tokens(data.get("usage_metadata")),
        metadata=bool(meta) or "reasoning_content" in extra,
        kind=kind,
    )


def _calls(data: Mapping[str, Any], extra: Mapping[str, Any]) -> tuple[tuple[HeardCall, ...], CallView]:
    """Return the calls of an answer, and where else than in `tool_calls` it names them.

    An answer of LangChain with an empty `tool_calls` makes no call that the agent sees, whatever else it
    holds; in Anthropic's dicts the content blocks are the calls.
    """
    own = [_call(item) for item in _list(data.get("tool_calls"))]
    bad = [replace(_call(item), invalid=True) for item in _list(data.get("invalid_tool_calls"))]
    raw = [_call(item) for item in _list(extra.get("tool_calls"))]
    blocks = [
        _call(item)
        for item in _blocks(data.get("content"))
        if isinstance(item, Mapping) and item.get("type") in ("tool_use", "tool_call", "function_call")
    ]
    if own or bad:
        return (*own, *bad), "blocks" if blocks else "kwargs" if raw else "calls"
    if "role" in data or "tool_calls" not in data or not (blocks or raw):
        return tuple(blocks or raw), "blocks" if blocks else "calls"
    return tuple(blocks or raw), "blocks_only" if blocks else "kwargs_only"


def _call(item: Any) -> HeardCall:
    data = _dict(item)
    function = _dict(data.get("function"))
    raw = function.get("arguments", data.get("arguments"))
    return HeardCall(_text(data.get("id")), bool(function.get("name", data.get("name"))), not parses(raw))


def parses(arguments: Any) -> bool:
    """Tell whether the arguments of a call, where they are text, are a JSON object."""
    if not isinstance(arguments, str):
        return True
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def length(content: Any) -> int:
    """Return how many characters of text are in a message's content."""
    if isinstance(content, str):
        return len(content)
    total = 0
    for block in _blocks(content):
        text = block.get("text") if isinstance(block, Mapping) else block
        total += len(text) if isinstance(text, str) else 0
    return total


def _shape(content: Any) -> Shape:
    if content is None:
        return "none"
    if isinstance(content, str):
        return "empty" if not content else "reminder_like" if "<system-reminder>" in content else "text"
    blocks = _blocks(content)
    for block in blocks:
        if isinstance(block, Mapping) and block.get("type") in IMAGES:
            return "link" if re.search(r"https?://", json.dumps(block, default=str)[:500]) else "image"
    if not blocks:
        return "empty"
    return "strings" if all(isinstance(block, str) for block in blocks) else "blocks"


def _words(characters: int) -> int:
    return min(MAX_WORDS, -(-characters // WORD))


def _tokens(usage: Any) -> int | None:
    total = _dict(usage).get("total_tokens")
    return total if isinstance(total, int) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _blocks(content: Any) -> Sequence[Any]:
    return _list(content)
