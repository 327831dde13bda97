"""Frozen views of messages: what reports show and checks read, without any library's objects.

A `ViewBook` turns LangChain messages into views once per object, renumbers random ids in order of
appearance, and notices when an object changed behind its back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

from .copies import fields_of
from .tokens import Mentions, mentions

_RANDOM_ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")

#: A UUID without its hyphens.
_UUID_LENGTH = 32

_ENCODER = json.JSONEncoder(default=repr, sort_keys=True)

_SPEAKERS = {"u": "human", "a": "ai", "t": "tool"}


class View(NamedTuple):
    """One message as it stands in state, in an update or in a request.

    `role` is LangChain's message type (`human`, `ai`, `system`, `tool`, `remove`); `calls` the ids
    of its tool calls; `answers` the call id that a tool result answers; `says` the token of the one
    utterance that the message carries in its speaker's role, if it does.
    """

    id: str | None
    role: str
    text: str
    name: str | None
    calls: tuple[str, ...]
    answers: str | None
    extra: str
    mentions: Mentions
    says: str | None

    def label(self) -> str:
        """Return the short form that pictures use: the id, or the role when there is none."""
        return self.id or self.role


Views = tuple[View, ...]


def text_of(content: Any) -> str:
    """Return the text of a message content: a string, or the text of its blocks, joined."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (
            block if isinstance(block, str) else block.get("text") if isinstance(block, dict) else None
            for block in content
        )
        return "\n".join(part for part in parts if isinstance(part, str))
    return "" if content is None else str(content)


def carried(role: str, message_id: str | None, text: str, found: Mentions) -> str | None:
    """Return the utterance that a message carries in its speaker's role, if exactly one.

    Its words must stand at the beginning, or behind something that was put before them under their own
    id: a recap of a single utterance, which begins with words of its own, does not carry it.
    """
    if len(found.utterances) != 1 or not found.quoted:
        return None
    token = found.quoted[0]
    if _SPEAKERS.get(token[0]) != role:
        return None
    own_id = message_id is not None and (message_id == token or message_id.startswith(f"{token}__"))
    return token if own_id or text.startswith(f"⟦{token}⟧") else None


#: A message object, its view, and its fields as they were then; None where nobody changes messages.
_Seen = tuple[BaseMessage, View, dict[str, Any] | None]


def is_random(raw: str | None) -> bool:
    """Tell whether `raw` is no id yet, or one that was drawn at random."""
    return raw is None or (len(raw) >= _UUID_LENGTH and _RANDOM_ID.fullmatch(raw) is not None)


def view_of(message: BaseMessage, message_id: str | None, rename: Callable[[str], str] | None = None) -> View:
    """Return the view of `message` under the id that views give it.

    `rename` replaces what was drawn at random in its texts; None where nothing was.
    """
    # Each kind of message has these fields or has them not; asking for its class costs far more.
    fields = message.__dict__
    content = fields["content"]
    text = content if isinstance(content, str) else text_of(content)
    called = fields.get("tool_calls")
    calls = tuple([str(call.get("id")) for call in called]) if called else ()
    misspelt = fields.get("invalid_tool_calls")
    if misspelt:
        calls += tuple([str(call.get("id")) for call in misspelt])
    more = fields["additional_kwargs"]
    extra = _written(more) if more else ""
    if rename is not None:
        text = rename(text) if len(text) >= _UUID_LENGTH and _holds_random(text) else text
        extra = rename(extra) if len(extra) >= _UUID_LENGTH else extra
    return _view(message_id, fields["type"], text, fields["name"], calls, fields.get("tool_call_id"), extra)


@lru_cache(maxsize=8_192)
def _holds_random(text: str) -> bool:
    """Tell whether `text` holds something that was drawn at random, such as the name of a file."""
    return _RANDOM_ID.search(text) is not None


