"""`sixfold report`: write the reports of a finished run from its folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..harness.errors import SixfoldError
from ..harness.run_folder import write_together
from ..reports import github, standalone
from ..reports.outputs import ALL, OUTPUTS, Output, chosen, files_of
from ..reports.progress import counting
from ..reports.stored_run import StoredRun, load_run
from .console import console

#: Where the runner of GitHub Actions takes the summary of a step from.
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def list_formats() -> None:
    """Print the formats, one a line."""
    for output in OUTPUTS:
        console().print(f"{output.name:<12}{output.title}", markup=False, highlight=False, soft_wrap=True)


def report_command(path: Path, *, finding: str | None, formats: Sequence[str] = ()) -> None:
    """Write the reports of the run at `path` in these formats, or print them for one finding.

    Raises `SixfoldError` for an unknown format or finding, and for a folder that is no run.
    """
    outputs = chosen(formats)
    run = load_run(path)
    if finding is not None:
        _print_single(finding, [o for o in outputs if ALL not in formats or o.single is not None], run)
        return
    if any(output.runs_files for output in outputs):
        _run_files(run)
    made = files_of(outputs, run)
    if "github" in formats:
        sys.stdout.write(made[github.ANNOTATIONS].encode("utf-8", "backslashreplace").decode())
        summary_file = os.environ.get(_STEP_SUMMARY)
        if summary_file:
            _append(Path(summary_file), made.pop(github.SUMMARY))
    files = {path / "reports" / name: text for name, text in made.items()}
    write_together(files)
    for file in files:
        console().print(str(file), markup=False, highlight=False, soft_wrap=True)
    if not made:
        console().print("the run has no findings: nothing to report")


def _run_files(run: StoredRun) -> None:
    """Run the stand-alone files of the run before anything asks for them, and show how far it is."""
    with counting(console(sys.stderr), "running stand-alone tests") as follow:
        standalone.promises(run.findings, run, follow=follow)


def _print_single(finding: str, outputs: Sequence[Output], run: StoredRun) -> None:
    found = next((each for each in run.findings if each.id == finding), None)
    if found is None:
        known = ", ".join(each.id for each in run.findings) or "none at all"
        raise SixfoldError(
            f"the run has no finding {finding!r}", place=str(run.path), remedy=f"Its findings are {known}."
        )
    # Only the file of this finding needs to be run.
    run = replace(run, findings=(found,))
    for output in outputs:
        if output.single is None:
            able = ", ".join(each.name for each in OUTPUTS if each.single is not None)
            raise SixfoldError(
                f"the format {output.name} is about a whole run",
                place="--finding",
                remedy=f"Leave --finding out, or use one of {able}.",
            )
        if output.runs_files:
            _run_files(run)
        sys.stdout.write(output.single(found, run).encode("utf-8", "backslashreplace").decode())


def _append(path: Path, text: str) -> None:
    with path.open("ab") as file:
        file.write(text.encode("utf-8", "backslashreplace"))
