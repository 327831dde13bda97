"""`sixfold compare`: the same scenarios on two or more sides, and what differs between them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import typer
from rich.progress import Progress

from ..harness.deaths import Limits
from ..harness.errors import TargetError
from ..harness.remote import Remote
from ..harness.sides.comparison import CompareOptions, Comparison
from ..harness.sides.process import Side, opened
from ..harness.sides.result import ComparisonResult, SideResult
from ..strategies.scenarios import explore
from .comparison_output import OutputOptions, finish
from .console import console
from .run import budget_seconds
from .shipping import shipped
from .side_specs import SideSpec, labelled, parse_side, sides_in
from .signals import ended_by_signals
from .worktrees import commit_of, root_of, worktrees


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
    target = str(side.declared.get("name", side.target))
    if isinstance(subject, TargetError):
        why = f"{subject.cause} ({subject.place}). {subject.remedy}"
        return SideResult(side.label, target, troubles=(why,))
    remarks = [subject.remark] if subject.remark else []
    if not subject.virtual_datetime:
        remarks.append(
            "time-machine is missing in one of the environments: on all sides datetime.now() shows the real "
            "clock, and only the functions of time show that of the history"
        )
    return SideResult(side.label, target, subject.versions, remarks=tuple(remarks))


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
    output: OutputOptions,
    timeout: float,
) -> None:
    """Compare the sides, print what differs, and exit with the code for it."""
    output.check()
    options = CompareOptions(
        seed=seed, max_histories=max_histories, budget=budget_seconds(budget), invariants=invariants
    )
    specs = labelled([parse_side(side) for side in sides])
    with ended_by_signals(), sides_of(specs) as built:
        result = compared(built, options, Limits(history=timeout))
    raise typer.Exit(finish([result], output, invariants))
