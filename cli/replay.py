"""`sixfold replay`: play a saved scenario on candidates, step by step, and judge it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import typer
from rich.text import Text

from ..harness.candidate import CONTROL, Candidate
from ..harness.deaths import Limits
from ..harness.differential import Trial
from ..harness.errors import ExitCode, ScenarioFileError, SixfoldError
from ..harness.harmless import harmless
from ..harness.play import LaneName
from ..harness.rules import rule_by_code
from ..harness.scenario import MAX_BYTES, Scenario, from_json, load
from ..models.catalogue import CATALOGUE, MISSING
from ..reports.picture import timeline
from ..reports.plan import in_one_line
from ..reports.stored_run import load_run
from ..reports.terminal import say
from .console import console
from .project import chosen as targets_of
from .project import is_own
from .quiet import quiet
from .subjects import subjects


def _target(name: str, scenario: Path) -> str:
    """Return the target that `name` names: itself, or what the run of the scenario's file calls so."""
    if ":" in name or name in CATALOGUE or name in MISSING or is_own(name):
        return name
    folder = scenario.resolve().parent.parent
    known = load_run(folder).targets if (folder / "verdicts.json").is_file() else {}
    return known.get(name, name)


#: What stands for stdin on the command line.
_STDIN = Path("-")


def _read(path: Path) -> Scenario:
    """Read a scenario from a file, or from stdin. Raises `ScenarioFileError` when there is none."""
    if path != _STDIN:
        return load(path)
    try:
        text = sys.stdin.buffer.read(MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ScenarioFileError(
            f"not valid UTF-8: {error}", place="stdin", remedy="Give a scenario in JSON."
        ) from error
    return from_json(text, place="stdin")


def replay_command(
    path: Path,
    targets: list[str],
    *,
    lane: str,
    timeout: float = Limits().history,
    isolated: bool = True,
) -> None:
    """Play the scenario file on each target and print what happens; exit 1 when something is violated."""
    lanes: tuple[LaneName, ...] = get_args(LaneName)
    chosen = next((name for name in lanes if name == lane), None)
    if chosen is None:
        raise SixfoldError(f"unknown lane {lane!r}", place="--lane", remedy=f"Use one of {', '.join(lanes)}.")
    scenario = _read(path)
    out = console(sys.stdout)
    violated = doubtful = False
    played: list[tuple[Candidate, Trial, tuple[str, ...], bool]] = []
    limits = Limits(history=timeout)
    names = targets_of([_target(name, path) for name in targets], (CONTROL.name,))
    with quiet(), subjects(names, isolated=isolated, limits=limits) as opened:
        for subject in opened:
            trial = subject.trial(scenario, lane=chosen, invariants=(), comparing=True)
            played.append((subject.candidate, trial, subject.warnings(), subject.unsteady))
    for candidate, trial, warnings, doubt in played:
        doubtful |= doubt
        out.print(Text(f"{harmless(candidate.name, 60)} ({chosen} lane)", style="bold"))
        say(out, f"plays: {in_one_line(scenario) or 'nothing'}", 2)
        remarks: dict[int, list[str]] = {}
        for item in trial.judged:
            note = f"{item.violation.code} {item.ruling}: {item.violation.detail}"
            remarks.setdefault(item.violation.record, []).append(harmless(note))
            violated |= item.ruling == "violated"
        for who, what, index in timeline(trial.history):
            say(out, f"{who}: {what}" if what else who, 2)
            for note in remarks.pop(index, ()):
                say(out, Text(f"← {note}", style="red" if " violated: " in note else "yellow"), 6)
        for notes in remarks.values():
            for note in notes:
                say(out, Text(f"← {note}", style="red" if " violated: " in note else "yellow"), 6)
        codes = sorted({i.violation.code for i in trial.judged if i.ruling == "violated"})
        for warning in warnings:
            say(out, Text(f"warning: {harmless(warning, 400)}", style="yellow"), 2)
        if not codes and not doubt:
            out.print(Text("  holds\n", style="green"))
        for code in codes:
            check = rule_by_code(code)
            out.print(Text(f"  {code}: {check.title if check else ''}", style="bold red"))
        out.print()
    if violated:
        raise typer.Exit(ExitCode.FINDINGS)
    raise typer.Exit(ExitCode.INCONCLUSIVE if doubtful else ExitCode.NOTHING_NEW)
