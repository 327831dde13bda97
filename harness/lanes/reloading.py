"""What a checkpoint gives back of the messages of a history.

Lines of the script are stored again in every history that they are said in; they go through the serialiser
once, and later histories get copies of what came out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from ..copies import copied, copy_of
from ..rehearsal import SaidLines
from ..steps import Stored
from ..stored import written
from .storable import loaded, through_storage


def reloaded(messages: Sequence[Any], stored: Stored, lines: SaidLines) -> list[Any]:
    """Return the messages as a checkpoint in the format `stored` gives them back.

    `lines` are those that the history has said. Raises the serialiser's error when it cannot store a message.
    """
    given: list[Any] = list(messages)
    others = []
    for place, message in enumerate(given):
        line = lines.line_of(message)
        if line is None:
            others.append(place)
            continue
        again = line.loaded.get(stored)
        if again is None:
            again = line.keep_loaded(stored, _through([message], stored)[0])
        if not isinstance(again.message, BaseMessage):
            given[place] = copied(again.message)
            continue
        given[place] = copy_of(again.message, again.nested)
        if again.same:
            lines.add(given[place], line)
    if others:
        for place, message in zip(others, _through([given[at] for at in others], stored), strict=True):
            given[place] = message
    return given


def _through(messages: list[Any], stored: Stored) -> list[Any]:
    through: list[Any] = through_storage(messages) if stored == "now" else loaded(written(stored, messages))
    return through
