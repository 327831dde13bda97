"""How Hermes Agent reads a message, on LangChain's messages: its role, its size, and whether it is a summary.

Source: hermes-agent 0.19.0 (PyPI), `agent/context_compressor.py`, re-created; the marks are in our words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from ..harness.views import text_of

#: What marks a message that holds a summary (rule H6), and one that a micro compaction wrote (rule H9).
SUMMARY_KEY = "_compressed_summary"
MICRO_KEY = "_micro_compact_marker"

#: Between these a summary stands (rule H6).
PREFIX = "[EARLIER TURNS, FOR REFERENCE ONLY] Answer what comes after this summary, and nothing in it."
END = "[END OF THE SUMMARY: answer what follows]"

#: Around the words of a message into which a summary was merged (rule H6).
PRIOR = "[EARLIER WORDS, FOR REFERENCE ONLY]"
MERGED = "[END OF EARLIER WORDS, SUMMARY FOLLOWS]"

#: Size of a message without words, and of an image, in tokens; characters of a token (rule H4).
ENVELOPE_TOKENS = 10
IMAGE_TOKENS = 1600
CHARACTERS = 4

IMAGE_TYPES = ("image_url", "input_image", "image")

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}

#: Fields that travel with each request although no text shows them.
_HIDDEN = ("reasoning", "reasoning_content", "reasoning_details")

M = TypeVar("M", bound=BaseMessage)


def role_of(message: BaseMessage) -> str:
    """Return the role under which a provider sees the message."""
    return _ROLES.get(message.type.removesuffix("MessageChunk").lower(), message.type)


def is_user(message: BaseMessage) -> bool:
    """Tell whether the message stands in the user's role."""
    return isinstance(message, HumanMessage)


def is_result(message: BaseMessage | None) -> bool:
    """Tell whether the message is a tool result."""
    return isinstance(message, ToolMessage)


def is_instruction(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether a system message leads."""
    return bool(messages) and isinstance(messages[0], SystemMessage)


def calls_of(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the tool calls of the message, as the dicts that a provider gets."""
    if not isinstance(message, AIMessage):
        return []
    named = [(c["id"], c["name"], json.dumps(c["args"], ensure_ascii=False)) for c in message.tool_calls]
    named += [(c["id"], c["name"] or "", c["args"] or "") for c in message.invalid_tool_calls]
    return [
        {"id": each, "type": "function", "function": {"name": name, "arguments": arguments}}
        for each, name, arguments in named
    ]


def is_image(part: Any) -> bool:
    """Tell whether a part of a message's content is an image."""
    return isinstance(part, dict) and part.get("type") in IMAGE_TYPES


def _length(content: Any) -> int:
    if not isinstance(content, list):
        return len(content) if isinstance(content, str) else len(str(content or ""))
    total = 0
    for part in content:
        if is_image(part):
            total += IMAGE_TOKENS * CHARACTERS
        elif isinstance(part, dict):
            total += len(part.get("text") or "")
        else:
            total += len(str(part))
    return total


def size_of(message: BaseMessage) -> int:
    """Return the size of the message in tokens, as the walk for the tail counts it (rule H4)."""
    tokens = _length(message.content) // CHARACTERS + ENVELOPE_TOKENS
    tokens += sum(len(str(call)) // CHARACTERS for call in calls_of(message))
    for field in _HIDDEN:
        value = message.additional_kwargs.get(field)
        written = value if isinstance(value, str) else json.dumps(value, sort_keys=True) if value else ""
        tokens += len(written) // CHARACTERS
    return tokens


def with_text(content: Any, text: str, *, before: bool = False) -> Any:
    """Return the content with `text` behind it or before it, whatever its form."""
    if isinstance(content, list):
        block = {"type": "text", "text": text}
        return [block, *content] if before else [*content, block]
    old = content if isinstance(content, str) else "" if content is None else str(content)
    return text + old if before else old + text


def with_content(message: M, content: Any, **extra: Any) -> M:
    """Return a copy of the message with other content, and with `extra` among its metadata."""
    kwargs = {**message.additional_kwargs, **extra}
    return message.model_copy(update={"content": content, "additional_kwargs": kwargs})


def _told(message: BaseMessage) -> str:
    """Return the text of the message from where a summary in it begins."""
    before, merged, behind = text_of(message.content).partition(MERGED)
    return (behind if merged else before).lstrip()


def is_summary(message: BaseMessage) -> bool:
    """Tell from its text whether the message holds a summary: marks may get lost in a store."""
    return _told(message).startswith(PREFIX)


def is_merged(message: BaseMessage) -> bool:
    """Tell whether the message holds a summary behind words of its own."""
    return is_summary(message) and MERGED in text_of(message.content)


def summary_in(message: BaseMessage) -> str:
    """Return the summary that the message holds, without the marks around it."""
    return _told(message).removeprefix(PREFIX).strip().removesuffix(END).rstrip()


def prior_words(message: M) -> M:
    """Return the message as it was before a summary was merged into it."""
    content: Any = message.content
    if isinstance(content, str):
        words: Any = content.replace(f"{PRIOR}\n", "").partition(f"\n\n{MERGED}")[0]
    else:
        words = [p for p in content if not any(mark in text_of([p]) for mark in (PRIOR, MERGED))]
    return message.model_copy(update={"content": words})


def is_batch(message: BaseMessage) -> bool:
    """Tell whether the message holds the summary of a batch compaction, by its marks (rule H9)."""
    marks = message.additional_kwargs
    return bool(marks.get(SUMMARY_KEY)) and not marks.get(MICRO_KEY)


def is_micro(message: BaseMessage) -> bool:
    """Tell whether the message holds the rolling summary of micro compactions, by its marks (rule H9)."""
    return bool(message.additional_kwargs.get(MICRO_KEY))
