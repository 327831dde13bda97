"""Scenarios: lists of steps, the unit of generation, storage, replay, shrinking and report.

The file format is JSON with a schema version. Reading a file validates everything and lists all
problems at once; it never runs code.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from .errors import ScenarioFileError
from .faults import Fault
from .simplify import complexity, oddity
from .steps import Continue, OtherThread, Step, UserTurn

#: Version of the scenario file format. Readers accept this version and older ones.
SCHEMA_VERSION = 1

#: Larger files are not read, and no more problems than this are listed.
MAX_BYTES = 2_000_000
MAX_PROBLEMS = 20


@cache
def _steps() -> TypeAdapter[tuple[Step, ...]]:
    """Return what reads steps; made when a file is read, as it takes longer than all of this module."""
    return TypeAdapter(tuple[Annotated[Step, Field(discriminator="kind")], ...])


@dataclass(frozen=True, slots=True)
class Scenario:
    """A finite sequence of steps, frozen. Played on any candidate and lane it means the same."""

    steps: tuple[Step, ...] = ()

    def faults(self) -> tuple[Fault, ...]:
        """Return all planned faults, in order."""
        return tuple(f for s in self.steps if isinstance(s, (UserTurn, Continue)) for f in s.faults)

    def size(self) -> tuple[int, ...]:
        """Return a key that orders scenarios from simple to complex (used by shrinking)."""
        turns = [s for s in self.steps if isinstance(s, UserTurn)]
        rounds = [r for s in self.steps if isinstance(s, (UserTurn, Continue, OtherThread)) for r in s.rounds]
        faults = self.faults()
        numbers = (("minutes", 1), ("turns_ago", 1), ("keep", 1), ("calls", 100))
        return (
            len(self.steps),
            len(faults),
            sum(len(t.messages) for t in turns),
            len(rounds),
            sum(len(r.calls) for r in rounds),
            sum(map(complexity, faults)),
            oddity(self.steps),
            sum(abs(getattr(s, name, 0)) * weight for s in self.steps for name, weight in numbers),
        )

    def digest(self) -> str:
        """Return a stable hexadecimal digest of the content, 12 characters."""
        return hashlib.sha256(to_json(self).encode()).hexdigest()[:12]


def to_json(scenario: Scenario) -> str:
    """Serialise `scenario`; equal scenarios give equal bytes."""
    data = {
        "sixfold_scenario": SCHEMA_VERSION,
        "steps": [asdict(step) for step in scenario.steps],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def to_line(scenario: Scenario) -> str:
    """Serialise `scenario` on one line of ASCII: ten times as fast as `to_json`, and read alike."""
    data = {"sixfold_scenario": SCHEMA_VERSION, "steps": _steps().dump_python(scenario.steps, warnings=False)}
    return json.dumps(data, separators=(",", ":"))


def from_json(text: str, *, place: str = "scenario") -> Scenario:
    """Read a scenario from JSON `text`.

    Raises `ScenarioFileError` naming `place`, with every problem found, when the text is damaged,
    has unknown steps or comes from a later schema version.
    """
    remedy = "Use a file that `sixfold run` saved, or correct the places named."
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioFileError(f"not valid JSON: {error}", place=place, remedy=remedy) from error
    if not isinstance(data, dict) or "sixfold_scenario" not in data:
        raise ScenarioFileError("not a scenario: no 'sixfold_scenario' version", place=place, remedy=remedy)
    version = data["sixfold_scenario"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ScenarioFileError(f"schema version {version!r} is not a number", place=place, remedy=remedy)
    if version > SCHEMA_VERSION:
        raise ScenarioFileError(
            f"schema version {version} is from the future; this Sixfold reads up to {SCHEMA_VERSION}",
            place=place,
            remedy="Upgrade Sixfold, or save the scenario again with this version.",
        )
    problems = [f"unknown key {key!r}" for key in sorted(set(data) - {"sixfold_scenario", "steps"})]
    steps: tuple[Step, ...] = ()
    try:
        steps = _steps().validate_json(json.dumps(data.get("steps")))
    except ValidationError as error:
        every = error.errors()
        more = [f"and {len(every) - MAX_PROBLEMS} more"] if len(every) > MAX_PROBLEMS else []
        problems += [
            f"steps.{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in every[:MAX_PROBLEMS]
        ] + more
    if problems:
        raise ScenarioFileError(f"invalid scenario: {'; '.join(problems)}", place=place, remedy=remedy)
    return Scenario(steps)


def load(path: Path) -> Scenario:
    """Read a scenario file. Raises `ScenarioFileError` when it cannot be read or is invalid."""
    try:
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise ScenarioFileError(
                f"the file is larger than {MAX_BYTES:,} bytes",
                place=str(path),
                remedy="No scenario is that long.",
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioFileError(
            f"cannot read the file: {error}", place=str(path), remedy="Give the path of a scenario file."
        ) from error
    return from_json(text, place=str(path))
