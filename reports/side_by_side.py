"""Side by side: where two histories of one scenario part, as the model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from ..harness.harmless import harmless
from ..harness.history import History, Requested
from ..harness.invariants.reading import wire
from ..harness.views import View
from .picture import box

#: Characters of a message that are shown.
_TEXT = 72


@dataclass(frozen=True, slots=True)
class Parting:
    """The first model call that the sides make differently; a side that makes it no more has None."""

    turn: int
    call: int
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None


def _requests(history: History) -> list[Requested]:
    return [record for record in history.records if isinstance(record, Requested)]


def _sent(request: Requested) -> tuple[object, ...]:
    return (request.turn, request.system, *(wire(view) for view in request.messages))


def _row(view: View) -> str:
    return f"{box(view)} {view.role}: {harmless(view.text, _TEXT)}".rstrip()


def _rows(request: Requested | None) -> tuple[str, ...] | None:
    if request is None:
        return None
    prompt = [f"[system prompt] {harmless(request.system, _TEXT)}"] if request.system else []
    return (*prompt, *map(_row, request.messages))


def parting(before: History, after: History) -> Parting | None:
    """Return the first request in which two histories differ, None when the model sees the same."""
    for old, new in zip_longest(_requests(before), _requests(after)):
        if old is None or new is None or _sent(old) != _sent(new):
            known = old or new
            return Parting(known.turn, known.call, _rows(old), _rows(new))
    return None
