"""`sixfold compare`: the same scenarios on two or more sides, and what differs between them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import typer
from rich.progress import Progress

from ..harness.deaths import Limits
from ..harness.errors import ExitCode, SixfoldError, TargetError
from ..harness.remote import Remote
from ..harness.sides.comparison import CompareOptions, Comparison
from ..harness.sides.process import Side, opened
from ..harness.sides.result import KINDS, ComparisonResult, DifferenceKind, SideResult
from ..reports import comparison_json
from ..reports.comparison_markdown import comment
from ..reports.comparison_terminal import print_comparison
from ..strategies.scenarios import explore
from .console import console, readers_may_leave
from .run import budget_seconds
from .shipping import shipped
from .side_specs import SideSpec, labelled, parse_side, sides_in
from .worktrees import commit_of, root_of, worktrees

_FORMATS = ("terminal", "markdown", "json")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a request to end from outside end the block as Ctrl-C does: what was set up is taken down."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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


def exit_code(results: Sequence[ComparisonResult], failing: frozenset[DifferenceKind]) -> ExitCode:
    """Return 1 when there is a difference of a failing kind, 2 when something is inconclusive, else 0."""
    if any(difference.kind in failing for result in results for difference in result.differences):
        return ExitCode.FINDINGS
    return ExitCode.INCONCLUSIVE if any(result.inconclusive for result in results) else ExitCode.NOTHING_NEW


def compared(sides: Sequence[Side], options: CompareOptions, limits: Limits) -> ComparisonResult:
    """Play on all sides that can be loaded; one that cannot is in the result, with the reason."""
    with (
        opened(sides, limits) as subjects,
        Progress(console=console(sys.stderr), transient=True, disable=not sys.stderr.isatty()) as bar,
    ):
        task = bar.add_task("histories", total=options.max_histories)
        described = [_described(*each) for each in zip(sides, subjects, strict=True)]
        living = [subject for subject in subjects if isinstance(subject, Remote)]
        if isinstance(subjects[0], TargetError) or len(living) < 2:  # noqa: PLR2004  a base and a head
            return ComparisonResult(options.seed, 0, False, tuple(described), ())
        of_living = [d for d, s in zip(described, subjects, strict=True) if isinstance(s, Remote)]
        result = Comparison(
            living, of_living, options, lambda done, of: bar.update(task, completed=done, total=of)
        ).run(explore)
    known = iter(result.sides)
    told = tuple(
        next(known) if isinstance(s, Remote) else d for d, s in zip(described, subjects, strict=True)
    )
    return ComparisonResult(result.seed, result.histories, result.complete, told, result.differences)


def _described(side: Side, subject: Remote | TargetError) -> SideResult:
    if isinstance(subject, TargetError):
        why = f"{subject.cause} ({subject.place}). {subject.remedy}"
        return SideResult(side.label, side.target, troubles=(why,))
    remarks = [subject.remark] if subject.remark else []
    if not subject.virtual_datetime:
        remarks.append(
            "time-machine is missing in one of the environments: on all sides datetime.now() shows the real "
            "clock, and only the functions of time show that of the history"
        )
    return SideResult(side.label, side.target, subject.versions, remarks=tuple(remarks))


@contextmanager
def sides_of(specs: Sequence[SideSpec]) -> Iterator[list[Side]]:
    """Yield the sides, with their commits checked out."""
    with ExitStack() as stack:
        parts = stack.enter_context(shipped())
        folders: dict[str, Path] = {}
        if any(spec.ref for spec in specs):
            root = root_of(Path.cwd())
            commits = {spec.label: commit_of(root, spec.ref) for spec in specs if spec.ref}
            folders = stack.enter_context(worktrees(root, commits))
        yield sides_in({spec: folders.get(spec.label, Path.cwd()) for spec in specs}, parts)


def compare_command(
    sides: Sequence[str],
    *,
    seed: int,
    max_histories: int,
    budget: str | None,
    invariants: tuple[int, ...],
    fail_on: Sequence[str],
    output_format: str,
    timeout: float,
) -> None:
    """Compare the sides, print what differs, and exit with the code for it."""
    check_format(output_format)
    failing = failing_kinds(fail_on)
    options = CompareOptions(
        seed=seed, max_histories=max_histories, budget=budget_seconds(budget), invariants=invariants
    )
    specs = labelled([parse_side(side) for side in sides])
    with ended_by_signals(), sides_of(specs) as built:
        result = compared(built, options, Limits(history=timeout))
    show([result], output_format)
    raise typer.Exit(exit_code([result], failing))


def check_format(output_format: str) -> None:
    """Raise `SixfoldError` for an unknown format."""
    if output_format not in _FORMATS:
        raise SixfoldError(
            f"unknown format {output_format!r}", place="--format", remedy=f"Use one of {', '.join(_FORMATS)}."
        )


def show(results: Sequence[ComparisonResult], output_format: str) -> None:
    """Print results in a format."""
    with readers_may_leave():
        if output_format == "json":
            sys.stdout.write(comparison_json.render(results))
        elif output_format == "markdown":
            sys.stdout.write(comment(results))
        else:
            for result in results:
                print_comparison(console(), result)
