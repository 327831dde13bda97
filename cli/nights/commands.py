"""The commands `nightly`, `findings` and `trend`. Heavy imports happen inside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..options import Baseline, Timeout, UpdateBaseline

nights = typer.Typer()

Ledger = Annotated[Path, typer.Option(help="The findings ledger, a SQLite database.")]


@nights.command()
def nightly(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET]...", help="As for `sixfold run`.", show_default=False),
    ] = None,
    budget: Annotated[str, typer.Option(help="Play for this time, such as 30m or 8h.")] = "30m",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes; one for each core without.", show_default=False),
    ] = None,
    ledger: Ledger = Path(".sixfold/findings.db"),
    emit_issues: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write an issue text for each new finding here.", show_default=False
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Hand the work to dask.distributed: tcp://HOST:PORT, or local:N for N processes here.",
            show_default=False,
        ),
    ] = None,
    timeout: Timeout = 20.0,
    keep_spool: Annotated[bool, typer.Option("--keep-spool", help="Keep what workers wrote down.")] = False,
    baseline: Baseline = None,
    update_baseline: UpdateBaseline = False,
) -> None:
    """Fuzz for hours, and report only what is new since the last night."""
    from .nightly import nightly_command

    nightly_command(
        targets or [],
        budget=budget,
        workers=workers,
        ledger_file=ledger,
        emit_issues=emit_issues,
        cluster=cluster,
        timeout=timeout,
        keep_spool=keep_spool,
        baseline=baseline,
        update_baseline=update_baseline,
    )


@nights.command()
def findings(
    ledger: Ledger = Path(".sixfold/findings.db"),
    show: Annotated[str | None, typer.Option(metavar="ID", help="Show this one.", show_default=False)] = None,
    close: Annotated[
        str | None, typer.Option(metavar="ID", help="Note that this one is done with.", show_default=False)
    ] = None,
    remark: Annotated[str, typer.Option(help="Why it is closed.")] = "",
) -> None:
    """List what all nights have found, show a finding, or close one."""
    from .findings import findings_command

    findings_command(ledger, show=show, close=close, remark=remark)


@nights.command()
def trend(
    ledger: Ledger = Path(".sixfold/findings.db"),
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the trend as a page, too.", show_default=False),
    ] = None,
) -> None:
    """Show work, throughput, reach and findings from night to night."""
    from .findings import trend_command

    trend_command(ledger, html)
