"""`sixfold doctor`: is a target ready to be fuzzed, and what is to be fixed first?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import typer
from rich.text import Text

from ..harness.conformance import Answer, examine, is_ready
from ..harness.deaths import Limits
from ..harness.errors import ExitCode, SixfoldError
from ..harness.harmless import harmless
from ..harness.scenario import Scenario
from ..reports.terminal import say
from ..strategies.scenarios import explore
from .console import console
from .quiet import quiet
from .subjects import subjects

_FORMATS = ("terminal", "json")
_STYLES = {"ok": "green", "problem": "bold red", "unknown": "magenta"}


def doctor_command(
    target: str, *, histories: int, output_format: str, timeout: float, isolated: bool = True
) -> None:
    """Answer the questions about `target` and exit: 0 ready, 1 problems; 3 when it cannot be loaded."""
    if output_format not in _FORMATS:
        raise SixfoldError(
            f"unknown format {output_format!r}", place="--format", remedy=f"Use one of {', '.join(_FORMATS)}."
        )
    limits = Limits(history=timeout)
    with quiet(), subjects([target], isolated=isolated, limits=limits) as [subject]:
        name = subject.candidate.name
        scenarios: list[Scenario] = []
        explore(
            scenarios.append,
            seed=0,
            count=histories,
            kinds=frozenset(subject.candidate.contract.suffers),
            places=subject.places(),
        )
        answers = examine(subject, scenarios)
    ready = is_ready(answers)
    if output_format == "json":
        data = {"target": target, "name": name, "ready": ready, "answers": [asdict(a) for a in answers]}
        text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
        sys.stdout.write(text.encode("utf-8", "backslashreplace").decode())
    else:
        _print(name, answers, ready=ready)
    raise typer.Exit(ExitCode.NOTHING_NEW if ready else ExitCode.FINDINGS)


def _print(name: str, answers: tuple[Answer, ...], *, ready: bool) -> None:
    out = console()
    say(out, Text(harmless(name, 400), style="bold"))
    for answer in answers:
        say(out, Text.assemble((f"{answer.state:<8}", _STYLES[answer.state]), answer.question), 2)
        say(out, harmless(answer.says, 2000), 10)
    problems = sum(answer.state == "problem" for answer in answers)
    end = "ready" if ready else f"{problems} problem{'s' * (problems != 1)} to fix first"
    say(out, Text(end, style="green" if ready else "bold red"))
