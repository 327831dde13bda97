"""`sixfold replay`: play a saved scenario on candidates, step by step, and judge it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import typer
from rich.text import Text

from ..harness.agent import build_agent
from ..harness.candidate import CONTROL
from ..harness.differential import try_out
from ..harness.errors import ExitCode, SixfoldError
from ..harness.harmless import harmless
from ..harness.play import LaneName
from ..harness.rules import rule_by_code
from ..harness.scenario import load
from ..reports.picture import timeline
from ..reports.plan import in_one_line
from ..reports.terminal import say
from .console import console
from .project import chosen as candidates_of
from .quiet import quiet


def replay_command(path: Path, targets: list[str], *, lane: str) -> None:
    """Play the scenario file on each target and print what happens; exit 1 when something is violated."""
    lanes: tuple[LaneName, ...] = get_args(LaneName)
    chosen = next((name for name in lanes if name == lane), None)
    if chosen is None:
        raise SixfoldError(f"unknown lane {lane!r}", place="--lane", remedy=f"Use one of {', '.join(lanes)}.")
    scenario = load(path)
    out = console(sys.stdout)
    violated = False
    with quiet():
        candidates = candidates_of(targets, (CONTROL.name,))
    for candidate in candidates:
        with quiet():
            agent = build_agent(candidate, direct=chosen == "reducer")
            trial = try_out(agent, scenario, lane=chosen, comparing=True)
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
        if not codes:
            out.print(Text("  holds\n", style="green"))
        for code in codes:
            check = rule_by_code(code)
            out.print(Text(f"  {code}: {check.title if check else ''}", style="bold red"))
        out.print()
    raise typer.Exit(ExitCode.FINDINGS if violated else ExitCode.NOTHING_NEW)
