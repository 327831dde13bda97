"""Rehearsals: what a step makes people say, worked out once and said as often as the step is played.

A scenario is played on many candidates, in two lanes, and again for each replay. Its messages are the
same each time: they are made once, looked at once, and handed out as copies.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage

from . import script
from .copies import fields_of, give_back, nested_in, parted, with_fields
from .ledger import Utterance
from .script import Script, Spoken
from .steps import UserMessage, UserTurn
from .views import View, ViewBook, view_of

Origin = TypeVar("Origin")
Made = TypeVar("Made")


class Look(NamedTuple):
    """What a message looks like: its view, its fields to compare it with later, and which are nested."""

    view: View
    fields: dict[str, Any]
    nested: tuple[str, ...]


class Loaded(NamedTuple):
    """What a checkpoint gives back of a message: itself, its nested fields, whether it looks the same."""

    message: Any
    nested: tuple[str, ...]
    same: bool


class Line(NamedTuple):
    """A message (or the dict or tuple that stands for one), the utterance it carries, and its look.

    `loaded` holds what a checkpoint gives back of the message, by the format in which it was stored.
    """

    message: Any
    utterance: Utterance | None
    look: Look | None
    loaded: dict[str, Loaded]

    def said_anew(self) -> Any:
        """Return a copy of the message."""
        if self.look is None:
            return deepcopy(self.message)
        # The message itself may be lent at this moment, and changed in place by who has it.
        return with_fields(self.message, parted(self.look.fields, self.look.nested))

    def keep_loaded(self, stored: str, message: Any) -> Loaded:
        """Keep `message`, which a checkpoint gave back of this one in the format `stored`."""
        is_message = isinstance(message, BaseMessage)
        same = is_message and self.look is not None and message.__dict__ == self.look.fields
        kept = Loaded(message, nested_in(message) if is_message else (), same)
        self.loaded[stored] = kept
        return kept


def _line(spoken: Spoken) -> Line:
    message = spoken.message
    if not isinstance(message, BaseMessage):
        return Line(message, spoken.utterance, None, {})
    look = Look(view_of(message, message.id), fields_of(message), nested_in(message))
    return Line(message, spoken.utterance, look, {})


class SaidLines:
    """The lines that one history has said, by their message objects; `book` is told what they look like."""

    def __init__(self, book: ViewBook) -> None:
        self._book = book
        self._lines: dict[int, tuple[BaseMessage, Line, Look]] = {}
        self._lent: list[tuple[BaseMessage, Look]] = []

    def lend(self, line: Line) -> Any | None:
        """Return the line's own message, once in a history; None when it must be said anew.

        A message without an id gets one from the reducer, in place.
        """
        if line.look is None or line.look.view.id is None or id(line.message) in self._lines:
            return None
        self._lent.append((line.message, line.look))
        return line.message

    def take_back(self) -> None:
        """End the history: what was lent is again as it was, whatever was done to it in place."""
        for message, look in self._lent:
            if message.__dict__ != look.fields or message.__pydantic_extra__:
                give_back(message, look.fields)
        self._lent.clear()

    def add(self, message: Any, line: Line) -> None:
        """Note that `message` says the line, word for word."""
        if line.look is not None:
            self._lines[id(message)] = message, line, line.look
            self._book.expect(message, line.look.view, line.look.fields)

    def line_of(self, message: Any) -> Line | None:
        """Return the line that `message` says; None when it says none, or was changed."""
        said = self._lines.get(id(message))
        if said is None or said[0] is not message or message.__dict__ != said[2].fields:
            return None
        return said[1]


class Rehearsal:
    """The lines of one script."""

    __slots__ = ("_answers", "_results", "irregular", "script")

    def __init__(self, of: Script) -> None:
        self.script = of
        #: Calls that the script itself leaves unanswered.
        self.irregular = tuple(of.irregular_calls())
        self._answers: dict[int, Line] = {}
        self._results: dict[tuple[str, str], Line] = {}

    def answer(self, number: int) -> Line:
        """Return the model's answer `number` of the turn, counted from 1."""
        line = self._answers.get(number)
        if line is None:
            line = self._answers[number] = _line(self.script.answer(number))
        return line

    def known_result(self, token: str, call_id: str) -> Line | None:
        """Return the result of a tool call that was asked for before, None when it was not."""
        return self._results.get((token, call_id))

    def result(self, token: str, call_id: str) -> Line:
        """Return the result of the tool call that asks for `token`."""
        key = token, call_id
        line = self._results.get(key)
        if line is None:
            line = self._results[key] = _line(self.script.result(token, call_id))
        return line


#: Steps and messages whose lines are kept.
_MOST_KEPT = 1_024


class _Kept(Generic[Origin, Made]):
    """What was made of steps, found by the step object itself: hashing one takes longer than playing it."""

    def __init__(self, make: Callable[[Origin, int, int], Made]) -> None:
        self._make = make
        self._kept: dict[tuple[int, int, int], tuple[Origin, Made]] = {}

    def of(self, origin: Origin, turn: int, number: int = 0) -> Made:
        """Return what is made of `origin` in this place of a history."""
        key = id(origin), turn, number
        found = self._kept.get(key)
        if found is not None and found[0] is origin:
            return found[1]
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        made = self._make(origin, turn, number)
        self._kept[key] = origin, made
        return made


@lru_cache(maxsize=256)
def _rehearsed(step: UserTurn, turn: int, _: int) -> Rehearsal:
    return Rehearsal(script.of_turn(step, turn))


@lru_cache(maxsize=_MOST_KEPT)
def _worded(message: UserMessage, turn: int, number: int) -> Line:
    return _line(script.user_words(message, turn, number))


_TURNS = _Kept(_rehearsed)
_WORDS = _Kept(_worded)


def of_turn(step: UserTurn, turn: int) -> Rehearsal:
    """Return the rehearsal of a user turn."""
    return _TURNS.of(step, turn)


def user_words(message: UserMessage, turn: int, number: int) -> Line:
    """Return the user's message `number` (from 0) of `turn`."""
    return _WORDS.of(message, turn, number)
