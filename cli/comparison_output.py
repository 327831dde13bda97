"""What a comparison leaves behind: what is printed, the files of its folder, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..harness.baseline import Observed, Scope, Sorted
from ..harness.errors import ExitCode, SixfoldError
from ..harness.run_folder import write_atomically
from ..harness.scenario import to_json
from ..harness.sides.result import KINDS, ComparisonResult, Difference, DifferenceKind
from ..reports import baseline_words, comparison_github, comparison_json
from ..reports.comparison_markdown import comment
from ..reports.comparison_terminal import print_comparison, print_next_steps
from ..reports.terminal import say
from . import baseline
from .console import console, readers_may_leave

_FORMATS = ("terminal", "markdown", "json", "github")

#: Where the runner of GitHub Actions takes the summary of a step from.
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

#: Violations of the head: what a baseline may accept.
_VIOLATED: tuple[DifferenceKind, ...] = ("regressed", "still violated")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """How a comparison ends: kinds that fail it, what is printed, where files go, and what is accepted."""

    fail_on: Sequence[str] = ("regressed",)
    format: str = "terminal"
    report_dir: Path = Path(".sixfold/compare")
    comment: Path | None = None
    baseline: Path | None = None
    update_baseline: bool = False

    def check(self) -> None:
        """Raise `SixfoldError` for what cannot be done, before anything is played."""
        failing_kinds(self.fail_on)
        if self.format not in _FORMATS:
            raise SixfoldError(
                f"unknown format {self.format!r}",
                place="--format",
                remedy=f"Use one of {', '.join(_FORMATS)}.",
            )
        baseline.check(self.baseline, update=self.update_baseline)


def failing_kinds(named: Sequence[str]) -> frozenset[DifferenceKind]:
    """Return the kinds of differences that `--fail-on` names. Raises `SixfoldError` for any other name."""
    known = {kind.replace(" ", "-"): kind for kind in KINDS}
    wanted = [part for name in named for part in name.split(",")]
    for name in wanted:
        if name not in known and name != "none":
            raise SixfoldError(
                f"there is no kind {name!r}", place="--fail-on", remedy=f"Use none, or {', '.join(known)}."
            )
    return frozenset(known[name] for name in wanted if name != "none")


def exit_code(
    results: Sequence[ComparisonResult],
    failing: frozenset[DifferenceKind],
    accepted: frozenset[str] = frozenset(),
) -> ExitCode:
    """Return 1 for a difference of a failing kind that is not accepted, 2 for a doubt, else 0."""
    if any(d.kind in failing and r.id_of(d) not in accepted for r in results for d in r.differences):
        return ExitCode.FINDINGS
    return ExitCode.INCONCLUSIVE if any(result.inconclusive for result in results) else ExitCode.NOTHING_NEW


def observed(results: Sequence[ComparisonResult], failing: frozenset[DifferenceKind]) -> list[Observed]:
    """Return what a baseline may accept: what the heads violate, and what else would fail."""
    kinds = failing | set(_VIOLATED)
    seen = {
        r.id_of(d): Observed(r.id_of(d), r.target_of(d), d.code)
        for r in results
        for d in r.differences
        if d.kind in kinds
    }
    return list(seen.values())


def finish(
    results: Sequence[ComparisonResult], options: OutputOptions, invariants: tuple[int, ...]
) -> ExitCode:
    """Print the results, write their files, and return the exit code."""
    failing = failing_kinds(options.fail_on)
    heads = frozenset(side.target for result in results for side in result.sides[1:])
    held = baseline.settle(
        options.baseline,
        lambda: observed(results, failing),
        Scope(heads, invariants),
        update=options.update_baseline,
    )
    made = _files(results, held)
    for name, text in made.items():
        write_atomically(options.report_dir / name, text)
    if options.comment is not None:
        write_atomically(options.comment, made["comment.md"])
    with readers_may_leave():
        _show(results, options, held, made)
    return exit_code(results, failing, frozenset() if held is None else held.accepted)


def _files(results: Sequence[ComparisonResult], held: Sorted | None) -> dict[str, str]:
    known = [] if held is None else baseline_words.lines_of(held)
    return {
        # What is written here is about one working tree: git must not offer it for a commit.
        ".gitignore": "*\n",
        "comment.md": comment(results, known),
        "summary.md": comment(results, known, limit=None),
        "comparison.json": comparison_json.render(results, held),
        "annotations.txt": comparison_github.commands(results, held),
        **{
            f"scenarios/{result.id_of(each)}.json": to_json(each.scenario)
            for result in results
            for each in _worth_a_file(result)
        },
    }


def _worth_a_file(result: ComparisonResult) -> list[Difference]:
    """Return the differences with the most alarming last: the same check may have gone and come."""
    return [each for kind in reversed(KINDS) for each in result.of_kind(kind)]


def _show(
    results: Sequence[ComparisonResult], options: OutputOptions, held: Sorted | None, made: dict[str, str]
) -> None:
    if options.format == "json":
        _print_raw(made["comparison.json"])
    elif options.format == "markdown":
        _print_raw(made["comment.md"])
    elif options.format == "github":
        _print_raw(made["annotations.txt"])
        if summary_file := os.environ.get(_STEP_SUMMARY):
            with Path(summary_file).open("ab") as file:
                file.write(made["summary.md"].encode("utf-8", "backslashreplace"))
    else:
        for result in results:
            print_comparison(console(), result)
        if held is not None:
            for line in (baseline_words.counts(held), *baseline_words.lines_of(held)):
                say(console(), line)
        print_next_steps(console(), results, str(options.report_dir))


def _print_raw(text: str) -> None:
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode())
