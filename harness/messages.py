"""What a worker and its watchdog say to each other: lines of JSON, never pickles.

A candidate may write to the pipe as well. So an answer is data that is validated, and what is not valid
counts as the death of the worker (`garbled`).
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from .differential import Trial
from .history import history_from_json, history_to_json
from .invariants.reading import Reading
from .invariants.registry import Judged
from .ledger_file import ledger_data, ledger_from

T = TypeVar("T")

#: Longer answers are not read.
MAX_BYTES = 256_000_000


@cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def data_of(thing: Any, cls: Any) -> Any:
    """Return `thing`, which is a `cls`, as plain data."""
    return _adapter(cls).dump_python(thing)


def read_as(cls: type[T], data: Any) -> T:
    """Return what `data_of` made of a `cls`. Raises `ValueError` when it is something else."""
    known: Any = cls
    read: T = _adapter(known).validate_python(data)
    return read


def line_of(message: dict[str, Any]) -> bytes:
    """Return `message` as a line of ASCII; sets become sorted lists."""
    return json.dumps(message, default=sorted, separators=(",", ":")).encode("ascii") + b"\n"


def message_in(line: bytes) -> dict[str, Any]:
    """Return the message in `line`. Raises `ValueError` when it holds none."""
    try:
        message = json.loads(line)
    except RecursionError as error:
        raise ValueError("too deep") from error
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message


def trial_data(trial: Trial) -> dict[str, Any]:
    """Return everything that a trial holds, as plain data."""
    return {
        "history": history_to_json(trial.history),
        "ledger": ledger_data(trial.reading.ledger),
        "judged": data_of(trial.judged, tuple[Judged, ...]),
    }


def trial_from(data: dict[str, Any]) -> Trial:
    """Return the trial that `trial_data` wrote down. Raises `ValueError`, `KeyError` or `TypeError`."""
    history = history_from_json(data["history"])
    return Trial(
        history,
        Reading(ledger_from(data["ledger"]), history),
        read_as(tuple[Judged, ...], data["judged"]),
    )
