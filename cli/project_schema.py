"""The shape of `[tool.sixfold]`, and all its mistakes at once, each with place and remedy."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator

from ..harness.candidate import Candidate, Contract
from ..harness.errors import SixfoldError
from ..harness.plain import made_by_sixfold
from ..harness.steps import STEP_TYPES
from ..models.resolve import resolve
from .project import TABLE, Declared
from .run import budget_seconds

_STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)

#: What may stand in a contract's `outside`.
_OUTSIDE = (*(str(step().kind) for step in STEP_TYPES), "suffixed_ids", "empty_ids")

#: How much of a wrong value is shown.
_SHOWN = 60


def _contract_fields() -> dict[str, Any]:
    """Return the declarations of `Contract` as fields of a model."""
    hints = get_type_hints(Contract)
    hints["outside"] = frozenset[Literal[_OUTSIDE]]  # type: ignore[valid-type]
    return {field.name: (hints[field.name], field.default) for field in dataclasses.fields(Contract)}


_Contract: type[BaseModel] = create_model("_Contract", __config__=_STRICT, **_contract_fields())


class _Entry(BaseModel):
    """A candidate of the project."""

    model_config = _STRICT

    target: Annotated[str, Field(min_length=1)]
    contract: _Contract | None = None  # type: ignore[valid-type]


class Project(BaseModel):
    """The table, and the folder that its paths are relative to."""

    model_config = _STRICT

    candidates: dict[str, _Entry] = {}
    seed: int | None = None
    max_histories: Annotated[int, Field(ge=1)] | None = None
    budget: str | None = None
    invariants: Annotated[list[Annotated[int, Field(ge=1, le=6)]], Field(min_length=1)] | None = None
    report_dir: Annotated[str, Field(min_length=1)] | None = None
    format: Literal["terminal", "json"] | None = None
    folder: Path = Field(default=Path(), exclude=True, init=False)

    @field_validator("budget")
    @classmethod
    def _is_a_time(cls, given: str | None) -> str | None:
        try:
            budget_seconds(given)
        except SixfoldError as error:
            raise ValueError(f"{error.cause}. {error.remedy}") from error
        return given

    def options(self) -> dict[str, Any]:
        """Return the options that are set, by the names of the parameters of `sixfold run`."""
        given = self.model_dump(exclude_none=True, exclude={"candidates", "invariants", "folder"})
        if self.invariants is not None:
            given["invariant"] = self.invariants
        if self.report_dir is not None:
            given["report_dir"] = str(self.folder / self.report_dir)
        return given

    def targets(self) -> dict[str, Callable[[], Candidate]]:
        """Return the loaders of the candidates, by name."""
        return {name: functools.partial(self._load, name) for name in self.candidates}

    def declared(self, name: str) -> Declared | None:
        """Return what is said of the candidate of this name, None when there is none."""
        entry = self.candidates.get(name)
        if entry is None:
            return None
        contract: Any = entry.contract
        declares = {} if contract is None else contract.model_dump(mode="json", exclude_unset=True)
        return Declared(self._target_of(name), self.folder, name, declares)

    def _target_of(self, name: str) -> str:
        """Return the target of a candidate, its path seen from the working folder."""
        path, colon, inside = self.candidates[name].target.rpartition(":")
        return (
            f"{self.folder / path}{colon}{inside}" if path.endswith(".py") else self.candidates[name].target
        )

    def _load(self, name: str) -> Candidate:
        entry = self.candidates[name]
        path, colon, _ = entry.target.rpartition(":")
        target = self._target_of(name)
        if not path.endswith(".py") and colon and (folder := str(self.folder.resolve())) not in sys.path:
            sys.path.insert(0, folder)
        found = resolve(target)
        plain = found.plain or made_by_sixfold(target)
        candidate = dataclasses.replace(found, name=name, target=name, plain=plain)
        contract: Any = entry.contract
        if contract is None:
            return candidate
        declared = {key: getattr(contract, key) for key in contract.model_fields_set}
        return dataclasses.replace(candidate, contract=dataclasses.replace(candidate.contract, **declared))


def _written_out(table: Any) -> Any:
    """Return the table with each candidate that is its target alone as a table, too."""
    entries = table.get("candidates") if isinstance(table, dict) else None
    if not isinstance(entries, dict):
        return table
    long = {name: {"target": e} if isinstance(e, str) else e for name, e in entries.items()}
    return {**table, "candidates": long}


def read(path: Path, table: Any) -> Project:
    """Return the project whose table of the file `path` this is. Raises `SixfoldError` with all mistakes."""
    try:
        # JSON, as its arrays may be sets even where nothing else is converted.
        found = Project.model_validate_json(json.dumps(_written_out(table), default=str))
    except ValidationError as error:
        mistakes = [_explained(item) for item in error.errors()]
        count = "a mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise SixfoldError(
            f"[{TABLE}] has {count}", place=str(path), remedy="\n".join(["Correct the file:", *mistakes])
        ) from error
    folder = Path(os.path.relpath(path.parent))
    return found.model_copy(update={"folder": folder})


def _explained(mistake: Any) -> str:
    """Return place, mistake and remedy of one mistake, in one line."""
    place = [str(part) for part in mistake["loc"]]
    where = ".".join([TABLE, *place])
    if mistake["type"] == "extra_forbidden":
        known = sorted(_known_at(place[:-1]))
        close = get_close_matches(place[-1], known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        return f"{where}: there is no such key; {hint}"
    if mistake["type"] == "missing":
        return f"{where}: it is missing; add it"
    what = mistake["msg"].removeprefix("Value error, ")
    given = repr(mistake["input"])
    shown = given if len(given) <= _SHOWN else f"{given[: _SHOWN - 1]}…"
    return f"{where}: {what[:1].lower()}{what[1:]}; it is {shown}"


def _known_at(place: list[str]) -> Iterable[str]:
    """Return the keys that are known in the table at `place`."""
    if not place:
        return [name for name in Project.model_fields if name != "folder"]
    return _Contract.model_fields if place[-1] == "contract" else _Entry.model_fields
