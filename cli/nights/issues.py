"""Issue texts of new findings, each under the finding's id: one that is there already is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ...harness.campaign import Campaign
from ...harness.deaths import Limits
from ...harness.events import Options
from ...harness.nights.entries import Entry
from ...harness.run_folder import RunFolder, write_atomically
from ...harness.scenario import from_json
from ...reports import markdown
from ...reports.stored_run import load_run
from ..given import Given
from ..quiet import quiet
from ..subjects import subjects


def write_issues(
    folder: Path, entries: Sequence[Entry], targets: Sequence[str], timeout: float
) -> list[Path]:
    """Write an issue text for each finding that has none; return the files that were written."""
    written = []
    for entry in entries:
        path = folder / f"{entry.id}.md"
        if path.exists():
            continue
        text = _text_of(entry, targets, timeout)
        if text is not None:
            write_atomically(path, text)
            written.append(path)
    return written


def _text_of(entry: Entry, targets: Sequence[str], timeout: float) -> str | None:
    """Play the witness once more, as a run does, and return its report; None when it does not fail now."""
    with TemporaryDirectory() as base, quiet():
        with subjects(targets, isolated=True, limits=Limits(history=timeout)) as opened:
            folder = RunFolder(Path(base), "run")
            campaign = Campaign(opened, Options(max_histories=1), [folder])
            campaign.run(Given([from_json(entry.known.scenario)]))
        run = load_run(folder.path)
        found = next((finding for finding in run.findings if finding.id == entry.id), None)
        return None if found is None else markdown.render(found, run)
