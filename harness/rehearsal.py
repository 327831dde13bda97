"""Rehearsals: what a step makes people say, worked out once and said as often as the step is played.

A scenario is played on many candidates, in two lanes, and again for each replay. Its messages are the
same each time: they are made once, looked at once, and handed out as copies.
"""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

from . import script
from .copies import copy_of, fields_of
from .ledger import Utterance
from .script import Script, Spoken
from .steps import UserMessage, UserTurn
from .views import View, view_of


class Look(NamedTuple):
    """What a message looks like: its view, and its fields to compare it with later."""

    view: View
    fields: dict[str, Any]


class Line(NamedTuple):
    """A message (or the dict or tuple that stands for one), the utterance it carries, and its look."""

    message: Any
    utterance: Utterance | None
    look: Look | None

    def said_anew(self) -> Any:
        """Return a copy of the message."""
        return deepcopy(self.message) if self.look is None else copy_of(self.message)


def _line(spoken: Spoken) -> Line:
    message = spoken.message
    look = (
        Look(view_of(message, message.id), fields_of(message)) if isinstance(message, BaseMessage) else None
    )
    return Line(message, spoken.utterance, look)


class Rehearsal:
    """The lines of one script."""

    __slots__ = ("_answers", "_results", "script")

    def __init__(self, of: Script) -> None:
        self.script = of
        self._answers: dict[int, Line] = {}
        self._results: dict[tuple[str, str], Line] = {}

    def answer(self, number: int) -> Line:
        """Return the model's answer `number` of the turn, counted from 1."""
        line = self._answers.get(number)
        if line is None:
            line = self._answers[number] = _line(self.script.answer(number))
        return line

    def result(self, token: str, call_id: str) -> Line:
        """Return the result of the tool call that asks for `token`."""
        key = token, call_id
        line = self._results.get(key)
        if line is None:
            line = self._results[key] = _line(self.script.result(token, call_id))
        return line


@lru_cache(maxsize=256)
def of_turn(step: UserTurn, turn: int) -> Rehearsal:
    """Return the rehearsal of a user turn."""
    return Rehearsal(script.of_turn(step, turn))


@lru_cache(maxsize=1_024)
def user_words(message: UserMessage, turn: int, number: int) -> Line:
    """Return the user's message `number` (from 0) of `turn`."""
    return _line(script.user_words(message, turn, number))
