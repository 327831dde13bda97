"""A comparison on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ..harness.harmless import harmless
from ..harness.sides.result import KINDS, ComparisonResult, Difference, DifferenceKind
from .comparison_words import TITLES, packages, played, sureness, title_of, verdict
from .plan import in_one_line
from .side_by_side import parting
from .terminal import say

_STYLES: dict[DifferenceKind, str] = {
    "regressed": "bold red",
    "newly inconclusive": "yellow",
    "changed": "yellow",
    "fixed": "bold green",
    "still violated": "",
}


def print_comparison(console: Console, result: ComparisonResult) -> None:
    """Print the sides, then what differs, the most alarming first."""
    for side, role in zip(result.sides, ("base", *["head"] * len(result.sides)), strict=False):
        say(console, f"{role}: {harmless(side.label, 200)}  {packages(side)}".rstrip())
        for remark in side.remarks:
            say(console, f"note: {harmless(remark, 400)}", 2)
        for trouble in side.troubles:
            say(console, Text(f"inconclusive: {harmless(trouble, 600)}", style="yellow"), 2)
    say(console, f"{played(result)}: {verdict(result)}")
    for kind in KINDS:
        for difference in result.of_kind(kind):
            if kind != "still violated":
                console.print()
            _print(console, difference, several=len(result.sides) > 2)  # noqa: PLR2004  base and head
    console.print()


def _print(console: Console, difference: Difference, *, several: bool) -> None:
    on = f" on {harmless(difference.head, 100)}" if several else ""
    heading = TITLES[difference.kind].partition(":")[0]
    by = f"  {harmless(difference.by, 200)}" if difference.by else ""
    code = f" {difference.code}" if difference.code else ""
    say(console, Text(f"{heading}{on}:{code} {title_of(difference)}", style=_STYLES[difference.kind]))
    if difference.kind == "still violated":
        return
    if by:
        say(console, f"{by.strip()}: {harmless(difference.detail, 300)}", 2)
    say(console, sureness(difference), 2)
    say(console, f"plays: {in_one_line(difference.scenario)}", 2)
    parted = parting(difference.before, difference.after)
    if parted is None:
        say(console, "the model sees the same on both sides", 2)
        return
    say(console, f"model call {parted.call} of turn {parted.turn} on the base, and on the head:", 2)
    for rows in (parted.before, parted.after):
        for row in rows if rows is not None else ("(there is no such call)",):
            say(console, row, 4)
        console.print()
