"""The file of a baseline: TOML or JSON, committed beside the code, written for people who read diffs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from ..harness.baseline import Accepted, Baseline, Observed, Scope, Sorted
from ..harness.errors import SixfoldError
from ..harness.harmless import harmless
from ..harness.run_folder import write_atomically

_TEXTS = ("id", "candidate", "code", "reason", "owner")
_NEEDED = ("id", "candidate", "code")

_HEAD = """\
# Findings that are accepted for now: `sixfold run|compare|pr|nightly --baseline {name}`.
# Give each a reason, an owner, and the last day on which it is accepted (expires = 2026-12-31).
"""


def read(path: Path, *, may_be_missing: bool = False) -> Baseline:
    """Read a baseline. Raises `SixfoldError` for a file that is missing or damaged, and says where."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        if may_be_missing:
            return Baseline()
        raise SixfoldError(
            "there is no such file", place=f"--baseline {path}", remedy="Make it with --update-baseline."
        ) from error
    try:
        data: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        entries = data.get("accepted", []) if isinstance(data, dict) else None
        if not isinstance(entries, list) or set(data) - {"accepted"}:
            raise ValueError("it holds something else than a list called accepted")
        found = tuple(_entry(entry, number) for number, entry in enumerate(entries, 1))
        ids = [entry.id for entry in found]
        if twice := next((each for each in ids if ids.count(each) > 1), None):
            raise ValueError(f"{twice} is accepted twice")
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise SixfoldError(
            f"it is no baseline: {error}", place=str(path), remedy="Correct it; docs/ci.md shows one."
        ) from error
    return Baseline(found)


def _entry(data: Any, number: int) -> Accepted:
    where = f"entry {number}"
    if not isinstance(data, dict):
        raise ValueError(f"{where} is no table")
    if unknown := sorted(set(data) - {*_TEXTS, "expires"}):
        raise ValueError(f"{where} has {unknown[0]!r}, which is not one of {', '.join(_TEXTS)}, expires")
    texts = {name: data.get(name, "") for name in _TEXTS}
    if wrong := next((name for name, text in texts.items() if not isinstance(text, str)), None):
        raise ValueError(f"{where}: {wrong} is no text")
    if missing := next((name for name in _NEEDED if name not in data), None):
        raise ValueError(f"{where} has no {missing}")
    if texts["code"] and not texts["code"][0].isdecimal():
        raise ValueError(f"{where}: {texts['code']!r} is no check")
    expires = data.get("expires")
    if isinstance(expires, str):
        try:
            expires = date.fromisoformat(expires)
        except ValueError as error:
            raise ValueError(f"{where}: expires is no date such as 2026-12-31") from error
    if expires is not None and type(expires) is not date:
        raise ValueError(f"{where}: expires is no date such as 2026-12-31")
    return Accepted(**texts, expires=expires)


def write(path: Path, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all."""
    write_atomically(path, as_json(baseline) if path.suffix == ".json" else as_toml(path.name, baseline))


def _told(entry: Accepted) -> dict[str, str]:
    told = {name: getattr(entry, name) for name in _TEXTS}
    return told if entry.expires is None else {**told, "expires": entry.expires.isoformat()}


def as_json(baseline: Baseline) -> str:
    """Return the baseline as JSON."""
    entries = [_told(entry) for entry in baseline.entries]
    return json.dumps({"accepted": entries}, ensure_ascii=False, indent=2) + "\n"


def as_toml(name: str, baseline: Baseline) -> str:
    """Return the baseline as TOML, with a comment for those who edit it."""
    parts = [_HEAD.format(name=name)]
    for entry in baseline.entries:
        told = _told(entry)
        # A basic string of TOML is one of JSON, but for what `harmless` takes away.
        lines = [f"{key} = {json.dumps(harmless(told[key], 2000), ensure_ascii=False)}" for key in _TEXTS]
        lines += [f"expires = {told['expires']}"] if "expires" in told else []
        parts.append("\n".join(["[[accepted]]", *lines]) + "\n")
    return "\n".join(parts)


def today() -> date:
    """Return the day of the command: the only thing in a verdict that depends on the clock."""
    return date.today()


def settle(
    path: Path | None,
    observed: Callable[[], list[Observed]],
    scope: Scope,
    *,
    update: bool,
) -> Sorted | None:
    """Hold what was observed against the file, None without one; `update` writes the file first.

    Raises `SixfoldError` when there is nothing to update, or the file cannot be read.
    """
    if path is None:
        return None
    baseline = read(path, may_be_missing=update)
    if update:
        baseline = baseline.updated(observed(), scope)
        write(path, baseline)
    return baseline.sort(observed(), scope, today())


def check(path: Path | None, *, update: bool) -> None:
    """Complain before anything is played. Raises `SixfoldError` as `settle` does."""
    if path is None and update:
        raise SixfoldError(
            "there is no file to update", place="--update-baseline", remedy="Name it: --baseline FILE."
        )
    if path is not None:
        read(path, may_be_missing=update)
