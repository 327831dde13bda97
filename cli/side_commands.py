"""The commands `compare` and `pr`. Heavy imports happen inside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Baseline, Invariants, Timeout, UpdateBaseline

sides = typer.Typer()

Seed = Annotated[int, typer.Option(help="The same seed gives the same scenarios.")]
Histories = Annotated[int, typer.Option(min=1, help="Scenarios to play on each side.")]
Budget = Annotated[str | None, typer.Option(help="Be done after this time, such as 90s or 2m.")]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND",
        help="Exit with 1 for this kind of difference: regressed, changed, fixed, still-violated, "
        "newly-inconclusive, none. May be repeated; regressed without.",
        show_default=False,
    ),
]
Format = Annotated[str, typer.Option(help="What to print: terminal, markdown, json or github.")]
ReportDir = Annotated[
    Path, typer.Option(help="Where the comment, the summary, JSON and scenarios are written.")
]


@sides.command()
def compare(
    named: Annotated[
        list[str],
        typer.Argument(
            metavar="BASE HEAD [HEAD]...",
            help="Targets. Behind commas: label=NAME, ref=COMMIT, python=EXECUTABLE, path=FOLDER, "
            "env=NAME:VALUE, worker=EXECUTABLE (docs/protocol.md).",
        ),
    ],
    seed: Seed = 0,
    max_histories: Histories = 1000,
    budget: Budget = "2m",
    invariant: Invariants = None,
    fail_on: FailOn = None,
    format: Format = "terminal",
    report_dir: ReportDir = Path(".sixfold/compare"),
    baseline: Baseline = None,
    update_baseline: UpdateBaseline = False,
    timeout: Timeout = 20.0,
) -> None:
    """Play the same scenarios on builds of one middleware: what regressed, what is fixed, what changed?"""
    from .compare import compare_command
    from .comparison_output import OutputOptions

    compare_command(
        named,
        seed=seed,
        max_histories=max_histories,
        budget=budget,
        invariants=tuple(sorted(set(invariant or ()))),
        output=OutputOptions(
            fail_on=fail_on or ("regressed",),
            format=format,
            report_dir=report_dir,
            baseline=baseline,
            update_baseline=update_baseline,
        ),
        timeout=timeout,
    )


@sides.command()
def pr(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="TARGET...", help="Catalogue names, pkg.module:Name or path/to/file.py:name."),
    ],
    base: Annotated[str, typer.Option(help="The commit, branch or tag that the change is for.")],
    head: Annotated[
        str | None,
        typer.Option(
            help="The commit, branch or tag of the change; the working tree as it is without.",
            show_default=False,
        ),
    ] = None,
    merge_base: Annotated[
        bool,
        typer.Option(
            "--merge-base/--no-merge-base", help="Compare with the commit in which head and base parted."
        ),
    ] = True,
    path: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR",
            help="Where modules are found, in the repository; may be repeated; src and the folder itself "
            "without.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            help="The Python of both sides, such as .venv/bin/python of a --setup; this one without.",
            show_default=False,
        ),
    ] = None,
    setup: Annotated[
        str | None,
        typer.Option(
            metavar="CMD", help="A command that is run in both worktrees first.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    max_histories: Histories = 1000,
    budget: Budget = "2m",
    invariant: Invariants = None,
    fail_on: FailOn = None,
    format: Format = "terminal",
    report_dir: ReportDir = Path(".sixfold/compare"),
    baseline: Baseline = None,
    update_baseline: UpdateBaseline = False,
    comment: Annotated[
        Path | None, typer.Option(help="Write the comment for the pull request here.", show_default=False)
    ] = None,
    timeout: Timeout = 20.0,
) -> None:
    """Evaluate a change: does it break an invariant, fix one, or change what the model sees?"""
    from .comparison_output import OutputOptions
    from .pr import Change, pr_command

    change = Change(
        base=base, head=head, from_merge_base=merge_base, paths=tuple(path or ()), python=python, setup=setup
    )
    pr_command(
        targets,
        change,
        seed=seed,
        max_histories=max_histories,
        budget=budget,
        invariants=tuple(sorted(set(invariant or ()))),
        output=OutputOptions(
            fail_on=fail_on or ("regressed",),
            format=format,
            report_dir=report_dir,
            comment=comment,
            baseline=baseline,
            update_baseline=update_baseline,
        ),
        timeout=timeout,
    )
