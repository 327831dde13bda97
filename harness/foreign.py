"""Foreign histories: what files of other programs hold, as conversations of plain messages.

A conversation is its messages as dicts and a name. Files are read, never run: see `inert`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import SixfoldError
from .heard import Heard, heard, role_of
from .inert import DecodeError, Inert, from_json
from .retelling import Retold, retell

#: Bounds: bytes of a JSON file and of one checkpoint, conversations of a file, messages of one.
MAX_BYTES = 64_000_000
MAX_CONVERSATIONS = 10_000
MAX_MESSAGES = 20_000

KNOWN = (
    "Known are messages of LangChain, OpenAI and Anthropic (a list, {'messages': […]}, or a line of JSON "
    "for each conversation), and SQLite databases of langgraph-checkpoint-sqlite."
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages as they were written down. `remarks` say what reading already left out."""

    name: str
    messages: tuple[Any, ...]
    remarks: tuple[str, ...] = ()

    def heard(self) -> tuple[Heard, ...]:
        """Return what the messages are like."""
        return tuple(each for message in self.messages for each in heard(message))

    def retold(self) -> Retold:
        """Return the conversation as a scenario."""
        return retell(self.heard())


def from_dump(path: Path) -> list[Conversation]:
    """Read a JSON file or lines of JSON. Raises `SixfoldError` when it holds no known messages."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise too_large(f"the file has {size:,} bytes", str(path), MAX_BYTES)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SixfoldError(f"the file is not text: {error.reason}", place=str(path), remedy=KNOWN) from error
    return list(bounded(_named(_values(text, str(path)), path), str(path)))


def bounded(conversations: Iterator[Conversation], place: str) -> Iterator[Conversation]:
    """Yield the conversations. Raises `SixfoldError` beyond the bounds."""
    for number, conversation in enumerate(conversations, 1):
        if number > MAX_CONVERSATIONS:
            raise too_large(
                "there are more conversations than are read", place, MAX_CONVERSATIONS, "conversations"
            )
        if len(conversation.messages) > MAX_MESSAGES:
            raise too_large(
                f"a conversation has {len(conversation.messages):,} messages",
                f"{place}, {conversation.name}",
                MAX_MESSAGES,
                "messages",
            )
        yield conversation


def too_large(cause: str, place: str, most: int, what: str = "bytes") -> SixfoldError:
    """Return the error for what is larger than is read."""
    remedy = f"At most {most:,} {what} are read; split it, or name one thread with --thread."
    return SixfoldError(cause, place=place, remedy=remedy)


def _values(text: str, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of the file, each with its place."""
    try:
        whole = from_json(text)
    except DecodeError as error:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 1 or not _is_json(lines[0][1]):
            raise SixfoldError(str(error), place=place, remedy=KNOWN) from error
        for number, line in lines:
            try:
                yield f"{place}, line {number}", from_json(line)
            except DecodeError as problem:
                where = f"{place}, line {number}"
                raise SixfoldError(str(problem), place=where, remedy="Correct or remove the line.") from error
        return
    yield place, whole


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _named(values: Iterator[tuple[str, Any]], path: Path) -> Iterator[Conversation]:
    found = [pair for place, value in values for pair in _conversations(value, place)]
    for number, (name, messages) in enumerate(found, 1):
        default = path.stem if len(found) == 1 else f"{path.stem}-{number}"
        yield Conversation(name or default, messages)


def _conversations(value: Any, place: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the conversations in one JSON value, each with the name it gives itself."""
    inside = value.get("messages", _values_of(value).get("messages")) if isinstance(value, dict) else value
    if isinstance(value, dict) and isinstance(inside, list):
        name = next((value[key] for key in ("thread_id", "id") if isinstance(value.get(key), str)), "")
        yield name, checked(inside, place)
    elif isinstance(value, list) and value and all(_is_conversation(item) for item in value):
        for number, item in enumerate(value):
            yield from _conversations(item, f"{place}, item {number}")
    elif isinstance(value, list):
        yield "", checked(value, place)
    else:
        raise _unknown("the file holds no list of messages", place)


def _values_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    values = value.get("values")
    return values if isinstance(values, Mapping) else {}


def _is_conversation(item: Any) -> bool:
    if isinstance(item, dict):
        return role_of(item) is None and ("messages" in item or "messages" in _values_of(item))
    return isinstance(item, list) and role_of(item) is None


def checked(messages: list[Any], place: str) -> tuple[Any, ...]:
    """Return the messages. Raises `SixfoldError` when there are none, or one of them is of no known shape."""
    if not messages:
        raise _unknown("the list of messages is empty", place)
    for number, message in enumerate(messages):
        if role_of(message) is None:
            what = message.what if isinstance(message, Inert) else type(message).__name__
            raise _unknown(f"message {number} is of no known shape ({what})", place)
    return tuple(messages)


def _unknown(cause: str, place: str) -> SixfoldError:
    return SixfoldError(cause, place=place, remedy=KNOWN)
