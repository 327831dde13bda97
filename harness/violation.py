"""What a test raises when a candidate breaks an invariant, with all that its reader needs to look at it."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any

from .candidate import Candidate
from .harmless import harmless
from .history import History
from .picture import timeline
from .scenario import SCHEMA_VERSION, Scenario

#: Lines of a picture that a note shows: the last ones, as the violation is at their end.
_LINES = 40


class InvariantViolation(AssertionError):
    """A candidate broke an invariant; `code` is the check, `scenario` the steps up to here.

    Its notes hold a picture of the history and a command that replays it.
    """

    def __init__(self, candidate: str, code: str, detail: str, scenario: Scenario) -> None:
        super().__init__(f"{harmless(candidate, 200)} violates {code}: {harmless(detail)}")
        self.candidate = candidate
        self.code = code
        self.scenario = scenario


@lru_cache(maxsize=1_024)
def _kind(candidate: str, code: str) -> type[InvariantViolation]:
    """Return the class for violations of one check by one candidate.

    Hypothesis tells failures apart by their class and line: so each is shrunk and reported by itself.
    """
    return type(
        "InvariantViolation", (InvariantViolation,), {"__doc__": f"{code}, by {harmless(candidate, 200)}."}
    )


def violation(
    candidate: Candidate, code: str, detail: str, scenario: Scenario, history: History, record: int
) -> InvariantViolation:
    """Return the error for a violation that `record` of the history shows, with its notes."""
    error = _kind(candidate.name, code)(candidate.name, code, detail, scenario)
    if sys.version_info >= (3, 11):  # what a worker of Python 3.10 imports, and never calls
        error.add_note("\n".join(_picture(history, record, f"{code}: {harmless(detail)}")))
        error.add_note(f"replay it: {replay_command(scenario, candidate)}")
    return error


def _picture(history: History, record: int, remark: str) -> list[str]:
    rows = timeline(history)
    at = max((n for n, (_, _, index) in enumerate(rows) if index <= record), default=-1)
    lines = [f"  {who}: {what}" if what else f"  {who}" for who, what, _ in rows[: at + 1]]
    left_out = len(lines) - _LINES
    shown = lines if left_out <= 0 else [f"  … {left_out} lines before", *lines[-_LINES:]]
    return [*shown, f"      ← {remark}"]


#: What stands in a command for a target that nobody knows, with the remedy as a comment of the shell.
UNNAMED_TARGET = "TARGET  # its import path: package.module:Name, or file.py:Name"


def replay_command(scenario: Scenario, candidate: Candidate) -> str:
    """Return a command line, without any file, that replays `scenario` on the candidate."""
    return replay_line(scenario, candidate.target)


def replay_line(scenario: Scenario, target: str | None) -> str:
    """Return a command line, without any file, that replays `scenario` on the target.

    What no import path names is called TARGET: its reader must say what it is, as a comment tells.
    """
    named = shlex.quote(harmless(target, 1000)) if target else UNNAMED_TARGET
    return f"echo {shlex.quote(compact(scenario))} | sixfold replay - {named}"


def compact(scenario: Scenario) -> str:
    """Return the scenario as JSON on one line, without the fields that are as usual."""
    data = {"sixfold_scenario": SCHEMA_VERSION, "steps": [_told(step) for step in scenario.steps]}
    return json.dumps(data, separators=(",", ":"))


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_told(item) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    told = {f.name: _told(getattr(value, f.name)) for f in fields(value) if not _is_usual(value, f)}
    return {"kind": value.kind, **told} if hasattr(value, "kind") else told


def _is_usual(value: Any, field: Any) -> bool:
    default = field.default
    return default is not MISSING and getattr(value, field.name) == default
