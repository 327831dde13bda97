"""Simplification of plain data: how odd a step is, and the ways to make it one notch plainer.

Works on the dataclasses of the step vocabulary by their fields and defaults, so a new field needs no
code here. Faults have an order of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any, TypeVar, get_args

from .faults import FAULT_KINDS, HOOKS, PACKAGES, BadSummary, Fault

T = TypeVar("T")


def _plain_value(field: Field[Any]) -> Any:
    return None if field.default is MISSING else field.default


def oddity(value: Any) -> int:
    """Count the scalar fields that differ from their default, through all levels; faults apart."""
    if isinstance(value, Fault):
        return 0
    if isinstance(value, tuple):
        return sum(map(oddity, value))
    if not is_dataclass(value):
        return 0
    return sum(
        oddity(part) if isinstance(part := getattr(value, field.name), tuple) else part != _plain_value(field)
        for field in fields(value)
    )


def plainer(value: T) -> Iterator[T]:
    """Yield copies of a dataclass with one scalar field, at any level, set to its default."""
    for field in fields(value):  # type: ignore[arg-type]
        part = getattr(value, field.name)
        if isinstance(part, tuple):
            for index, item in enumerate(part):
                if is_dataclass(item) and not isinstance(item, Fault):
                    for simpler in plainer(item):
                        yield replace(value, **{field.name: with_item(part, index, simpler)})  # type: ignore[type-var]
        elif part != _plain_value(field):
            yield replace(value, **{field.name: _plain_value(field)})  # type: ignore[type-var]


def complexity(fault: Fault) -> int:
    """Return a number that orders faults from simple to complex."""
    detail = fault.keep if fault.kind == "partial_compaction" else 0
    if fault.kind == "bad_summary":
        detail = get_args(BadSummary).index(fault.summary)
    places = PACKAGES[fault.kind].places
    place = places.index(fault.at) if fault.at in places else len(places)
    kind = FAULT_KINDS.index(fault.kind)
    return kind * 1000 + place * 50 + fault.nth + fault.for_good + fault.member + detail


def simpler_faults(fault: Fault) -> Iterator[Fault]:
    """Yield faults that are simpler than `fault`, the simplest kinds first."""
    if fault.kind != "skip":
        yield from (Fault("skip", hook, member=fault.member) for hook in HOOKS)
    for kind in FAULT_KINDS[: FAULT_KINDS.index(fault.kind)]:
        if fault.at in PACKAGES[kind].places:
            yield replace(fault, kind=kind, for_good=False, keep=1, summary="empty")
    yield from (replace(fault, nth=n) for n in range(fault.nth))
    if fault.for_good:
        yield replace(fault, for_good=False)
    if fault.kind == "partial_compaction":
        yield from (replace(fault, keep=k) for k in range(fault.keep))
    if fault.kind == "bad_summary":
        kinds = get_args(BadSummary)
        yield from (replace(fault, summary=summary) for summary in kinds[: kinds.index(fault.summary)])
    places = PACKAGES[fault.kind].places
    if fault.at in places:
        yield from (replace(fault, at=at) for at in places[: places.index(fault.at)])


def without_item(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    """Return `items` without the one at `index`."""
    return items[:index] + items[index + 1 :]


def with_item(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    """Return `items` with the one at `index` replaced."""
    return (*items[:index], item, *items[index + 1 :])
