"""The process of a side: another Python, which finds a target of its own and answers on its pipes."""

from __future__ import annotations

import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..deaths import Limits
from ..errors import TargetError
from ..harmless import harmless
from ..introduction import PROTOCOL
from ..nursery import Process
from ..orphans import end_marked
from ..remote import Remote
from ..watchdog import Worker

#: Characters of what a process wrote to stderr that its error may quote.
_QUOTED = 400

#: A variable of all processes of one comparison: what a target started is known by it, wherever it went.
_MARK = "SIXFOLD_COMPARISON"


@dataclass(frozen=True, slots=True)
class Side:
    """One build of a middleware: the worker's command, and what the worker finds around it.

    `label` names the side to people; `target` is loaded by the worker. `environment` holds all variables
    of the process, `folder` is where it runs. `declared` is what a project says of the target: its `name`,
    and what it `declares`.
    """

    label: str
    target: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    declared: Mapping[str, Any] = field(default_factory=dict)


def _begin(side: Side, complaints: IO[bytes], reading: int, writing: int) -> Process:
    try:
        return subprocess.Popen(
            side.command,
            stdin=reading,
            stdout=writing,
            stderr=complaints,
            env=dict(side.environment),
            cwd=side.folder,
            start_new_session=True,
        )
    except OSError as error:
        raise TargetError(
            f"cannot start {side.command[0]}: {error.strerror or error}",
            place=side.label,
            remedy="Name an executable that exists: the Python of an environment, or a worker.",
        ) from error


def _last_complaint(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return harmless(lines[-1], _QUOTED) if lines else ""


def _started(side: Side, limits: Limits) -> Worker:
    """Start a worker of the side. Raises `TargetError`, with what the process said last, when it cannot."""
    with tempfile.TemporaryFile() as complaints:
        try:
            worker = Worker(partial(_begin, side, complaints), side.target, limits, side.declared)
        except TargetError as error:
            said = _last_complaint(complaints)
            cause = f"{error.cause}: {said}" if said else error.cause
            raise TargetError(cause, place=f"{side.label}: {error.place}", remedy=error.remedy) from error
    spoken = worker.introduction.get("protocol")
    if spoken != PROTOCOL:
        worker.close()
        raise TargetError(
            f"the worker speaks version {spoken!r} of the protocol, and not {PROTOCOL}",
            place=side.label,
            remedy="Use the worker that belongs to this Sixfold, or see docs/protocol.md.",
        )
    return worker


def open_side(side: Side, limits: Limits) -> Remote:
    """Return the side as a subject, in a process that has loaded its target.

    Raises `TargetError` when the process cannot be started, or the target cannot be loaded there.
    """
    return Remote(partial(_started, side, limits), limits)


@contextmanager
def opened(sides: Sequence[Side], limits: Limits) -> Iterator[list[Remote | TargetError]]:
    """Open all sides, and end their processes behind the block; one that cannot be opened is its error."""
    subjects: list[Remote | TargetError] = []
    mark = f"{os.getpid()}-{secrets.token_hex(8)}"
    try:
        for side in sides:
            marked = replace(side, environment={**side.environment, _MARK: mark})
            try:
                subjects.append(open_side(marked, limits))
            except TargetError as error:
                subjects.append(error)
        yield subjects
    finally:
        for subject in subjects:
            if isinstance(subject, Remote):
                subject.close()
        end_marked(f"{_MARK}={mark}")
