"""The geometry of a timeline: time goes down, places in the message list go right. Units: pixels of SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .html_frames import Frame, Note, NoteKind, Tile, told
from .html_text import wrapped

BOX_WIDTH = 104
_BOX_HEIGHT = 38
_TAGGED_HEIGHT = 53
_STEP = BOX_WIDTH + 14
_MARGIN = 12
_FRAME_GAP = 36
_NOTE_GAP = 16
_AFTER_NOTE = 22
_LINE = 15
_LETTER = 6.7
_LEAST_WIDTH = 480
_LABEL_LETTERS = 17

#: Longer message lists are shown by their ends, longer histories by their beginning.
_MOST_TILES = 40
_MOST_ROWS = 150

#: Turns have one of so many colours, in turn.
COLOURS = 6


class Box(NamedTuple):
    """A message where it is drawn. `colour` is 1 to `COLOURS`, or 0 for what no turn said."""

    x: int
    y: int
    height: int
    tile: Tile
    label: str
    colour: int
    tags: str


class Row(NamedTuple):
    """What stands beside a frame or a note."""

    y: int
    height: int
    first: str
    second: str
    is_view: bool
    is_wrong: bool


class Pill(NamedTuple):
    """A note where it is drawn."""

    y: int
    width: int
    height: int
    kind: NoteKind
    lines: tuple[str, ...]


class Link(NamedTuple):
    """The lines that join the same messages, all of one look, as one SVG path."""

    colour: int
    moved: bool
    path: str


class Lane(NamedTuple):
    """The timeline of one candidate, drawn. `end` marks where messages leave the state."""

    candidate: str
    verdict: str
    width: int
    height: int
    rows: tuple[Row, ...]
    boxes: tuple[Box, ...]
    pills: tuple[Pill, ...]
    links: tuple[Link, ...]
    ends: tuple[tuple[int, int], ...]
    sentences: tuple[str, ...]
    cut: int


def lane(candidate: str, verdict: str, drawn: Sequence[Frame | Note]) -> Lane:
    """Place what `html_frames.frames` gave."""
    shown = [_shortened(item) if isinstance(item, Frame) else item for item in drawn[:_MOST_ROWS]]
    most = max((len(item.tiles) for item in shown if isinstance(item, Frame)), default=0)
    width = max(_LEAST_WIDTH, 2 * _MARGIN + most * _STEP - (_STEP - BOX_WIDTH))
    rows: list[Row] = []
    boxes: list[Box] = []
    pills: list[Pill] = []
    strokes = _Strokes()
    wrong = {item.record for item in shown if isinstance(item, Note) and item.kind == "violation"}
    bottom = 0
    for item in shown:
        y = bottom + _gap(shown[len(rows) - 1] if rows else None, item)
        if isinstance(item, Frame):
            height = _TAGGED_HEIGHT if any(tile.tags for tile in item.tiles) else _BOX_HEIGHT
            rows.append(_row(y, height, *item.who, item.is_view, item.record in wrong))
            placed = [_box(place, y, height, tile) for place, tile in enumerate(item.tiles)]
            strokes.frame(placed, item)
            boxes += placed
        else:
            pills.append(_pill(y, width, item))
            rows.append(_row(y, pills[-1].height, item.what, "", False, item.kind == "violation"))
        bottom = y + rows[-1].height
    sentences = [sentence for item in drawn if isinstance(item, Frame) for sentence in told(item)]
    return Lane(
        candidate,
        verdict,
        width,
        bottom + _MARGIN,
        tuple(rows),
        tuple(boxes),
        tuple(pills),
        strokes.links(),
        tuple(strokes.ends),
        tuple(sentences),
        len(drawn) - len(shown),
    )


def _gap(above: Frame | Note | None, below: Frame | Note) -> int:
    if above is None:
        return _MARGIN
    if isinstance(below, Note):
        return _NOTE_GAP
    return _AFTER_NOTE if isinstance(above, Note) else _FRAME_GAP


def _shortened(frame: Frame) -> Frame:
    hidden = len(frame.tiles) - _MOST_TILES
    if hidden <= 0:
        return frame
    half = _MOST_TILES // 2
    gap = Tile("", f"… {hidden} more", "not drawn", 0)
    return frame._replace(tiles=(*frame.tiles[:half], gap, *frame.tiles[-half:]))


def _row(y: int, height: int, first: str, second: str, is_view: bool, is_wrong: bool) -> Row:
    return Row(y, height, _fitting(first.replace("Middleware", "…")), _fitting(second), is_view, is_wrong)


def _fitting(text: str, letters: int = _LABEL_LETTERS) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _box(place: int, y: int, height: int, tile: Tile) -> Box:
    colour = (tile.turn - 1) % COLOURS + 1 if tile.turn else 0
    label = _fitting(tile.label, int((BOX_WIDTH - 12) / _LETTER))
    return Box(_MARGIN + place * _STEP, y, height, tile, label, colour, ", ".join(tile.tags[:2]))


def _pill(y: int, width: int, note: Note) -> Pill:
    room = width - 2 * _MARGIN
    lines = wrapped(note.text, int((room - 40) / _LETTER), 6) or ("",)
    longest = max(map(len, lines))
    return Pill(y, min(room, int(longest * _LETTER) + 40), len(lines) * _LINE + 9, note.kind, lines)


class _Strokes:
    """Joins each message with where it was drawn last."""

    def __init__(self) -> None:
        self._last: dict[str, Box] = {}
        self._paths: dict[tuple[int, bool], list[str]] = {}
        self.ends: list[tuple[int, int]] = []

    def frame(self, boxes: Iterable[Box], frame: Frame) -> None:
        """Join the messages of `frame`, and end the lines of those that it no longer holds."""
        for box in boxes:
            key = box.tile.key
            earlier = self._last.get(key)
            if earlier is not None and key:
                look = (box.colour, "moved" in box.tile.tags)
                self._paths.setdefault(look, []).append(_curve(earlier, box))
            self._last[key] = box
        for tile in frame.left:
            gone = self._last.pop(tile.key, None)
            if gone is not None:
                self.ends.append((gone.x + BOX_WIDTH // 2, gone.y + gone.height))

    def links(self) -> tuple[Link, ...]:
        """Return all lines; those of moved messages last, and so on top."""
        order = sorted(self._paths, key=lambda look: (look[1], look[0]))
        return tuple(Link(colour, moved, "".join(self._paths[colour, moved])) for colour, moved in order)


def _curve(above: Box, below: Box) -> str:
    x1, y1 = above.x + BOX_WIDTH // 2, above.y + above.height
    x2, y2 = below.x + BOX_WIDTH // 2, below.y
    if x1 == x2:
        return f"M{x1} {y1}V{y2}"
    bend = max(20, (y2 - y1) * 3 // 4)
    return f"M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}"
