"""The scenario files that docs/systems.md links to: small, and equal to what was found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from sixfold.harness.scenario import SCHEMA_VERSION, Scenario

from .measured import Measured

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "systems"


def file_of(name: str, code: str) -> Path:
    """Return the file with the minimal scenario of a check that a system violates."""
    return FOLDER / f"{name}-{code}.json"


def small_json(scenario: Scenario) -> str:
    """Return the scenario as a file without the fields that are as usual."""
    data = {"sixfold_scenario": SCHEMA_VERSION, "steps": _plain(scenario.steps)}
    return json.dumps(data, indent=2) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not is_dataclass(value):
        return value
    told = {field.name: getattr(value, field.name) for field in fields(value) if _is_told(field, value)}
    return {name: _plain(each) for name, each in told.items()}


def _is_told(field: Any, value: Any) -> bool:
    usual = field.default is not MISSING and getattr(value, field.name) == field.default
    return field.name == "kind" or not usual


def write_all(systems: Iterable[Measured]) -> None:
    """Write the files of all systems, and delete those of findings that are gone."""
    FOLDER.mkdir(exist_ok=True)
    texts = {file_of(m.name, shown.code): small_json(shown.scenario) for m in systems for shown in m.shown}
    for file in set(FOLDER.glob("*.json")) - set(texts):
        file.unlink()
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
