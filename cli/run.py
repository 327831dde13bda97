"""`sixfold run`: resolve targets, run a campaign, print and save what it finds."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import typer

from ..harness.baseline import Observed, Scope
from ..harness.campaign import Campaign, Explore
from ..harness.candidate import Candidate
from ..harness.deaths import Limits
from ..harness.errors import ExitCode, SixfoldError
from ..harness.events import Options, RunResult
from ..harness.harmless import harmless
from ..harness.run_folder import RunFolder
from ..harness.verdicts import Verdict
from ..models.catalogue import DEFAULT_TARGETS
from ..reports import baseline_words, json_report, terminal
from ..reports.progress import ProgressBar
from ..strategies.scenarios import explore
from .baseline import check as check_baseline
from .baseline import settle
from .console import console, readers_may_leave
from .events import STDOUT, follower, saved_events
from .project import chosen
from .quiet import quiet
from .subjects import printed_by, subjects

_BUDGET = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_FORMATS = ("terminal", "json")


def budget_seconds(text: str | None) -> float | None:
    """Return a budget such as `90s`, `5m` or `1h` in seconds. Raises `SixfoldError` when it is none."""
    if text is None:
        return None
    match = _BUDGET.fullmatch(text.strip())
    if match is None or float(match.group(1)) == 0:
        raise SixfoldError(
            f"{text!r} is not a time",
            place="--budget",
            remedy="Write a number with s, m or h, such as 90s or 5m.",
        )
    return float(match.group(1)) * _SECONDS[match.group(2) or "s"]


def exit_code(result: RunResult, accepted: frozenset[str] = frozenset()) -> ExitCode:
    """Return 1 for findings that are not accepted, 2 when something is inconclusive, else 0."""
    if any(finding.confirmed is not None and finding.id not in accepted for finding in result.findings):
        return ExitCode.FINDINGS
    verdicts = [verdict for candidate in result.candidates for verdict in candidate.verdicts.values()]
    return ExitCode.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else ExitCode.NOTHING_NEW


def _show_wiring(targets: Sequence[str], *, isolated: bool, limits: Limits) -> None:
    """Print how each target is constructed, once it has been shown that it can be."""
    with quiet(), subjects(targets, isolated=isolated, limits=limits) as opened:
        candidates = [subject.candidate for subject in opened]
    for candidate in candidates:
        terminal.say(console(), f"{harmless(candidate.name, 400)}: {harmless(_wiring(candidate), 2000)}")


def _wiring(candidate: Candidate) -> str:
    return candidate.wiring or candidate.source or "as its factory builds it"


def run_command(
    targets: list[str],
    *,
    seed: int,
    max_histories: int,
    budget: str | None,
    invariants: tuple[int, ...],
    report_dir: Path,
    output_format: str,
    events: str | None = None,
    show_wiring: bool = False,
    timeout: float = Limits().history,
    isolated: bool = True,
    baseline: Path | None = None,
    update_baseline: bool = False,
    generate: Explore = explore,
) -> None:
    """Run a campaign over `targets` (without any, over what `chosen` takes) and exit with its code.

    `generate` is where the scenarios come from.
    """
    if output_format not in _FORMATS:
        raise SixfoldError(
            f"unknown format {output_format!r}", place="--format", remedy=f"Use one of {', '.join(_FORMATS)}."
        )
    check_baseline(baseline, update=update_baseline)
    options = Options(
        seed=seed, max_histories=max_histories, budget=budget_seconds(budget), invariants=invariants
    )
    messages = console(sys.stderr)
    followers = [] if events is None else [follower(events, output_format)]
    names, limits = chosen(targets, DEFAULT_TARGETS), Limits(history=timeout)
    if show_wiring:
        _show_wiring(names, isolated=isolated, limits=limits)
        raise typer.Exit
    with quiet() as printed, subjects(names, isolated=isolated, limits=limits) as opened:
        with ProgressBar(messages) as bar:
            campaign = Campaign(opened, options, [bar])
            folder = RunFolder(report_dir, time.strftime("%Y%m%dT%H%M%S"))
            campaign.stream.listeners += [folder, saved_events(folder.path), *followers]
            result = campaign.run(generate)
        lines = printed.lines + printed_by(opened)
    if lines:
        messages.print(f"candidates printed {lines} lines, which are not shown", markup=False)
    for name, error in campaign.stream.broken:
        what = harmless(f"warning: {name} broke and was left out: {type(error).__name__}: {error}")
        messages.print(what, markup=False)
    with readers_may_leave():
        if output_format == "json":
            sys.stdout.write(json_report.render(result).encode("utf-8", "backslashreplace").decode())
        else:
            shown = messages if events == STDOUT else console()
            terminal.print_result(shown, result, replay=f"sixfold replay {report_dir}/latest")
    if folder not in campaign.stream.listeners:
        messages.print(f"NOT saved: {folder.path} is incomplete; see the warning above", markup=False)
    elif output_format != "json":
        messages.print(
            f"saved in {folder.path}; `sixfold report` writes issue texts, tests and pages", markup=False
        )
    held = settle(
        baseline,
        lambda: [Observed(f.id, f.signature.candidate, f.signature.code) for f in result.findings],
        Scope(frozenset(candidate.name for candidate in result.candidates), invariants),
        update=update_baseline,
    )
    if held is not None:
        for line in (baseline_words.counts(held), *baseline_words.lines_of(held)):
            messages.print(line, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(result, frozenset() if held is None else held.accepted))
