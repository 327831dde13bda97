"""`sixfold findings` and `sixfold trend`: what the ledger knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from ...harness.errors import SixfoldError
from ...harness.nights.entries import Entry, Night
from ...harness.nights.ledger import FindingsLedger
from ...harness.run_folder import write_atomically
from ...harness.scenario import from_json
from ...harness.violation import replay_line
from ...reports import html_trend
from ...reports.nights import print_entry, print_list, print_trend
from ...reports.terminal import say
from ...reports.trend import trend_of
from ..console import console, readers_may_leave


def _opened(path: Path) -> FindingsLedger:
    if not path.is_file():
        raise SixfoldError("there is no ledger yet", place=str(path), remedy="Run `sixfold nightly` first.")
    return FindingsLedger(path)


def findings_command(ledger_file: Path, *, show: str | None, close: str | None, remark: str) -> None:
    """List findings, show one, or close one."""
    ledger = _opened(ledger_file)
    try:
        if close is not None and not ledger.close_finding(close, remark):
            raise _unknown(close, ledger_file)
        entries, nights = ledger.findings(), ledger.nights()
    finally:
        ledger.close()
    with readers_may_leave():
        if show is not None or close is not None:
            entry = _one(entries, show or close or "", ledger_file)
            print_entry(console(), entry)
            # In one line, however long: it is there to be copied.
            console().print(
                f"  replay: {_replay_of(entry, nights)}", markup=False, highlight=False, soft_wrap=True
            )
        else:
            print_list(console(), entries)
    raise typer.Exit


def _replay_of(entry: Entry, nights: Sequence[Night]) -> str:
    """Return the command that replays the smallest witness, on the target of its last night."""
    name = entry.known.candidate
    targets = next((night.targets for night in nights if night.number == entry.last_night), ())
    given = [target for target in targets if target == name or target.endswith(f":{name}")]
    return replay_line(from_json(entry.known.scenario), given[0] if len(given) == 1 else None)


def _one(entries: list[Entry], number: str, place: Path) -> Entry:
    found = next((entry for entry in entries if entry.id == number), None)
    if found is None:
        raise _unknown(number, place)
    return found


def _unknown(number: str, place: Path) -> SixfoldError:
    return SixfoldError(
        f"the ledger has no finding {number!r}", place=str(place), remedy="See `sixfold findings`."
    )


def trend_command(ledger_file: Path, html: Path | None = None) -> None:
    """Print the nights, a line each, and write them as a page if one is wanted."""
    ledger = _opened(ledger_file)
    try:
        trend = trend_of(ledger.nights(), ledger.measured(), ledger.findings())
    finally:
        ledger.close()
    if html is not None:
        write_atomically(html, html_trend.render(trend))
    with readers_may_leave():
        print_trend(console(), trend)
        if html is not None:
            say(console(), f"written: {html}")
