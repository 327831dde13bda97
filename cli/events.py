"""Who follows the events of a run: a file in its folder, and whatever `--events` names."""

from __future__ import annotations

import sys
from pathlib import Path

from ..harness.errors import SixfoldError
from ..reports.event_lines import FILE, EventLines

#: What stands for stdout on the command line.
STDOUT = "-"


def follower(where: str, output_format: str) -> EventLines:
    """Return a listener that writes to the file `where`, or to the stdout of now.

    Raises `SixfoldError` when the file cannot be opened, and when stdout is promised to another document.
    """
    if where != STDOUT:
        return EventLines.to_file(Path(where), place="--events")
    if output_format == "json":
        raise SixfoldError(
            "events and the JSON report would be mixed on stdout",
            place="--events -",
            remedy="Name a file for the events, or leave --format json out.",
        )
    # Bound now: what candidates print during the run is kept from sys.stdout.
    out = sys.stdout

    def write(text: str) -> None:
        out.write(text)
        out.flush()

    return EventLines(write, called="--events -")


def saved_events(folder: Path) -> EventLines:
    """Return a listener that writes to the run folder."""
    return EventLines.to_file(folder / FILE, place="run folder")
