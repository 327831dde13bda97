"""Side by side: where two histories of one scenario part, as the model sees it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from ..harness.harmless import harmless
from ..harness.history import History, Requested, TurnEnded
from ..harness.invariants.reading import wire
from ..harness.sides.result import Difference
from ..harness.views import View
from .picture import box

#: Characters of a message that are shown.
_TEXT = 72


@dataclass(frozen=True, slots=True)
class Parting:
    """A model call on both sides; a side that makes it no more has the reason in place of its messages."""

    turn: int
    call: int
    before: tuple[str, ...]
    after: tuple[str, ...]


def _sent(request: Requested) -> tuple[object, ...]:
    return (request.turn, request.system, *(wire(view) for view in request.messages))


def _row(view: View) -> str:
    return f"{box(view)} {view.role}: {harmless(view.text, _TEXT)}".rstrip()


def _rows(request: Requested) -> tuple[str, ...]:
    prompt = [f"[system prompt] {harmless(request.system, _TEXT)}"] if request.system else []
    return (*prompt, *map(_row, request.messages))


def _absent(history: History, turn: int) -> tuple[str, ...]:
    """Return why a history has no such call in a turn: mostly, the turn had ended before."""
    ends = (r for r in history.records if isinstance(r, TurnEnded) and r.turn == turn)
    how = "".join(f": the turn ended with {harmless(end.error, _TEXT)}" for end in ends if end.error)
    return (f"(there is no such call{how})",)


#: Where a model call stands: the turn, the call in it, and how many such there were before, as a turn that
#: goes on counts its calls anew.
_Place = tuple[int, int, int]


def _placed(history: History) -> dict[_Place, tuple[int, Requested]]:
    """Return the requests by their places, each with its number in the history."""
    seen: Counter[tuple[int, int]] = Counter()
    placed = {}
    for number, record in enumerate(history.records):
        if isinstance(record, Requested):
            placed[(record.turn, record.call, seen[record.turn, record.call])] = (number, record)
            seen[record.turn, record.call] += 1
    return placed


def _on_both(before: History, after: History, place: _Place) -> Parting:
    """Return one model call, on both sides."""
    sides = [
        _rows(placed[place][1]) if place in (placed := _placed(side)) else _absent(side, place[0])
        for side in (before, after)
    ]
    return Parting(place[0], place[1], *sides)


def _parting_place(before: History, after: History) -> _Place | None:
    olds, news = _placed(before), _placed(after)
    for old, new in zip_longest(olds, news):
        if old is None or new is None or _sent(olds[old][1]) != _sent(news[new][1]):
            places: list[_Place] = [place for place in (old, new) if place is not None]
            return min(places)
    return None


def parting(before: History, after: History) -> Parting | None:
    """Return the first request in which two histories differ, None when the model sees the same."""
    place = _parting_place(before, after)
    return None if place is None else _on_both(before, after, place)


def shown_later(difference: Difference) -> Parting | None:
    """Return the model call at which the check fails, or the next; None when that is where sides part."""
    before, after = difference.before, difference.after
    if difference.record < 0:
        return None
    placed = _placed(difference.blamed)
    place = next((place for place, (number, _) in placed.items() if number >= difference.record), None)
    return None if place in (None, _parting_place(before, after)) else _on_both(before, after, place)
