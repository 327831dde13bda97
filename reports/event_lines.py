"""The events of a run as lines of JSON, written while it goes on.

docs/schemas/events.schema.json describes them. A listener: a file that cannot be written leaves the run and
its verdicts as they are. Lines are pure ASCII and hold no wall-clock time; equal runs give equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..harness.errors import SixfoldError
from ..harness.events import (
    Disagreed,
    Event,
    Found,
    HarnessBroke,
    Progressed,
    RunFinished,
    RunStarted,
    Stage,
)
from ..harness.run_folder import finding_data, result_data

#: The version of the lines; it grows when a reader of today would misread them.
VERSION = 1

#: The name of the file in a run folder.
FILE = "events.ndjson"

#: Longer text is cut: whoever follows a run reads it line by line, and the run folder holds the rest.
LONGEST_TEXT = 4000

_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_SURROGATE = re.compile("[\ud800-\udfff]")


def line(event: Event, sequence: int) -> str:
    """Return an event as one line of JSON; `sequence` counts the events of a run from 0."""
    name = _WORD.sub("-", type(event).__name__).lower()
    data = {"sixfold_events": VERSION, "sequence": sequence, "event": name, **_bounded(_told(event))}
    return json.dumps(data) + "\n"


def _told(event: object) -> dict[str, Any]:
    match event:
        case RunStarted(options=options, candidates=candidates, versions=versions):
            return {"options": asdict(options), "candidates": list(candidates), "versions": versions}
        case Progressed():
            return asdict(event)
        case Stage(name=name):
            return {"stage": name}
        case Found(finding=finding):
            return {"finding": finding_data(finding)}
        case Disagreed(disagreement=doubt):
            return {"candidate": doubt.candidate, "reason": doubt.reason, "scenario": doubt.file}
        case HarnessBroke(candidate=candidate, scenario=scenario, detail=detail):
            return {"candidate": candidate, "detail": detail, "scenario": scenario.digest()}
        case RunFinished(result=result):
            whole = result_data(result)
            found = {"findings": [finding.id for finding in result.findings]}
            return {
                name: whole[name] for name in ("histories", "complete", "lanes_compared", "candidates")
            } | found
        case _:
            return {}


def _bounded(value: Any) -> Any:
    """Return `value` with texts that every reader takes: of bounded length, without lone surrogates."""
    match value:
        case str():
            short = value if len(value) <= LONGEST_TEXT else value[: LONGEST_TEXT - 1] + "…"
            return _SURROGATE.sub("�", short)
        case dict():
            return {_bounded(str(key)): _bounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_bounded(item) for item in value]
        case _:
            return value


class EventLines:
    """A listener that hands each event to `write` as a line, and calls `close` after the last one.

    `called` is its name for people: the option and the file, where there is one.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        close: Callable[[], object] = lambda: None,
        *,
        called: str = "",
    ) -> None:
        self.called = called
        self._write = write
        self._close = close
        self._sequence = 0

    @classmethod
    def to_file(cls, path: Path, *, place: str) -> EventLines:
        """Return a listener that writes to `path`, unbuffered, so that readers can follow the run.

        Raises `SixfoldError` naming `place` when the file cannot be opened.
        """
        try:
            file = path.open("wb", buffering=0)
        except OSError as error:
            raise SixfoldError(
                f"the file for events cannot be written: {error.strerror or error}",
                place=f"{place} {path}",
                remedy="Name a file in a folder that can be written.",
            ) from error

        def write(text: str) -> None:
            left = memoryview(text.encode())
            while left:
                left = left[file.write(left) :]

        return cls(write, file.close, called=f"{place} {path}")

    def __call__(self, event: Event) -> None:
        """Write the event; after the last one of a run, close the file."""
        self._write(line(event, self._sequence))
        self._sequence += 1
        if isinstance(event, (RunFinished, HarnessBroke)):
            self._close()
