"""A run as its folder holds it: what reports are written from, long after the run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..harness.errors import SixfoldError
from ..harness.findings import Finding, Signature
from ..harness.history import history_from_json
from ..harness.ledger_file import ledger_from
from ..harness.scenario import load
from ..harness.wire_rules import Answer, Rejection


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The findings of a run, the versions it ran on, its seed, and what a user types for each candidate."""

    path: Path
    seed: int
    versions: dict[str, str]
    targets: dict[str, str]
    sources: dict[str, str]
    findings: tuple[Finding, ...]


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
        data = json.loads(file.read_text(encoding="utf-8"))
        candidates = data["candidates"]
        return StoredRun(
            path,
            data["options"]["seed"],
            data["versions"],
            {candidate["name"]: candidate["target"] for candidate in candidates},
            {candidate["name"]: candidate["source"] for candidate in candidates},
            tuple(_finding(path, entry) for entry in data["findings"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SixfoldError(
            f"the run cannot be read: {type(error).__name__}: {error}",
            place=str(file),
            remedy="Run again, or restore the folder.",
        ) from error


def _finding(path: Path, data: dict[str, Any]) -> Finding:
    history = (path / "histories" / f"{data['id']}.json").read_text(encoding="utf-8")
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


def _answer(data: dict[str, Any]) -> Answer:
    return Answer(data["name"], tuple(Rejection(**rejection) for rejection in data["rejects"]))
