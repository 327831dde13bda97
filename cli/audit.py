"""`sixfold audit`: what a project's own tests can see of its middleware, and what they cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from ..harness.errors import ExitCode, SixfoldError
from ..harness.harmless import harmless
from ..reports.terminal import say
from .console import console
from .project import candidate_of
from .quiet import quiet

if TYPE_CHECKING:
    from .mutating import Tried

_FORMATS = ("terminal", "json")

#: Exit code of pytest when it has collected nothing.
_NO_TESTS = 5


def audit_command(
    target: str | None,
    *,
    tests: Sequence[str],
    mutate: bool,
    histories: int,
    most: int,
    output_format: str,
) -> None:
    """Audit the tests. With `mutate`, exit with 1 when Sixfold sees a mutant that they let through."""
    if output_format not in _FORMATS:
        raise SixfoldError(
            f"unknown format {output_format!r}", place="--format", remedy=f"Use one of {', '.join(_FORMATS)}."
        )
    if not mutate:
        raise typer.Exit(_watch(tests))
    if target is None:
        raise SixfoldError(
            "there is nothing to mutate",
            place="command line",
            remedy="Name the middleware: sixfold audit TARGET --mutate",
        )
    _mutate(target, tests, histories=histories, most=most, output_format=output_format)


def _watch(tests: Sequence[str]) -> ExitCode:
    """Run the tests under the audit, as pytest prints it."""
    from . import pytest_plugin

    # By its module: where Sixfold is not installed there is no entry point, and another copy has its own.
    plugins = ["-p", "no:sixfold", "-p", pytest_plugin.__name__]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "--sixfold-audit", *tests]
    code = subprocess.run(command, check=False).returncode
    if code == _NO_TESTS:
        raise SixfoldError(
            "pytest found no tests", place=" ".join(tests) or ".", remedy="Name them: --tests PATH"
        )
    return ExitCode.NOTHING_NEW if code == 0 else ExitCode.FINDINGS


def _mutate(target: str, tests: Sequence[str], *, histories: int, most: int, output_format: str) -> None:
    from .mutating import Runner, run_mutants

    progress = console(sys.stderr)
    with quiet():
        candidate = candidate_of(target)
    runner = Runner(target, tests, histories=histories)
    runner.begin()

    def tell(done: Tried) -> None:
        say(progress, Text(f"{done.mutant.id}: {done.verdict}", style="dim"))

    tried, there = run_mutants(candidate, runner, most, tell)
    if output_format == "json":
        data = {
            "sixfold_mutants": 1,
            "target": target,
            "mutants": there,
            "tried": [{**asdict(each), "verdict": each.verdict} for each in tried],
        }
        sys.stdout.write(json.dumps(data, indent=1) + "\n")
    else:
        _print(tried, there)
    blind = any(each.verdict == "only Sixfold sees it" for each in tried)
    raise typer.Exit(ExitCode.FINDINGS if blind else ExitCode.NOTHING_NEW)


_TITLES = {
    "only Sixfold sees it": "Your tests let these through, and Sixfold sees them",
    "equivalent or unseen": "Nobody sees these: they change nothing, or nothing that anyone looks at",
}


def _print(every: Sequence[Tried], there: int) -> None:
    out = console()
    for verdict, title in _TITLES.items():
        chosen = [each for each in every if each.verdict == verdict]
        if not chosen:
            continue
        say(out, Text(title, style="bold"))
        for each in chosen:
            say(out, f"{each.mutant.rule}  {harmless(each.file, 200)}:{each.mutant.line}", 2)
            say(out, f"- {each.mutant.before}", 4)
            say(out, f"+ {each.mutant.after}", 4)
            say(out, _why(each), 4)
        out.print()
    counts = Counter(each.verdict for each in every)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("killed by the tests", *_TITLES))
    say(out, f"{len(every)} of {there} mutants: {said}")


def _why(tried: Tried) -> str:
    unseen = "no test imports the file" if tried.tests == "not loaded" else "the tests pass"
    if not tried.sixfold:
        return unseen
    return f"{unseen}; Sixfold: {', '.join(tried.codes) or 'it cannot be played to the end any more'}"
