"""What a timeline shows of a history: frames of messages, and notes between them. No geometry here.

A message is the same one from frame to frame when it carries the same utterance, or else has the same id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from ..harness.faults import PACKAGES
from ..harness.history import (
    FaultFired,
    Fold,
    Happened,
    History,
    HookRan,
    Mutated,
    Record,
    Requested,
    Summarised,
    TurnEnded,
)
from ..harness.ledger import SYSTEM_ID
from ..harness.views import View, Views
from .html_text import shown

NoteKind = Literal["fault", "violation", "error", "summariser", "event", "same"]

#: Hooks, tools and models that write to state by themselves and mostly append.
_APPENDERS = ("model", "tools")

_SPEAKERS = {"u": "user", "a": "model", "t": "tool result"}

#: What a message weighs that the fold did not write: of two that changed places, it is the one that stayed.
_UNWRITTEN = 1_000


class Tile(NamedTuple):
    """One message in a frame. `turn` is that of the utterance it carries, 0 when it carries none.

    `tags` say what became of it since the state before: `moved`, `new id`, `changed`, `written`.
    """

    key: str
    label: str
    kind: str
    turn: int
    tags: tuple[str, ...] = ()
    offends: bool = False


class Frame(NamedTuple):
    """The messages of a state, or what the model sees of it; `left` are those that it no longer holds."""

    record: int
    is_view: bool
    who: tuple[str, str]
    tiles: tuple[Tile, ...]
    left: tuple[Tile, ...] = ()


class Note(NamedTuple):
    """What happened between two frames."""

    record: int
    kind: NoteKind
    what: str
    text: str


def frames(
    history: History, offence: Mapping[int, str] | None = None, tokens: Iterable[str] = ()
) -> list[Frame | Note]:
    """Return what to draw of `history`, in order.

    `offence` says what is wrong at a record; `tokens` are the utterances concerned, which are marked there.
    """
    offence = offence or {}
    concerned = frozenset(tokens)
    state: Views = ()
    pictured: Views | None = None
    drawn: list[Frame | Note] = []
    for index, record in enumerate(history.records):
        wrong = index in offence
        marked = concerned if wrong else frozenset[str]()
        match record:
            case Fold() if wrong or not _only_appends(state, record):
                drawn.append(_fold(index, state, record, marked))
                pictured = record.state
            case Requested() if wrong or not record.messages == state == pictured:
                drawn.append(_request(index, state, record, marked))
            case Requested():
                drawn.append(Note(index, "same", f"model call {record.call}", "sees exactly this"))
            case _:
                note = _note(index, record)
                if note is not None:
                    drawn.append(note)
        if wrong:
            drawn.append(Note(index, "violation", "violation", offence[index]))
        if isinstance(record, Fold):
            state = record.state
        elif isinstance(record, Mutated):
            state = _replaced(state, record)
    return drawn


def told(frame: Frame) -> list[str]:
    """Return what a hook did to the messages of a state, in sentences."""
    if frame.is_view or not frame.who[1].startswith("."):
        return []
    by = frame.who[0] + frame.who[1]
    said = [
        f"{by}: {tile.label} {' and '.join(map(_VERBS.__getitem__, tags))}"
        for tile in frame.tiles
        if (tags := [tag for tag in tile.tags if tag in _VERBS])
    ]
    if frame.left:
        said.append(f"{by}: {', '.join(tile.label for tile in frame.left[:8])} left the state")
    return said


_VERBS = {"moved": "moved", "new id": "got a new id", "changed": "was changed"}


def _only_appends(state: Views, fold: Fold) -> bool:
    return fold.by in _APPENDERS and fold.state[: len(state)] == state


def _replaced(state: Views, record: Mutated) -> Views:
    after = dict(zip(record.before, record.after, strict=False))
    return tuple(after.get(view, view) for view in state)


def _who(by: str) -> tuple[str, str]:
    member, dot, hook = by.rpartition(".")
    return (shown(member, 60), shown(dot + hook, 60)) if dot else (shown(by, 60), "writes to state")


def _fold(index: int, before: Views, fold: Fold, marked: frozenset[str]) -> Frame:
    who = (f"turn {fold.turn}", "the user writes") if fold.by == "user" else _who(fold.by)
    old = _tiles(before)
    tiles = _compared(before, fold.state, {view.id for view in fold.update}, new="written" * ("." in fold.by))
    kept = {tile.key for tile in tiles}
    left = tuple(tile for tile in old if tile.key not in kept)
    return Frame(index, False, who, _marked(tiles, marked), left)


def _request(index: int, state: Views, request: Requested, marked: frozenset[str]) -> Frame:
    seen, held = len(request.messages), len(state)
    how = "sees" if request.messages == state else f"sees {seen} of {held}" if seen < held else "sees this"
    tiles = _compared(state, request.messages, set(), new="only here")
    return Frame(index, True, (f"model call {request.call}", how), _marked(tiles, marked))


def _marked(tiles: Iterable[Tile], tokens: frozenset[str]) -> tuple[Tile, ...]:
    return tuple(tile._replace(offends=tile.key.partition("#")[0] in tokens) for tile in tiles)


def _tiles(views: Views) -> tuple[Tile, ...]:
    """Return the messages with keys of their own: a second one of a kind is told from the first."""
    seen: Counter[str] = Counter()
    tiles = []
    for view in views:
        key = view.says or f"id {view.id or view.role}"
        seen[key] += 1
        own = key if seen[key] == 1 else f"{key}#{seen[key]}"
        tiles.append(Tile(own, shown(view.label(), 60), _kind(view), _turn(view.says)))
    return tuple(tiles)


def _kind(view: View) -> str:
    if view.says is not None:
        calls = f", {len(view.calls)} call{'s' * (len(view.calls) != 1)}" if view.calls else ""
        return _SPEAKERS[view.says[0]] + calls
    if view.role == "tool":
        return "tool result"
    if view.id == SYSTEM_ID:
        return "system"
    if view.mentions.utterances:
        return "summary"
    return "reminder" if view.role in ("system", "human") else shown(view.role, 20)


def _turn(token: str | None) -> int:
    return int(token[1:].partition(".")[0]) if token else 0


def _compared(before: Views, after: Views, written: set[str | None], *, new: str) -> tuple[Tile, ...]:
    """Return the messages `after`, tagged with what became of them since `before`."""
    old, tiles = _tiles(before), _tiles(after)
    was = {tile.key: (place, view) for place, (tile, view) in enumerate(zip(old, before, strict=True))}
    common = [(was[tile.key][0], view) for tile, view in zip(tiles, after, strict=True) if tile.key in was]
    stays = _in_order([(place, 1 if view.id in written else _UNWRITTEN) for place, view in common])
    tagged = []
    for tile, view in zip(tiles, after, strict=True):
        tags: list[str] = []
        if tile.key not in was:
            tags += [new] * bool(new)
        else:
            place, earlier = was[tile.key]
            tags += ["moved"] * (place not in stays)
            tags += ["new id"] * (earlier.id != view.id)
            tags += ["changed"] * (earlier[1:] != view[1:])
        tagged.append(tile._replace(tags=tuple(tags)))
    return tuple(tagged)


def _in_order(places: Sequence[tuple[int, int]]) -> set[int]:
    """Return the places of the heaviest part of the sequence of (place, weight) that is in order."""
    if all(one[0] < two[0] for one, two in pairwise(places)):
        return {place for place, _ in places}
    best: list[tuple[int, int]] = []
    for index, (place, weight) in enumerate(places):
        earlier = ((best[i][0], -i) for i in range(index) if places[i][0] < place)
        total, at = max(earlier, default=(0, 1))
        best.append((total + weight, -at))
    at = max(range(len(best)), key=lambda i: best[i][0], default=-1)
    kept = set()
    while at >= 0:
        kept.add(places[at][0])
        at = best[at][1]
    return kept


def _note(index: int, record: Record) -> Note | None:
    match record:
        case FaultFired(kind=kind, by=by):
            return Note(index, "fault", "fault", f"{kind} at {shown(by, 60)}: {PACKAGES[kind].meaning}")
        case Summarised(failure=failure, tokens=tokens):
            words = f"failed: {failure}" if failure else f"summarises {' '.join(tokens[:12]) or 'nothing'}"
            return Note(index, "summariser", "summariser", shown(words))
        case Mutated(by=by, after=after):
            labels = ", ".join(shown(view.label(), 30) for view in after[:6])
            return Note(index, "event", "in place", f"{shown(by, 60)} changed {labels} without an update")
        case HookRan(by=by, outcome="raised", error=error):
            return Note(index, "error", "error", f"{shown(by, 60)} raised {shown(str(error), 120)}")
        case Happened(what=what, detail=detail):
            return Note(index, "event", shown(what.replace("_", " "), 30), shown(detail or what, 120))
        case TurnEnded(how="aborted", error=error, turn=turn):
            return Note(index, "error", f"turn {turn}", f"aborted: {shown(str(error), 120)}")
        case TurnEnded(how="cut", turn=turn):
            return Note(index, "error", f"turn {turn}", "ended before the model's last answer")
    return None
