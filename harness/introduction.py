"""Introductions: what a worker says of its candidate, which cannot be sent itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .candidate import Candidate, Contract, Middleware
from .clock import SHOWS_DATETIME
from .environment import Environment
from .errors import HarnessBrokenError, TargetError
from .faults import FaultPlace
from .messages import data_of, read_as
from .plain import PlainTarget
from .subject import Subject
from .versions import installed_versions

#: The version of what a worker and its watchdog say to each other (docs/protocol.md).
PROTOCOL = 1

_TEXTS = ("name", "source", "target", "wiring")


class Introduced(NamedTuple):
    """A candidate elsewhere: its places for faults, how it is played, and the forms in which it runs."""

    candidate: Candidate
    places: frozenset[FaultPlace]
    remark: str
    graph_only: bool
    runs_sync: bool
    runs_async: bool


def introduce(subject: Subject) -> dict[str, Any]:
    """Return what is to be known of the subject, as plain data."""
    candidate = subject.candidate
    return {
        **{name: getattr(candidate, name) for name in _TEXTS},
        "contract": data_of(candidate.contract, Contract),
        "plain": None if candidate.plain is None else data_of(candidate.plain, PlainTarget),
        "places": sorted(subject.places()),
        "remark": subject.remark,
        "forms": [subject.graph_only, subject.runs_sync, subject.runs_async],
        "protocol": PROTOCOL,
        "virtual_datetime": SHOWS_DATETIME,
        "versions": installed_versions(),
    }


def as_declared(candidate: Candidate, question: Mapping[str, Any]) -> Candidate:
    """Return the candidate under the `name` that the question gives it, if any, and with what it `declares`.

    Raises `TargetError` for what no contract can declare.
    """
    name = question.get("name")
    if name is not None:
        candidate = replace(candidate, name=str(name), target=str(name))
    declares = question.get("declares")
    if not declares:
        return candidate
    try:
        own = data_of(candidate.contract, Contract)
        return replace(candidate, contract=read_as(Contract, {**own, **declares}))
    except (ValueError, TypeError) as error:
        raise TargetError(
            f"it cannot declare {declares!r}"[:400],
            place=candidate.name,
            remedy="Use what docs/writing-a-candidate.md says of contracts.",
        ) from error


def introduced(data: dict[str, Any]) -> Introduced:
    """Return what `introduce` wrote down. Raises `TargetError` on damage: the candidate did it."""

    def elsewhere(_environment: Environment) -> Sequence[Middleware]:
        raise HarnessBrokenError(
            "the candidate of a worker was built here", place=str(data["name"]), remedy="Please report this."
        )

    try:
        known = {name: str(data[name]) for name in _TEXTS}
        contract = read_as(Contract, data["contract"])
        plain = None if data["plain"] is None else read_as(PlainTarget, data["plain"])
        candidate = Candidate(build=elsewhere, contract=contract, plain=plain, **known)
        places, remark = read_as(frozenset[FaultPlace], data["places"]), str(data["remark"])
        return Introduced(candidate, places, remark, *read_as(tuple[bool, bool, bool], data["forms"]))
    except (ValueError, KeyError, TypeError) as error:
        raise TargetError(
            "the target wrote over what its worker says of it",
            place=str(data.get("target", "?")),
            remedy="Write to files of your own only.",
        ) from error
