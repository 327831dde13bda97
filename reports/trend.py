"""The trend: what nights did and found, in numbers, for the terminal and for the page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..harness.nights.entries import Entry, Night

#: What the ledger has measured: the night, the candidate, what, and how much.
Measured = tuple[int, str, str, float]


class TrendLine(NamedTuple):
    """One night. None is what nobody knows: of a night that was killed, or sent nothing.

    `per_second` are histories, `goals` pairs of a candidate and a goal that it reached, `reuse` the share of
    a request's bytes that the one before had sent, `new` findings first seen in the night, `known` all
    findings up to it.
    """

    night: int
    day: str
    histories: int
    per_second: float | None
    goals: int
    reuse: float | None
    new: int
    known: int
    ended: str


#: The headings of `cells`.
HEADINGS = ("night", "day", "histories", "per second", "goals", "prefix reuse", "new", "findings", "ended")


def cells(line: TrendLine) -> tuple[str, ...]:
    """Return the night as text, a cell for each heading. Day and end are as the ledger has them."""
    return (
        str(line.night),
        line.day,
        f"{line.histories:,}",
        "-" if line.per_second is None else f"{line.per_second:,.1f}",
        str(line.goals),
        "-" if line.reuse is None else f"{line.reuse:.1%}",
        str(line.new),
        str(line.known),
        line.ended,
    )


def trend_of(
    nights: Sequence[Night], measured: Iterable[Measured], entries: Iterable[Entry]
) -> tuple[TrendLine, ...]:
    """Return the trend, the first night first."""
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    goals: Counter[int] = Counter()
    for night, _, what, amount in measured:
        sums[night][what] += amount  # type: ignore[assignment]
        goals[night] += what.startswith("reached ") and amount > 0
    first = Counter(entry.first_night for entry in entries)
    lines, known = [], 0
    for each in nights:
        sent, resent = sums[each.number]["figure sent"], sums[each.number]["figure resent"]
        known += first[each.number]
        lines.append(
            TrendLine(
                each.number,
                each.day,
                each.histories,
                each.histories / each.seconds if each.seconds else None,
                goals[each.number],
                resent / sent if sent else None,
                first[each.number],
                known,
                each.ended or "killed",
            )
        )
    return tuple(lines)
