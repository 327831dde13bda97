"""A night, and many of them, on the terminal: what is new, what is back, what is fixed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from ..harness.harmless import harmless
from ..harness.nights.entries import Entry, Night
from ..harness.nights.status import NEWS, Status
from ..harness.rules import rule_by_code
from ..harness.scenario import from_json
from .findings_in_words import counted
from .plan import in_one_line
from .terminal import say
from .trend import HEADINGS, TrendLine, cells

_STYLES: dict[Status, str] = {
    "new": "bold red",
    "returned": "bold red",
    "fixed": "bold green",
    "known": "",
    "unobserved": "yellow",
    "closed": "",
}


def print_night(
    console: Console,
    statuses: Mapping[str, Status],
    news: Container[str],
    entries: Mapping[str, Entry],
    night: Night,
    killers: Mapping[str, Path],
) -> None:
    """Print what a night has to tell: its work, then its news."""
    per_second = night.histories / night.seconds if night.seconds else 0.0
    played = counted(night.histories, "history", "histories")
    say(console, f"night {night.number}: {played} played, {per_second:,.0f} a second, {night.ended}")
    counts = Counter(statuses.values())
    told = ", ".join(f"{counts[status]} {status}" for status in _STYLES if counts[status])
    say(console, told or "no findings, tonight or before")
    for status in NEWS:
        for number in sorted(n for n, s in statuses.items() if s == status and n in news):
            console.print()
            print_entry(console, entries[number], status)
    for digest, path in killers.items():
        say(console, Text(f"scenario {digest} ended a worker, and was left out; to play it:", style="yellow"))
        # In one line, however long: it is there to be copied.
        again = f"  sixfold replay {shlex.quote(str(path))} TARGET"
        console.print(again, markup=False, highlight=False, soft_wrap=True)


def print_entry(console: Console, entry: Entry, status: Status | None = None) -> None:
    """Print one finding of the ledger."""
    known, shown = entry.known, status or entry.status
    rule = rule_by_code(known.code)
    title = f"{shown}: {entry.id} {harmless(known.candidate, 100)} {known.code}"
    say(console, Text(f"{title} {rule.title if rule else ''}".rstrip(), style=_STYLES[shown]))
    say(console, f"{harmless(known.by, 200)}: {harmless(entry.detail, 300)}", 2)
    say(console, f"plays: {in_one_line(from_json(known.scenario))}", 2)
    confirmed = {
        True: "confirmed in the real graph",
        False: "NOT confirmed in the real graph",
        None: "erratic",
    }
    seen = f"first seen in night {entry.first_night}, last in night {entry.last_night}"
    say(console, f"{confirmed[entry.confirmed]}; {seen}", 2)
    if entry.remark:
        say(console, f"remark: {harmless(entry.remark, 300)}", 2)


def print_list(console: Console, entries: Sequence[Entry]) -> None:
    """Print all findings of the ledger, a line each."""
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "status", "candidate", "check", "nights"):
        table.add_column(heading)
    for entry in entries:
        table.add_row(
            entry.id,
            Text(entry.status, style=_STYLES[entry.status]),
            harmless(entry.known.candidate, 40),
            entry.known.code,
            f"{entry.first_night}-{entry.last_night}",
        )
    if entries:
        console.print(table)
    else:
        say(console, "the ledger has no findings")


def print_trend(console: Console, trend: Sequence[TrendLine]) -> None:
    """Print the nights, a line each: work, throughput, what was reached, prefix reuse, and findings."""
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        justify: JustifyMethod = "left" if heading == "ended" else "right"
        table.add_column(heading, justify=justify, no_wrap=" " not in heading)
    for line in trend:
        table.add_row(*(harmless(cell, 20) for cell in cells(line)))
    if trend:
        console.print(table)
    else:
        say(console, "the ledger has no nights")
