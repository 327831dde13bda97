"""The run folder: options and seed, scenarios, histories and ledgers, verdicts; saved in phases.

A listener of the event stream. Files are written whole or not at all, and hold no wall-clock time:
equal runs give equal bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .errors import SixfoldError
from .events import (
    CandidateResult,
    Disagreed,
    Event,
    Found,
    HarnessBroke,
    RunFinished,
    RunResult,
    RunStarted,
)
from .figures import figures_data
from .findings import Finding
from .history import history_to_json
from .ledger_file import ledger_data
from .orphans import lives
from .plain import plain_data
from .scenario import to_json

#: The format of a run folder: it grows when the meaning of something that is stored changes.
RUN_VERSION = 1


def write_atomically(path: Path, text: str) -> None:
    """Write `text` to `path` so that readers see the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(text.encode("utf-8", "backslashreplace"))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_together(files: Mapping[Path, str]) -> None:
    """Write texts to files so that all of them are new, or all of them what they were before.

    Drafts of these files that killed processes have left are deleted. Raises `SixfoldError` with the file
    that cannot be written.
    """
    for folder in {path.parent for path in files}:
        for draft in folder.glob(".*.tmp"):
            name, _, pid = draft.name.removeprefix(".").removesuffix(".tmp").rpartition(".")
            if folder / name in files and pid.isdigit() and not lives(int(pid)):
                draft.unlink(missing_ok=True)
    drafts = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in files}
    path = Path()
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            drafts[path].write_bytes(text.encode("utf-8", "backslashreplace"))
        for path, draft in drafts.items():
            draft.replace(path)
    except OSError as error:
        raise SixfoldError(
            f"the file cannot be written: {error.strerror or error}",
            place=str(path),
            remedy="Make room on its disk, or check the rights of its folder, and repeat the command. "
            "The files of before are as they were.",
        ) from error
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, sort_keys=False) + "\n"


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return the plain data of a finding, without its scenario and history (they have files)."""
    signature = finding.signature
    return {
        "id": finding.id,
        "candidate": signature.candidate,
        "code": signature.code,
        "by": signature.by,
        "faults": list(signature.faults),
        "detail": finding.detail,
        "scenario": f"scenarios/{finding.id}.json",
        "history": f"histories/{finding.id}.json",
        "ledger": f"ledgers/{finding.id}.json",
        "record": finding.record,
        "minimal": finding.minimal,
        "confirmed": finding.confirmed,
        "held_by": list(finding.held_by),
        "histories": finding.histories,
        "members": list(finding.members),
        "providers": [
            {"name": answer.provider, "rejects": [rejection._asdict() for rejection in answer.rejections]}
            for answer in finding.providers
        ],
    }


def _candidate_data(result: CandidateResult) -> dict[str, Any]:
    doubt = result.disagreement
    return {
        "name": result.name,
        "target": result.target,
        "source": result.source,
        "verdicts": {str(number): str(verdict) for number, verdict in result.verdicts.items()},
        "violations": result.violations,
        "waivers": result.waivers,
        "reached": dict(sorted(result.reached.items())),
        "unreached": list(result.unreached),
        "deterministic": result.deterministic,
        "figures": figures_data(result.figures),
        "disagreement": None if doubt is None else {"reason": doubt.reason, "scenario": doubt.file},
        "plain": plain_data(result.plain),
        "remark": result.remark,
        "warnings": list(result.warnings),
    }


def result_data(result: RunResult) -> dict[str, Any]:
    """Return the plain data of a run, as `verdicts.json` holds it."""
    return {
        "sixfold_run": RUN_VERSION,
        "options": asdict(result.options),
        "versions": result.versions,
        "histories": result.histories,
        "complete": result.complete,
        "lanes_compared": result.lanes_compared,
        "candidates": [_candidate_data(candidate) for candidate in result.candidates],
        "findings": [finding_data(finding) for finding in result.findings],
    }


class RunFolder:
    """Saves a run below `base` in a folder called `name`, and points `latest` at it."""

    def __init__(self, base: Path, name: str) -> None:
        self.path = _fresh(base, name)

    def __call__(self, event: Event) -> None:
        """Save what the event brings."""
        match event:
            case RunStarted():
                self._save(
                    "options.json",
                    _json(
                        {
                            "sixfold_run": RUN_VERSION,
                            "options": asdict(event.options),
                            "candidates": list(event.candidates),
                            "versions": event.versions,
                        }
                    ),
                )
                _point_latest(self.path)
            case Found(finding=finding, beside=beside):
                self._save(f"scenarios/{finding.id}.json", to_json(finding.scenario))
                self._save(f"histories/{finding.id}.json", history_to_json(finding.history))
                for number, history in enumerate(beside):
                    self._save(f"histories/{finding.id}/{number}.json", history_to_json(history))
                self._save(f"ledgers/{finding.id}.json", _json(ledger_data(finding.ledger)))
            case Disagreed(disagreement=disagreement):
                self._save(disagreement.file, to_json(disagreement.scenario))
            case HarnessBroke(scenario=scenario, candidate=candidate, detail=detail):
                self._save("broken/scenario.json", to_json(scenario))
                self._save("broken/why.json", _json({"candidate": candidate, "detail": detail}))
            case RunFinished(result=result):
                self._save("verdicts.json", _json(result_data(result)))
            case _:
                pass

    def _save(self, name: str, text: str) -> None:
        write_atomically(self.path / name, text)


def _fresh(base: Path, name: str) -> Path:
    """Create and return a new folder `name` below `base`, numbered when it exists already."""
    try:
        for number in range(1, 1000):
            path = base / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        raise SixfoldError(
            f"the run folder cannot be made: {error.strerror or error}",
            place=str(base),
            remedy="Give a writable folder with --report-dir.",
        ) from error
    raise SixfoldError(
        "a thousand runs have this name already", place=str(base), remedy="Remove old run folders."
    )


def _point_latest(path: Path) -> None:
    link = path.parent / "latest"
    draft = path.parent / f".latest.{os.getpid()}"
    draft.unlink(missing_ok=True)
    draft.symlink_to(path.name)
    draft.replace(link)
