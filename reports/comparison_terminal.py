"""A comparison on the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..harness.harmless import harmless
from ..harness.sides.result import KINDS, ComparisonResult, Difference, DifferenceKind
from .comparison_words import TITLES, elsewhere, heading, packages, played, sureness, title_of, verdict
from .findings_in_words import counted
from .plan import in_one_line
from .side_by_side import Parting, parting, shown_later
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
    several = len(result.sides) > 2  # noqa: PLR2004  base and head
    for kind in KINDS:
        if kind == "still violated":
            continue
        for difference in result.of_kind(kind):
            console.print()
            _print(console, difference, result, several=several)
    for head in result.sides[1:]:
        codes = ", ".join(
            f"{d.code} ({counted(d.count, 'history', 'histories')})" if d.count else d.code
            for d in result.of_kind("still violated", head.label)
        )
        if codes:
            on = f" on {harmless(head.label, 100)}" if several else ""
            say(console, f"{TITLES['still violated']}{on}: {codes}")
    console.print()


def print_next_steps(console: Console, results: Sequence[ComparisonResult], folder: str) -> None:
    """Print what can be done with the most alarming difference, and where everything has been saved."""
    first = next(
        ((result, each) for kind in KINDS for result in results for each in result.of_kind(kind)), None
    )
    if first is not None:
        result, each = first
        file = shlex.quote(f"{harmless(folder, 400)}/scenarios/{result.id_of(each)}.json")
        target = shlex.quote(harmless(result.target_of(each), 400))
        say(console, f"replay it step by step: sixfold replay {file} {target}")
    say(console, f"saved in {harmless(folder, 400)}: comment.md for the pull request, comparison.json, …")


def _print(console: Console, difference: Difference, result: ComparisonResult, *, several: bool) -> None:
    on = f" on {harmless(difference.head, 100)}" if several else ""
    by = f"  {harmless(difference.by, 200)}" if difference.by else ""
    code = f" {difference.code}" if difference.code else ""
    say(
        console,
        Text(
            f"{heading(difference, result)}{on}:{code} {title_of(difference)}", style=_STYLES[difference.kind]
        ),
    )
    if by:
        say(console, f"{by.strip()}: {harmless(difference.detail, 300)}", 2)
    say(console, sureness(difference) + elsewhere(difference, result), 2)
    say(console, f"plays: {in_one_line(difference.scenario)}", 2)
    parted = parting(difference.before, difference.after)
    if parted is None:
        say(console, "the model sees the same on both sides", 2)
        return
    _seen(console, "", parted)
    later = shown_later(difference)
    if later is not None:
        _seen(console, "the check fails later: ", later)


def _seen(console: Console, what: str, parted: Parting) -> None:
    say(console, f"{what}model call {parted.call} of turn {parted.turn} on the base, and on the head:", 2)
    for rows in (parted.before, parted.after):
        for row in rows:
            say(console, row, 4)
        console.print()
