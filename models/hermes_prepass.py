"""What Hermes Agent does to a history without a model: before a summary is made, and behind it.

Before it, old tool outputs become one line and long call arguments are shortened (rule H2). Behind it,
tool calls and results are matched and old images become placeholders (rule H8).

Source: hermes-agent 0.19.0 (PyPI), `agent/context_compressor.py`, re-created; of the descriptions, which
differ from tool to tool there, only the general one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from .hermes_messages import calls_of, is_image, is_result, is_user, size_of, with_content

#: Characters above which an old tool output becomes one line, and a call's arguments are shortened to
#: strings of the length of an output.
LONG_OUTPUT = 200
LONG_ARGUMENTS = 500

_DUPLICATE = "[The same output as of a later call]"
_SCREENSHOT = "[image removed]"
_OLD_IMAGE = "[image removed when the history was compacted]"
_NO_CALL = "(tool call removed)"


def shortened(messages: Sequence[BaseMessage], budget: int, protect_last: int) -> list[BaseMessage]:
    """Return the messages with old tool outputs and call arguments shortened (rule H2).

    The end is spared: `budget` tokens, and `protect_last` messages at least. Of equal outputs only the
    newest is kept in full.
    """
    boundary = _boundary(messages, budget, protect_last)
    names = {call["id"]: call["function"] for message in messages for call in calls_of(message)}
    result = list(messages)
    seen: set[str] = set()
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if is_result(message):
            result[index] = _output(message, names, seen, old=index < boundary)
        elif isinstance(message, AIMessage) and index < boundary:
            result[index] = _caller(message)
    return result


def _boundary(messages: Sequence[BaseMessage], budget: int, protect_last: int) -> int:
    spared = min(protect_last, len(messages))
    size = 0
    boundary = len(messages)
    for index in range(len(messages) - 1, -1, -1):
        more = size_of(messages[index])
        boundary = index
        if size + more > budget and len(messages) - index >= spared:
            break
        size += more
    return min(boundary, len(messages) - spared)


def _output(message: BaseMessage, names: dict[Any, Any], seen: set[str], *, old: bool) -> BaseMessage:
    content: Any = message.content
    if isinstance(content, list):
        return with_content(message, without_images(content, _SCREENSHOT)) if old else message
    if len(content) < LONG_OUTPUT:
        return message
    if content in seen:
        return with_content(message, _DUPLICATE)
    seen.add(content)
    if not old or len(content) == LONG_OUTPUT:
        return message
    return with_content(message, described(content, names.get(getattr(message, "tool_call_id", None))))


def described(output: str, call: dict[str, Any] | None) -> str:
    """Return one line for a tool output: the tool, what it was asked, and how much it said."""
    try:
        arguments = json.loads(call["arguments"]) if call else {}
    except ValueError:
        arguments = {}
    asked = list(arguments.items())[:2] if isinstance(arguments, dict) else []
    told = "".join(f" {name}={str(value)[:40]}" for name, value in asked)
    return f"[{call['name'] if call else 'unknown'}]{told}: {len(output)} characters"


def _caller(message: AIMessage) -> AIMessage:
    """Return the answer with the long strings among its call arguments cut."""
    calls = [
        {**call, "args": _cut(call["args"])} if len(json.dumps(call["args"])) > LONG_ARGUMENTS else call
        for call in message.tool_calls
    ]
    return message if calls == message.tool_calls else message.model_copy(update={"tool_calls": calls})


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONG_OUTPUT else f"{value[:LONG_OUTPUT]}...[cut]"
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list) else value


def without_images(content: list[Any], placeholder: str) -> list[Any]:
    """Return the content with a placeholder for each image."""
    return [{"type": "text", "text": placeholder} if is_image(part) else part for part in content]


def _shows_image(message: BaseMessage) -> bool:
    return isinstance(message.content, list) and any(map(is_image, message.content))


def with_newest_images(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with placeholders for images before the last user message with an image (H8)."""
    bearing = [i for i, message in enumerate(messages) if is_user(message) and _shows_image(message)]
    anchor = bearing[-1] if bearing else 0
    return [
        with_content(message, without_images(list(message.content), _OLD_IMAGE))
        if index < anchor and _shows_image(message)
        else message
        for index, message in enumerate(messages)
    ]


def sanitised(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages without results that no call has, and without calls that no result has (H8)."""
    called = {call["id"] for message in messages for call in calls_of(message) if call["id"]}
    answered = {getattr(message, "tool_call_id", None) for message in messages if is_result(message)}
    kept = [m for m in messages if not (is_result(m) and m.tool_call_id in answered - called - {None, ""})]  # type: ignore[attr-defined]
    missing = called - answered
    return [without_calls(m, missing) if isinstance(m, AIMessage) else m for m in kept]


def without_calls(message: AIMessage, missing: set[Any]) -> AIMessage:
    """Return the answer without the calls `missing`, in whatever field they stand; an empty one says so."""
    if not missing & {call["id"] for call in calls_of(message)}:
        return message
    content: Any = message.content
    if isinstance(content, list):
        content = [p for p in content if not (isinstance(p, dict) and p.get("id") in missing)]
    calls = [call for call in message.tool_calls if call["id"] not in missing]
    invalid = [call for call in message.invalid_tool_calls if call["id"] not in missing]
    if not (calls or invalid) and (not content or (isinstance(content, str) and not content.strip())):
        content = _NO_CALL
    extra = dict(message.additional_kwargs)
    if raw := extra.pop("tool_calls", None):
        left = [call for call in raw if call.get("id") not in missing]
        extra |= {"tool_calls": left} if left else {}
    return message.model_copy(
        update={
            "content": content,
            "tool_calls": calls,
            "invalid_tool_calls": invalid,
            "additional_kwargs": extra,
        }
    )
