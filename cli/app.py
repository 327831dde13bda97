"""The command line: `sixfold run`, `replay`, `report`, `compare`, `pr` and what helps with them.

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated

import typer

from .nights.commands import nights
from .options import Baseline, Invariants, Isolate, Timeout, UpdateBaseline
from .side_commands import sides

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find the bugs between a context middleware and the reducer that folds its update into history.",
    epilog="Exit codes: 0 nothing found, 1 findings, 2 inconclusive, 3 usage or target cannot be loaded, "
    "4 the harness itself is broken.",
)


app.add_typer(sides)
app.add_typer(nights)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sixfold {installed_version('sixfold')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of all commands."""


@app.command()
def run(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="Catalogue names, pkg.module:Name or path/to/file.py:name; without, the candidates in "
            "pyproject.toml, or five of the catalogue.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same scenarios and findings.")] = 0,
    max_histories: Annotated[int, typer.Option(min=1, help="Scenarios to generate.")] = 1000,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Stop generating after this time, such as 90s, 5m or 1h. A run that it cuts short is "
            "not reproducible byte for byte.",
            show_default=False,
        ),
    ] = None,
    invariant: Invariants = None,
    report_dir: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path(".sixfold/runs"),
    format: Annotated[str, typer.Option(help="What to print: terminal or json.")] = "terminal",
    events: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Write the events of the run here, too, as lines of JSON while it goes on; - is stdout. "
            "The run folder has them in events.ndjson.",
            show_default=False,
        ),
    ] = None,
    show_wiring: Annotated[
        bool, typer.Option("--show-wiring", help="Show how each target is constructed, and do not run.")
    ] = False,
    baseline: Baseline = None,
    update_baseline: UpdateBaseline = False,
    timeout: Timeout = 20.0,
    isolate: Isolate = True,
) -> None:
    """Fuzz candidates side by side; print the matrix and a minimal history for each distinct finding."""
    from .run import run_command

    run_command(
        targets or [],
        seed=seed,
        max_histories=max_histories,
        budget=budget,
        invariants=tuple(sorted(set(invariant or ()))),
        report_dir=report_dir,
        output_format=format,
        events=events,
        show_wiring=show_wiring,
        baseline=baseline,
        update_baseline=update_baseline,
        timeout=timeout,
        isolated=isolate,
    )


@app.command()
def replay(
    scenario: Annotated[
        Path,
        typer.Argument(help="A scenario file, such as RUN/scenarios/SF-….json; - is stdin."),
    ],
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="Candidates to play it on; without, those in pyproject.toml, or control.",
            show_default=False,
        ),
    ] = None,
    lane: Annotated[str, typer.Option(help="reducer, or graph for the real create_agent graph.")] = "reducer",
    timeout: Timeout = 20.0,
    isolate: Isolate = True,
) -> None:
    """Play a saved scenario step by step and judge what happens."""
    from .replay import replay_command

    replay_command(scenario, targets or [], lane=lane, timeout=timeout, isolated=isolate)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="[RUN]", help="The folder of a finished run.")] = Path(
        ".sixfold/runs/latest"
    ),
    finding: Annotated[
        str | None,
        typer.Option(help="Print the report of this finding only, such as SF-1a2b3c4d.", show_default=False),
    ] = None,
    format: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The format to write; may be repeated; all for every one; markdown without.",
            show_default=False,
        ),
    ] = None,
    only_list: Annotated[
        bool, typer.Option("--list-formats", help="List the formats, and write nothing.")
    ] = False,
) -> None:
    """Write the reports of a run below its folder: without options, an issue text for each finding."""
    from .report import list_formats, report_command

    if only_list:
        list_formats()
        return
    report_command(run, finding=finding, formats=format or ())


@app.command()
def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            help="A check code such as 4.question-lost, or an invariant's number; all codes without."
        ),
    ] = None,
) -> None:
    """Say what a check judges, why it matters, how a violation looks and how systems avoid it."""
    from .explain import explain_command

    explain_command(code)


@app.command("list")
def list_catalogue() -> None:
    """List the catalogue: names that can be used as targets."""
    from ..models.catalogue import sources

    for name, source in sources():
        typer.echo(f"{name:<32}{source}")


@app.command()
def init(
    target: Annotated[str, typer.Argument(help="pkg.module:Name or path/to/file.py:name.")],
    folder: Annotated[Path, typer.Option(help="Where the two files are written.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write an adapter for a target and a test that runs it, with what can be supplied filled in."""
    from .init import init_command

    init_command(target, folder=folder, force=force)


@app.command()
def doctor(
    target: Annotated[str, typer.Argument(help="A catalogue name, pkg.module:Name or path/to/file.py:name.")],
    histories: Annotated[int, typer.Option(min=1, help="Histories to play.")] = 40,
    format: Annotated[str, typer.Option(help="What to print: terminal or json.")] = "terminal",
    timeout: Timeout = 20.0,
    isolate: Isolate = True,
) -> None:
    """Say whether a target is ready to be fuzzed, and what to fix first; exit 1 when something is."""
    from .doctor import doctor_command

    doctor_command(target, histories=histories, output_format=format, timeout=timeout, isolated=isolate)


@app.command()
def audit(
    target: Annotated[
        str | None,
        typer.Argument(
            help="The middleware to mutate: a catalogue name, pkg.module:Name or path/to/file.py:name.",
            show_default=False,
        ),
    ] = None,
    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Make known mistakes in the middleware, and see who notices them."),
    ] = False,
    tests: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ARGUMENT",
            help="What pytest is given, such as a path; may be repeated; without, what it takes by itself.",
            show_default=False,
        ),
    ] = None,
    max_histories: Annotated[int, typer.Option(min=1, help="Histories to play on each mutant.")] = 200,
    max_mutants: Annotated[int, typer.Option(min=1, help="Mutants to run, spread over the rules.")] = 60,
    format: Annotated[str, typer.Option(help="What --mutate prints: terminal or json.")] = "terminal",
) -> None:
    """Say what a project's own tests can see of its middleware: do they judge the fold, or the shape?"""
    from .audit import audit_command

    audit_command(
        target,
        tests=tests or (),
        mutate=mutate,
        histories=max_histories,
        most=max_mutants,
        output_format=format,
    )


@app.command("import")
def import_histories(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL",
            help="JSON messages, or LangGraph checkpoints: a SQLite database, or postgresql://USER@HOST/DATABASE.",
        ),
    ],
    thread: Annotated[
        str | None, typer.Option(help="Import this thread only; all of them without.", show_default=False)
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Also write the messages with all words replaced, and name no thread anywhere.",
        ),
    ] = False,
    into: Annotated[
        Path | None,
        typer.Option(help="Where files are written; .sixfold/imported/NAME without.", show_default=False),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Play what was imported on this target, and shrink what fails; may be repeated.",
            show_default=False,
        ),
    ] = None,
    report_dir: Annotated[Path, typer.Option(help="Where the run folder of --on is made.")] = Path(
        ".sixfold/runs"
    ),
    timeout: Timeout = 20.0,
    isolate: Isolate = True,
) -> None:
    """Turn real histories into scenarios; no word of them gets into a scenario."""
    from .imported import import_command

    import_command(
        source,
        thread=thread,
        redact=redact,
        into=into,
        targets=on or (),
        timeout=timeout,
        isolated=isolate,
        report_dir=report_dir,
    )


def main() -> None:
    """Run the command line: the entry point `sixfold`."""
    from .guard import guarded

    guarded(app)
