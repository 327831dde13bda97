"""A run as its folder holds it: what reports are written from, long after the run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from ..harness.errors import SixfoldError
from ..harness.faults import FaultKind
from ..harness.findings import Finding, Signature
from ..harness.history import history_from_json
from ..harness.ledger_file import ledger_from
from ..harness.scenario import load
from ..harness.verdicts import Verdict
from ..harness.wire_rules import Answer, Rejection, Rule


class _Reason(TypedDict):
    rule: Rule
    detail: str


class _Rejects(TypedDict):
    name: str
    rejects: list[_Reason]


class _FindingData(TypedDict):
    """What `finding_data` writes down."""

    id: str
    candidate: str
    code: str
    by: str
    faults: list[FaultKind]
    detail: str
    scenario: str
    history: str
    ledger: str
    record: Annotated[int, Field(ge=0)]
    minimal: bool
    confirmed: bool | None
    held_by: list[str]
    histories: int
    members: list[str]
    providers: list[_Rejects]


class _CandidateData(TypedDict):
    """The part of a candidate's result that reports are written from."""

    name: str
    target: str
    source: str
    verdicts: dict[str, str]
    violations: dict[str, int]
    waivers: dict[str, int]
    unreached: list[str]
    deterministic: bool
    disagreement: dict[str, str] | None


class _OptionsData(TypedDict):
    seed: int


class _RunData(TypedDict):
    options: _OptionsData
    versions: dict[str, str]
    histories: int
    complete: bool
    candidates: list[_CandidateData]
    findings: list[_FindingData]


_RUN: TypeAdapter[_RunData] = TypeAdapter(_RunData)


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """What a run said of one candidate; see `CandidateResult`. `disagreement` is the reason as a sentence."""

    name: str
    target: str
    source: str
    verdicts: dict[int, Verdict]
    violations: dict[str, int] = field(default_factory=dict)
    waivers: dict[str, int] = field(default_factory=dict)
    unreached: tuple[str, ...] = ()
    deterministic: bool = True
    disagreement: str | None = None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The findings of a run, the versions it ran on, its seed, and what a user types for each candidate.

    `disagreed` are the candidates on which the lanes disagree. `verdicts_json` is the text of the file that
    all of this was read from; `complete` is False when a budget ended the run early.
    """

    path: Path
    seed: int
    versions: dict[str, str]
    targets: dict[str, str]
    sources: dict[str, str]
    findings: tuple[Finding, ...]
    disagreed: frozenset[str] = frozenset()
    candidates: tuple[StoredCandidate, ...] = ()
    histories: int = 0
    complete: bool = True
    verdicts_json: str = field(default="", repr=False)


def load_run(path: Path) -> StoredRun:
    """Read a run folder. Raises `SixfoldError` when it is none, unfinished or damaged."""
    file = path / "verdicts.json"
    if not file.is_file():
        raise SixfoldError(
            "this is not the folder of a finished run: it has no verdicts.json",
            place=str(path),
            remedy="Name a folder below .sixfold/runs, or run `sixfold run` first.",
        )
    try:
        text = file.read_bytes().decode()
        data = _RUN.validate_python(json.loads(text), strict=True)
        candidates = data["candidates"]
        return StoredRun(
            path,
            data["options"]["seed"],
            data["versions"],
            {candidate["name"]: candidate["target"] for candidate in candidates},
            {candidate["name"]: candidate["source"] for candidate in candidates},
            tuple(_finding(path, entry) for entry in data["findings"]),
            frozenset(candidate["name"] for candidate in candidates if candidate["disagreement"]),
            tuple(map(_candidate, candidates)),
            data["histories"],
            data["complete"],
            text,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SixfoldError(
            f"the run cannot be read: {type(error).__name__}: {error}",
            place=str(file),
            remedy="Run again, or restore the folder.",
        ) from error


def _candidate(data: _CandidateData) -> StoredCandidate:
    doubt = data["disagreement"]
    return StoredCandidate(
        data["name"],
        data["target"],
        data["source"],
        {int(number): Verdict(verdict) for number, verdict in data["verdicts"].items()},
        data["violations"],
        data["waivers"],
        tuple(data["unreached"]),
        data["deterministic"],
        None if doubt is None else doubt["reason"],
    )


def _finding(path: Path, data: _FindingData) -> Finding:
    history = (path / data["history"]).read_text(encoding="utf-8")
    return Finding(
        Signature(data["candidate"], data["code"], data["by"], tuple(data["faults"])),
        load(path / data["scenario"]),
        history_from_json(history),
        data["record"],
        data["detail"],
        data["minimal"],
        data["confirmed"],
        tuple(data["held_by"]),
        data["histories"],
        tuple(data["members"]),
        tuple(map(_answer, data["providers"])),
        ledger_from(json.loads((path / data["ledger"]).read_text(encoding="utf-8"))),
    )


def _answer(data: _Rejects) -> Answer:
    return Answer(data["name"], tuple(Rejection(**each) for each in data["rejects"]))
