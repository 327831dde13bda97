"""Redaction: the messages of a conversation with every text, name and number replaced.

What stays is what protocols define (roles, kinds of blocks, reasons of ends); everything else is
replaced, the same thing by the same thing. So redacted messages are retold as the same scenario.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .heard import IMAGES, ROLES, THINKING
from .inert import Inert
from .tokens import token_text


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Keys that stay as they are; all others are replaced.
KEYS = _words(
    "messages role type content data text id name tool_calls invalid_tool_calls additional_kwargs "
    "response_metadata usage_metadata finish_reason stop_reason function arguments args input tool_call_id "
    "tool_use_id status is_error hide_from_ui lc_source reasoning_content total_tokens input_tokens "
    "output_tokens image_url url source media_type thinking signature reasoning tool_use tool_result "
    "index error artifact model_provider"
)
#: Values of these keys stay, as far as they are words of a protocol.
_WORDS = frozenset(
    {*ROLES, *IMAGES, *THINKING}
    | _words(
        "text tool_use tool_result tool_call function_call invalid_tool_call function base64 url "
        "constructor success error stop length max_tokens tool_calls content_filter end_turn summarization "
        "summary file input_text output_text"
    )
)
_OPEN = frozenset({"type", "role", "finish_reason", "stop_reason", "status", "lc_source"})
_IDS = frozenset({"id", "tool_call_id", "tool_use_id"})
_COUNTS = frozenset({"total_tokens", "input_tokens", "output_tokens"})
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_REMINDER = "<system-reminder>"


@dataclass(slots=True)
class Redaction:
    """Replaces consistently: one instance for all conversations of a file."""

    _known: dict[tuple[str, str], str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def messages(self, messages: list[Any]) -> list[Any]:
        """Return the messages without a word, name or number of theirs."""
        return [self._message(item) for item in messages]

    def _message(self, message: Any) -> Any:
        match message:
            case [str(who), content] if who in ROLES:
                return [who, self._value(content, "content")]
        return self._value(message, "")

    def _value(self, value: Any, key: str, *, open_keys: bool = True) -> Any:
        match value:
            case bool() | None:
                return value
            case int() | float():
                return value if key in _COUNTS and isinstance(value, int) else 0
            case str():
                return self._string(value, key)
            case Mapping():
                inside = open_keys and key not in ("args", "input")
                return {
                    self._key(name, inside): self._value(item, str(name) if inside else "", open_keys=inside)
                    for name, item in value.items()
                }
            case list() | tuple():
                return [self._value(item, key, open_keys=open_keys) for item in value]
            case Inert():
                return None
            case _:
                return self._text(str(value))

    def _key(self, name: Any, inside: bool) -> str:
        return (
            name if inside and isinstance(name, str) and name in KEYS else self._pseudonym("key", str(name))
        )

    def _string(self, text: str, key: str) -> str:
        if key in _OPEN and text in _WORDS:
            return text
        if not text:
            return text
        if key in _IDS:
            return self._id(text)
        if key == "name":
            return text if text == "summary" else self._pseudonym("name", text)
        if key == "arguments":
            return self._arguments(text)
        if key in ("url", "image_url", "source"):
            web = text.startswith(("http://", "https://"))
            return "https://example.org/pixel.png" if web else "data:image/png;base64,iVBORw0KGgo="
        return self._text(text)

    def _arguments(self, text: str) -> str:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return "{broken"
        return json.dumps(self._value(data, "args", open_keys=False))

    def _id(self, text: str) -> str:
        number = self._number("id", text)
        if _UUID.fullmatch(text):
            return f"00000000-0000-4000-8000-{number:012d}"
        if text.isdigit():
            return str(number)
        base, mark, rest = text.partition("__user")
        name = self._pseudonym("id", base)
        return f"{name}{mark}{'.part' if rest else ''}" if mark else name

    def _text(self, text: str) -> str:
        """Return a token text of the same length, with a reminder in it where there was one."""
        number = self._number("text", text)
        mark = _REMINDER if _REMINDER in text else ""
        room = len(text) - len(mark)
        filler = token_text(f"u{number}", room // 4 + 1)
        return (filler if room >= len(f"⟦u{number}⟧") else "·" * room)[:room] + mark

    def _pseudonym(self, kind: str, text: str) -> str:
        return f"{kind}{self._number(kind, text)}"

    def _number(self, kind: str, text: str) -> int:
        known = self._known.get((kind, text))
        if known is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            known = self._known[kind, text] = str(self._counts[kind])
        return int(known)
