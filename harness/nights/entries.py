"""Entries of the findings ledger: findings and nights, as it gives them out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .shard import Known
from .status import Status


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding as the ledger keeps it. `remark` is what a person said of it; `told`: a night reported it."""

    id: str
    known: Known
    detail: str
    minimal: bool
    confirmed: bool | None
    members: tuple[str, ...]
    held_by: tuple[str, ...]
    histories: int
    first_night: int
    last_night: int
    status: Status
    remark: str
    told: bool


@dataclass(frozen=True, slots=True)
class Night:
    """What was done in a night. `seconds` is None while it goes on, or when it was killed."""

    number: int
    day: str
    revision: str
    targets: tuple[str, ...]
    seconds: float | None
    ended: str | None
    histories: int


def entry_of(
    number: str, candidate: str, code: str, place: str, faults: str, scenario: str, *rest: Any
) -> Entry:
    """Return the finding in a row of the database."""
    detail, minimal, confirmed, members, held_by, histories, first, last, status, remark, told = rest
    return Entry(
        number,
        Known(candidate, code, place, tuple(json.loads(faults)), scenario),
        detail,
        bool(minimal),
        None if confirmed is None else bool(confirmed),
        tuple(json.loads(members)),
        tuple(json.loads(held_by)),
        histories,
        first,
        last,
        status,
        remark,
        bool(told),
    )
