"""A run as its folder holds it: what reports are written from, long after the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from ..harness.errors import SixfoldError
from ..harness.faults import FaultKind
from ..harness.figures import Figures
from ..harness.findings import Finding, Signature
from ..harness.history import History, history_from_json
from ..harness.ledger_file import ledger_from
from ..harness.plain import PlainTarget
from ..harness.run_folder import RUN_VERSION
from ..harness.scenario import from_json
from ..harness.verdicts import Verdict
from ..harness.wire_rules import Answer, Rejection, Rule

T = TypeVar("T")


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


class _FiguresData(TypedDict):
    """The sums of `figures_data`; the ratios are computed again."""

    histories: int
    turns: int
    requests: int
    sent: int
    resent: int
    tokens: int
    summaries: int
    stored: int
    id_growth: int
    needless_rewrites: int


class _PlainData(TypedDict):
    """What `plain_data` writes down."""

    place: str
    name: str
    arguments: list[list[str]] | None


class _CandidateData(TypedDict):
    """The part of a candidate's result that reports are written from."""

    name: str
    target: str
    source: str
    verdicts: dict[
        Literal["1", "2", "3", "4", "5", "6"], Literal["holds", "waived", "inconclusive", "violated"]
    ]
    violations: dict[str, int]
    waivers: dict[str, int]
    unreached: list[str]
    deterministic: bool
    figures: _FiguresData
    disagreement: dict[str, str] | None
    remark: NotRequired[str]
    warnings: NotRequired[list[str]]
    plain: NotRequired[_PlainData | None]


class _OptionsData(TypedDict):
    seed: int


class _RunData(TypedDict):
    options: _OptionsData
    versions: dict[str, str]
    histories: int
    complete: bool
    lanes_compared: int
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
    figures: Figures = field(default_factory=Figures)
    remark: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The findings of a run, the versions it ran on, its seed, and what a user types for each candidate.

    `disagreed` are the candidates on which the lanes disagree. `histories` were played on each of the
    `candidates`, fewer than asked for when the run is not `complete`; `lanes_compared` of them in both
    lanes. `verdicts_json` is the text of the file that all of this was read from.
    `beside` holds, by finding id, what the other candidates made of its scenario, where the folder has it.
    `plain` says how a program without Sixfold makes a candidate, for those that can be made so.
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
    lanes_compared: int = 0
    beside: dict[str, tuple[History, ...]] = field(default_factory=dict)
    plain: dict[str, PlainTarget] = field(default_factory=dict)


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
        data = _RUN.validate_python(_of_this_version(json.loads(text), file), strict=True)
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
            data["lanes_compared"],
            {entry["id"]: _beside(path, entry["history"]) for entry in data["findings"]},
            {
                candidate["name"]: _plain(stored)
                for candidate in candidates
                if (stored := candidate.get("plain")) is not None
            },
        )
    except _DAMAGE as error:
        raise _damaged(file, error) from error


#: What reading a file raises that is not as a run has left it.
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def _damaged(file: Path, error: Exception) -> SixfoldError:
    return SixfoldError(
        f"the run cannot be read: {type(error).__name__}: {error}",
        place=str(file),
        remedy="Run again, or restore the folder.",
    )


def _of_this_version(data: Any, file: Path) -> Any:
    """Return `data`. Raises `SixfoldError` when a later version of Sixfold has written it."""
    version = data.get("sixfold_run") if isinstance(data, dict) else None
    if isinstance(version, int) and version > RUN_VERSION:
        raise SixfoldError(
            f"the run was saved in format {version}, and this Sixfold reads up to {RUN_VERSION}",
            place=str(file),
            remedy="Install the version of Sixfold that made the run, or a later one.",
        )
    return data


def _part(path: Path, name: str, read: Callable[[str], T]) -> T:
    """Return what `read` makes of the file `name` of the run folder, which must be inside of it."""
    file = path / name
    if not file.resolve().is_relative_to(path.resolve()):
        raise ValueError(f"{name} is outside of the run folder")
    try:
        return read(file.read_text(encoding="utf-8"))
    except _DAMAGE as error:
        raise _damaged(file, error) from error


def _candidate(data: _CandidateData) -> StoredCandidate:
    sums = dict[str, Any](data["figures"])
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
        Figures(**{each.name: sums[each.name] for each in fields(Figures)}),
        data.get("remark", ""),
        tuple(data.get("warnings", ())),
    )


def _beside(path: Path, history: str) -> tuple[History, ...]:
    folder = (path / history).with_suffix("")
    others = sorted(folder.glob("*.json"), key=lambda file: (len(file.name), file.name))
    return tuple(_part(path, str(file.relative_to(path)), history_from_json) for file in others)


def _finding(path: Path, data: _FindingData) -> Finding:
    return Finding(
        Signature(data["candidate"], data["code"], data["by"], tuple(data["faults"])),
        _part(path, data["scenario"], lambda text: from_json(text, place=str(path / data["scenario"]))),
        _part(path, data["history"], history_from_json),
        data["record"],
        data["detail"],
        data["minimal"],
        data["confirmed"],
        tuple(data["held_by"]),
        data["histories"],
        tuple(data["members"]),
        tuple(map(_answer, data["providers"])),
        _part(path, data["ledger"], lambda text: ledger_from(json.loads(text))),
    )


def _plain(data: _PlainData) -> PlainTarget:
    given = data["arguments"]
    if given is None:
        return PlainTarget(data["place"], data["name"])
    return PlainTarget(data["place"], data["name"], tuple((name, shown) for name, shown in given))


def _answer(data: _Rejects) -> Answer:
    return Answer(data["name"], tuple(Rejection(**each) for each in data["rejects"]))
