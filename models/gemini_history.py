"""What Gemini CLI's compression makes of a history: items, the split point, the budget of tool output.

Pure functions. Source: google-gemini/gemini-cli, `ChatCompressionService`, rules G3 and G4 of its public
behaviour; the function of G4 is compared with the published one in `tests/witness/gemini`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

#: Tokens of tool output that stay in full, and characters that are left of an older one (rule G3).
TOOL_BUDGET = 50_000
TOOL_OUTPUT_KEPT = 40_000

#: How much of what is left of a tool output is its beginning.
_HEAD_SHARE = 0.2

#: Counts the tokens of messages.
Count = Callable[[Sequence[BaseMessage]], int]

#: Keeps a text under a name, and returns where it can be read.
Save = Callable[[str, str], str]

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One `Content` of Gemini's history: an answer, a prompt, or all results of an answer's calls."""

    messages: tuple[BaseMessage, ...]

    def content(self) -> Content:
        """Return the item as it is sent to the model."""
        role = "model" if isinstance(self.messages[0], AIMessage) else "user"
        return {"role": role, "parts": [part for message in self.messages for part in _parts(message)]}


def _parts(message: BaseMessage) -> list[dict[str, Any]]:
    if isinstance(message, ToolMessage):
        response = {"id": message.tool_call_id, "name": message.name, "response": {"output": message.text}}
        return [{"functionResponse": response}]
    parts: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
    if isinstance(message, AIMessage):
        # What could not be parsed is a call all the same, and is answered.
        for call in (*message.tool_calls, *message.invalid_tool_calls):
            made = {"id": call["id"], "name": call["name"], "args": call["args"]}
            parts.append({"functionCall": made})
    return parts or [{"text": ""}]


def items_of(messages: Sequence[BaseMessage]) -> list[Item]:
    """Return the messages as items; answers are single items, prompts and results are one when in a row."""
    items: list[Item] = []
    for kind, group in groupby(messages, key=lambda message: message.type):
        members = tuple(group)
        items += [Item((m,)) for m in members] if kind == "ai" else [Item(members)]
    return items


def has(content: Content, part: str) -> bool:
    """Tell whether an item has a part of this kind."""
    return any(part in each for each in content["parts"])


def is_prompt(content: Content) -> bool:
    """Tell whether an item is the user's own: a place where a history may be cut."""
    return content["role"] == "user" and not has(content, "functionResponse")


def size_of(content: Content) -> int:
    """Return the number of characters of an item, serialised as JSON."""
    return len(json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def find_split_point(contents: Sequence[Content], share: float) -> int:
    """Return the index of the first item to keep when about `share` of the characters may go (rule G4).

    It is the first prompt with at least that share before it. Where there is none, everything may go
    after an answer that calls no tool, else what lies before the last prompt.
    """
    wanted = sum(map(size_of, contents)) * share
    before = 0
    last = 0
    for index, content in enumerate(contents):
        if is_prompt(content):
            if before >= wanted:
                return index
            last = index
        before += size_of(content)
    return len(contents) if ends_finished(contents) else last


def ends_finished(contents: Sequence[Content]) -> bool:
    """Tell whether the last item is an answer that calls no tool."""
    return bool(contents) and contents[-1]["role"] == "model" and not has(contents[-1], "functionCall")


def shortened(text: str, kept: int, place: str) -> str:
    """Return beginning and end of a tool output, `kept` characters in all, and where the rest is."""
    if len(text) <= kept:
        return text
    head = int(kept * _HEAD_SHARE)
    tail = text[len(text) - (kept - head) :]
    return f"(all: {place}) {text[:head]} … {tail}"


def within_tool_budget(
    messages: Sequence[BaseMessage], *, budget: int, kept: int, count: Count, save: Save
) -> list[BaseMessage]:
    """Return the messages with older tool outputs shortened, the newest in full (rule G3).

    What cannot be saved stays as it is.
    """
    used = 0
    reversed_result: list[BaseMessage] = []
    for message in reversed(messages):
        now = message
        if isinstance(message, ToolMessage):
            if used + count([message]) > budget:
                now = _shortened_message(message, kept, save)
            used += count([now])
        reversed_result.append(now)
    return reversed_result[::-1]


def _shortened_message(message: ToolMessage, kept: int, save: Save) -> BaseMessage:
    try:
        place = save(f"{message.name}_{message.tool_call_id}.txt", message.text)
    except OSError:
        return message
    text = shortened(message.text, kept, place)
    return message if text == message.text else message.model_copy(update={"content": text})
