"""The registry of report formats. A format is one line: its name, what it is, and its `files`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from ..harness.errors import SixfoldError
from ..harness.findings import Finding
from . import github, html, junit, markdown, sarif, standalone, verdicts
from .stored_run import StoredRun

#: The name that stands for every format.
ALL = "all"

#: What is written when nobody asks for a format.
DEFAULT = "markdown"


class Output(NamedTuple):
    """A format.

    `files` returns names of files below the run folder's `reports/` and their texts: the same for the same
    run, without changing anything. `single` returns the text of one finding, in formats that have such a
    thing. `runs_files` tells whether stand-alone files are run for it, which takes seconds.
    """

    name: str
    title: str
    files: Callable[[StoredRun], dict[str, str]]
    single: Callable[[Finding, StoredRun], str] | None = None
    runs_files: bool = False


OUTPUTS: tuple[Output, ...] = (
    Output("markdown", "an issue text for each finding, for trackers", markdown.files, markdown.render, True),
    Output("html", "one page to look at, which loads nothing", html.files),
    Output("repro", "a stand-alone pytest file for each finding", standalone.files, runs_files=True),
    Output("junit", "JUnit XML, for CI servers", junit.files),
    Output("sarif", "SARIF 2.1.0, for code scanning and editors", sarif.files),
    Output("github", "annotations and a job summary, for GitHub Actions", github.files),
    Output("json", "the verdicts as they were saved, for programs", verdicts.files),
)


def chosen(names: Sequence[str]) -> tuple[Output, ...]:
    """Return the formats with these names, each once; the default without any.

    Raises `SixfoldError` for a name that no format has.
    """
    known = {output.name: output for output in OUTPUTS}
    for name in names:
        if name not in known and name != ALL:
            raise SixfoldError(f"unknown format {name!r}", place="--format", remedy=_remedy(name))
    if ALL in names:
        return OUTPUTS
    return tuple(known[name] for name in dict.fromkeys(names or (DEFAULT,)))


def _remedy(name: str) -> str:
    names = [*(output.name for output in OUTPUTS), ALL]
    close = get_close_matches(name, names, n=1)
    return f"{f'Did you mean {close[0]}? ' if close else ''}Use one of {', '.join(names)}."


def files_of(outputs: Sequence[Output], run: StoredRun) -> dict[str, str]:
    """Return the files of all these formats, made before any is written."""
    made: dict[str, str] = {}
    for output in outputs:
        made |= output.files(run)
    return made