class ViewBook:
    """Views of the messages of one history, with random ids renumbered in order of appearance.

    `watching` tells whether there is code of a candidate, which could change messages it was shown.
    """

    def __init__(self, *, watching: bool = True) -> None:
        self._watching = watching
        self._seen: dict[int, _Seen] = {}
        self._names: dict[str, str] = {}
        self._adopted: dict[tuple[str | None, str | None], tuple[str, str]] = {}

    def adopt(self, message: BaseMessage, token: str) -> None:
        """Take the message for the tool result `token` as long as its text is what it is now.

        Somebody else's tool writes no token into what it says.
        """
        view = self.view(message)
        self._adopted[view.id, view.answers] = token, view.text
        del self._seen[id(message)]

    def has_adopted(self, view: View) -> bool:
        """Tell whether the message was taken for a tool result, whatever its text is now."""
        return (view.id, view.answers) in self._adopted

    def _known_by_its_call(self, view: View) -> View:
        token, text = self._adopted.get((view.id, view.answers), ("", ""))
        if not token or view.says is not None or view.text != text:
            return view
        found = view.mentions
        first = (token,)
        told = first + tuple(t for t in found.utterances if t != token)
        quoted = first + tuple(t for t in found.quoted if t != token)
        return view._replace(says=token, mentions=found._replace(utterances=told, quoted=quoted))

    def view(self, message: BaseMessage) -> View:
        """Return the view of `message` as it is now."""
        seen = self._seen.get(id(message))
        if seen is not None and seen[0] is message:
            _, view, fields = seen
            # A reducer gives an id to a message without one, whoever else may touch it.
            if fields == message.__dict__ if fields is not None else view[0] or message.id is None:
                return view
        return self._look_at(message)

    def expect(self, message: BaseMessage, view: View, fields: dict[str, Any]) -> None:
        """Take note of a message that will be shown: its view, and its fields, which nobody may change."""
        self._seen[id(message)] = message, view, fields if self._watching else None

    def meet(self, messages: Sequence[BaseMessage]) -> None:
        """Look at the messages that nobody has looked at yet: a checkpoint gives back new objects."""
        for message in messages:
            if id(message) not in self._seen:
                self._look_at(message)

    def _look_at(self, message: BaseMessage) -> View:
        message_id = message.id
        if message_id is not None and len(message_id) >= _UUID_LENGTH:
            message_id = self.name_id(message_id)
        view = view_of(message, message_id, self._rename)
        if self._adopted:
            view = self._known_by_its_call(view)
        self._seen[id(message)] = message, view, fields_of(message) if self._watching else None
        return view

    def views(self, messages: Iterable[BaseMessage]) -> Views:
        """Return the views of `messages`, in order."""
        return tuple([self.view(message) for message in messages])

    def message(self, view: View) -> BaseMessage:
        """Return the newest message object that has this view. Raises `KeyError` when there is none."""
        for message, seen, _ in reversed(self._seen.values()):
            if seen == view:
                return message
        raise KeyError(view.label())

    def refresh(self, messages: Sequence[BaseMessage]) -> list[tuple[View, View]]:
        """Look at `messages` again; return (before, after) for each object that was changed."""
        changed = []
        for message in messages:
            seen = self._seen.get(id(message))
            if seen is None or seen[0] is not message or seen[2] in (None, message.__dict__):
                continue
            changed.append((seen[1], self._look_at(message)))
        return changed

    def name_id(self, raw: str | None) -> str | None:
        """Return `raw` with every random (UUID-like) part replaced by its number of appearance."""
        if raw is None:
            return None
        return _RANDOM_ID.sub(self._number, raw) if len(raw) >= _UUID_LENGTH else raw

    def _rename(self, text: str) -> str:
        return _RANDOM_ID.sub(self._number, text)

    def _number(self, match: re.Match[str]) -> str:
        return self._names.setdefault(match.group(), f"new{len(self._names) + 1}")


def _written(metadata: dict[str, Any]) -> str:
    """Return metadata as JSON; what JSON cannot hold, such as keys of several types, as Python shows it."""
    try:
        return _ENCODER.encode(metadata)
    except (TypeError, ValueError):
        return _ENCODER.encode({str(key): _shown(value) for key, value in metadata.items()})


def _shown(value: Any) -> Any:
    try:
        _ENCODER.encode(value)
    except (TypeError, ValueError):
        return repr(value)
    return value


@lru_cache(maxsize=8_192)
def _view(
    message_id: str | None,
    role: str,
    text: str,
    name: str | None,
    calls: tuple[str, ...],
    answers: str | None,
    extra: str,
) -> View:
    """Return the view with these fields; histories of one scenario share most of their views."""
    found = mentions(text)
    says = carried(role, message_id, text, found)
    return View(message_id, role, text, name, calls, answers, extra, found, says)
