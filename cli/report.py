"""`sixfold report`: write the reports of a finished run from its folder."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from ..harness.errors import SixfoldError
from ..harness.run_folder import write_atomically
from ..reports import markdown
from ..reports.stored_run import load_run


def report_command(path: Path, *, finding: str | None) -> None:
    """Write one issue text for each finding of the run at `path`, or print the one that is asked for."""
    run = load_run(path)
    if finding is None:
        console = Console()
        for each in run.findings:
            file = path / "reports" / f"{each.id}.md"
            write_atomically(file, markdown.render(each, run))
            console.print(str(file), markup=False, highlight=False, soft_wrap=True)
        if not run.findings:
            console.print("the run has no findings: nothing to report")
        return
    found = next((each for each in run.findings if each.id == finding), None)
    if found is None:
        known = ", ".join(each.id for each in run.findings) or "none at all"
        raise SixfoldError(
            f"the run has no finding {finding!r}", place=str(path), remedy=f"Its findings are {known}."
        )
    sys.stdout.write(markdown.render(found, run))
