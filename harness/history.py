"""The history of one candidate in one scenario: every update, fold, request and summariser call.

Recorded while the scenario is played, judged afterwards; plain data that can be written to disk and
judged again from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pydantic import TypeAdapter

from .faults import FaultKind
from .views import View, Views


class Fold(NamedTuple):
    """State messages after a fold. `by` is `user`, `model`, `tools`, `edit` or `<member>.<hook>`.

    `update` holds the messages of the update in order (`remove` views for removals). `again` are the ids
    of those that are the very objects a hook had handed over in an earlier turn, for the reducer to name.
    """

    turn: int
    by: str
    update: Views
    state: Views
    again: tuple[str, ...] = ()


class HookRan(NamedTuple):
    """A hook was reached. `outcome` is `nothing`, `update`, `skipped`, `lost` or `raised`."""

    turn: int
    by: str
    outcome: str
    error: str | None = None
    injected: bool = False


class Requested(NamedTuple):
    """The model was called: what it sees (`system` is the system prompt's text, if any).

    `edited_by` names the last hook that edited the request on its way, if one did.
    """

    turn: int
    call: int
    system: str
    messages: Views
    edited_by: str


class Summarised(NamedTuple):
    """A candidate called the auxiliary model. `failure` is None when it answered faithfully.

    `tokens` are the utterances mentioned in the prompt, `quoted` those whose words were in it. An answer
    that is not `faithful` need not keep them, without having failed in a way that can be told.
    """

    turn: int
    by: str
    tokens: tuple[str, ...]
    quoted: tuple[str, ...]
    failure: str | None
    faithful: bool = True


class FaultFired(NamedTuple):
    """A planned fault struck; `fault` is its number in the scenario's order, zero-based."""

    turn: int
    fault: int
    kind: FaultKind
    at: str
    by: str


class Mutated(NamedTuple):
    """A hook changed messages of the state in place: what they were and what they are now."""

    turn: int
    by: str
    before: Views
    after: Views


class Happened(NamedTuple):
    """Something from outside, such as a `restart`: mostly the kind of the step that did it."""

    turn: int
    what: str
    detail: str


class TurnEnded(NamedTuple):
    """The turn is over: `answered`, `aborted` (an error escaped the agent), `stopped` (by the scenario)
    or `cut` (the agent ended it early).

    `injected` tells whether the error that aborted it was an injected fault.
    """

    turn: int
    how: str
    error: str | None = None
    injected: bool = False
    by: str = ""


Record = Fold | HookRan | Requested | Summarised | FaultFired | Mutated | Happened | TurnEnded

_RECORD_TYPES: dict[str, type[Record]] = {
    cls.__name__: cls
    for cls in (Fold, HookRan, Requested, Summarised, FaultFired, Mutated, Happened, TurnEnded)
}


@dataclass(slots=True)
class History:
    """All records of one candidate in one scenario, in order."""

    candidate: str
    lane: str
    records: list[Record] = field(default_factory=list)
    version: ClassVar[int] = 1

    def fired(self) -> tuple[FaultFired, ...]:
        """Return the faults that fired, in order."""
        return tuple(r for r in self.records if isinstance(r, FaultFired))


def _plain(value: Any) -> Any:
    if isinstance(value, View):
        return dict(zip(View._fields, map(_plain, value), strict=True)) | {
            "mentions": [list(part) for part in value.mentions]
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def history_to_json(history: History) -> str:
    """Serialise `history` to JSON, a record a line; equal histories give equal bytes."""
    head = {"sixfold_history": History.version, "candidate": history.candidate, "lane": history.lane}
    fields = [f" {_encoded(name)}: {_encoded(value)},\n" for name, value in head.items()]
    records = [
        _encoded({"record": type(r).__name__} | dict(zip(r._fields, map(_plain, r), strict=True)))
        for r in history.records
    ]
    lines = "\n  " + ",\n  ".join(records) + "\n " if records else ""
    return f'{{\n{"".join(fields)} "records": [{lines}]\n}}\n'


#: Without indentation: with it `json` encodes in Python, which takes longer than a history is played.
_encoded = json.JSONEncoder(ensure_ascii=False).encode


@cache
def _reader(name: str) -> TypeAdapter[Record]:
    """Return what reads records of this name; made when a history is read, as it takes its time."""
    return TypeAdapter(_RECORD_TYPES[name])


def _record(data: dict[str, Any]) -> Record:
    return _reader(data.pop("record")).validate_python(data)


def history_from_json(text: str) -> History:
    """Read a history that `history_to_json` wrote. Raises `ValueError` or `KeyError` on damage."""
    data = json.loads(text)
    if data.get("sixfold_history") != History.version:
        raise ValueError(f"history version {data.get('sixfold_history')!r} is not {History.version}")
    return History(data["candidate"], data["lane"], [_record(dict(r)) for r in data["records"]])


def requests(records: Iterable[Record]) -> list[Requested]:
    """Return the model requests among `records`, in order."""
    return [r for r in records if isinstance(r, Requested)]
