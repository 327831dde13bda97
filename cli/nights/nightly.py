"""`sixfold nightly`: a night of fuzzing that reports only what is new."""

from __future__ import annotations

import datetime
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer
from rich.progress import BarColumn, Progress, TextColumn

from ...harness.baseline import Observed, Scope, Sorted
from ...harness.errors import ExitCode, SixfoldError
from ...harness.harmless import harmless
from ...harness.nights.entries import Entry
from ...harness.nights.ledger import FindingsLedger
from ...models.catalogue import DEFAULT_TARGETS
from ...reports import baseline_words
from ...reports.nights import print_night
from ...reports.terminal import say
from ..baseline import check as check_baseline
from ..baseline import settle
from ..console import console, readers_may_leave
from ..project import chosen
from ..run import budget_seconds
from ..signals import ended_by_signals
from ..worktrees import commit_of
from .canary import watch_the_canary
from .crew import WORKERS_LOG, Crew, crew_of_this_machine
from .issues import write_issues
from .leftovers import enter_leftovers, fresh_spool
from .night import Night, Plan, run_night
from .watch import ShardLimits


def revision() -> str:
    """Return the commit of the working folder; `none` outside of a repository, or without git."""
    try:
        return commit_of(Path.cwd(), "HEAD")
    except SixfoldError:
        return "none"


def exit_code(night: Night, held: Sorted | None = None) -> ExitCode:
    """Return 1 when something is new or has returned, 2 when something is inconclusive, else 0.

    What a baseline accepts is no news; what it accepted until a day that has passed is, once more. A night
    in which nothing was played is inconclusive.
    """
    news = {number for number, status in night.statuses.items() if status in ("new", "returned")}
    if held is not None:
        news = (news - held.accepted) | {entry.id for entry in held.expired}
    if news:
        return ExitCode.FINDINGS
    doubtful = night.troubles or night.killers or not night.histories
    return ExitCode.INCONCLUSIVE if doubtful else ExitCode.NOTHING_NEW


def _observed(night: Night, entries: Mapping[str, Entry]) -> list[Observed]:
    """Return what shows tonight, as a baseline knows findings."""
    showing = [entries[n] for n, status in night.statuses.items() if status in ("new", "known", "returned")]
    return [Observed(entry.id, entry.known.candidate, entry.known.code) for entry in showing]


class _Bar:
    """The progress bar of a night: histories a second, new findings, time that is left."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[told]}"),
            console=console(sys.stderr),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("night", total=seconds, told="")

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, night: Night, going_on: int) -> None:
        """Show how far the night is; `going_on` are histories of shards that are not over."""
        passed = max(1e-9, time.monotonic() - self._began)
        histories = night.histories + going_on
        left = max(0, int(self._seconds - passed))
        told = f"{histories:,} histories, {histories / passed:,.0f}/s, {len(night.new)} new, {left} s left"
        self._bar.update(self._task, completed=min(passed, self._seconds), told=told)


def _crew(cluster: str | None, workers: int | None, limits: ShardLimits) -> Crew:
    if cluster is None:
        return crew_of_this_machine(workers or os.cpu_count() or 1, limits)
    from .cluster import crew_of

    return crew_of(cluster, limits)


def nightly_command(
    targets: Sequence[str],
    *,
    budget: str,
    workers: int | None,
    ledger_file: Path,
    emit_issues: Path | None,
    cluster: str | None,
    timeout: float,
    keep_spool: bool,
    baseline: Path | None = None,
    update_baseline: bool = False,
) -> None:
    """Run a night, print what is new, and exit with the code for it."""
    check_baseline(baseline, update=update_baseline)
    seconds = budget_seconds(budget)
    names = tuple(chosen(list(targets), DEFAULT_TARGETS))
    out = console(sys.stderr)
    ledger = FindingsLedger(ledger_file)
    try:
        with ended_by_signals():
            crew = _crew(cluster, workers, ShardLimits.of_timeout(timeout))
            watch_the_canary()
            plan = Plan(
                targets=names,
                revision=revision(),
                day=datetime.date.today().isoformat(),
                seconds=seconds or 0.0,
                timeout=timeout,
            )
            spools = ledger_file.parent / "spool"
            if entered := enter_leftovers(spools, ledger):
                out.print(f"{entered} results of nights that were killed were entered", markup=False)
            spool = fresh_spool(spools, len(ledger.nights()) + 1)
            with _Bar(plan.seconds) as bar:
                night = run_night(plan, ledger, spool, crew, bar.show)
        entries = {entry.id: entry for entry in ledger.findings()}
        with readers_may_leave():
            [tonight] = [each for each in ledger.nights() if each.number == night.number]
            print_night(console(), night.statuses, night.news, entries, tonight, night.killers)
        held = settle(
            baseline,
            lambda: _observed(night, entries),
            Scope(frozenset(night.candidates)),
            update=update_baseline,
        )
        # Not `night.new`: what a killed night has found is told tonight.
        news = [number for number, status in night.statuses.items() if status == "new"]
        if emit_issues is not None:
            written = write_issues(emit_issues, [entries[number] for number in news], names, timeout)
            out.print(f"{len(written)} issue texts in {emit_issues}", markup=False)
        ledger.tell(night.statuses)
        if not keep_spool and not night.troubles:
            shutil.rmtree(spool.folder, ignore_errors=True)
    finally:
        ledger.close()
    if not night.histories and not night.troubles:
        say(out, "inconclusive: nothing was played; give it more time with --budget")
    for trouble in night.troubles:
        say(out, f"inconclusive: {harmless(trouble, 2_000)}")
    if night.troubles and (log := spool.folder / WORKERS_LOG).exists():
        say(out, f"what the workers said: {log}")
    if held is not None:
        for line in (baseline_words.counts(held), *baseline_words.lines_of(held)):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(night, held))
