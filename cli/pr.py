"""`sixfold pr`: what a change of a git repository does to a middleware, from its base to its head."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from ..harness.deaths import Limits
from ..harness.errors import SixfoldError
from ..harness.harmless import harmless
from ..harness.sides.comparison import CompareOptions
from ..harness.sides.process import Side
from .compare import compared
from .comparison_output import OutputOptions, finish
from .run import budget_seconds
from .shipping import shipped
from .side_specs import SideSpec, sides_in
from .signals import ended_by_signals
from .worktrees import commit_of, copy_untracked, merge_base, root_of, uncommitted, worktrees

#: Hexadecimal digits of a commit that people are shown.
_SHORT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is compared: two refs of a repository. Without `head` it is the working tree as it is.

    `paths` are folders for modules and `python` is an executable, both sought in the worktrees; `setup` is
    a command that is run in each of them first.
    """

    base: str
    head: str | None = None
    from_merge_base: bool = True
    paths: tuple[str, ...] = ()
    python: str | None = None
    setup: str | None = None


@contextmanager
def checked_out(change: Change, folder: Path) -> Iterator[dict[str, Path]]:
    """Yield the folders of base and head that belong to `folder`, by label, set up; gone afterwards."""
    root = root_of(folder)
    head = change.head or "HEAD"
    base = merge_base(root, change.base, head) if change.from_merge_base else commit_of(root, change.base)
    tip = uncommitted(root) if change.head is None else commit_of(root, head)
    shown = "working tree" if change.head is None else f"{change.head} {tip[:_SHORT]}"
    commits = {f"base {change.base} {base[:_SHORT]}": base, f"head {shown}": tip}
    inside = folder.resolve().relative_to(root.resolve())
    with worktrees(root, commits) as folders:
        if change.head is None:
            copy_untracked(root, list(folders.values())[1])
        for label, worktree in folders.items():
            if change.setup is not None:
                _set_up(change.setup, worktree, label)
        yield {label: worktree / inside for label, worktree in folders.items()}


def _set_up(command: str, worktree: Path, label: str) -> None:
    """Run the command of the user in a worktree, in a shell. Raises `SixfoldError` when it fails."""
    environment = {**os.environ, "SIXFOLD_SIDE": label.partition(" ")[0]}
    done = subprocess.run(
        command, shell=True, cwd=worktree, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        raise SixfoldError(
            f"the setup of the {label} exits with {done.returncode}: {harmless(said[-1], 400)}",
            place=f"--setup {shlex.quote(command)}",
            remedy="Run it in a fresh clone: what it needs must be committed, or made by it.",
        )


def sides_of(change: Change, target: str, parts: Path, folders: dict[str, Path]) -> list[Side]:
    """Return base and head of one target."""
    specs = [SideSpec(target, label, python=change.python, paths=change.paths) for label in folders]
    return sides_in({spec: folders[spec.label] for spec in specs}, parts)


def pr_command(
    targets: Sequence[str],
    change: Change,
    *,
    seed: int,
    max_histories: int,
    budget: str | None,
    invariants: tuple[int, ...],
    output: OutputOptions,
    timeout: float,
) -> None:
    """Compare base and head for each target, print what differs, and exit with the code for it."""
    output.check()
    seconds = budget_seconds(budget)
    options = CompareOptions(
        seed=seed,
        max_histories=max_histories,
        budget=None if seconds is None else seconds / len(targets),
        invariants=invariants,
    )
    with ended_by_signals(), shipped() as parts, checked_out(change, Path.cwd()) as folders:
        results = [
            compared(sides_of(change, target, parts, folders), options, Limits(history=timeout))
            for target in targets
        ]
    raise typer.Exit(finish(results, output, invariants))
