"""Plans: scenarios in one line, a step by its name, followed by whatever is not as usual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from ..harness.faults import Fault
from ..harness.scenario import Scenario
from ..harness.steps import Step, ToolRound, UserMessage


def in_one_line(scenario: Scenario) -> str:
    """Return the scenario in one line; equal lines mean equal scenarios."""
    return ", ".join(map(told, scenario.steps))


def told(step: Step) -> str:
    """Return what a step does, in a few words, with every field that is not as usual."""
    name = "turn" if step.kind == "user_turn" else step.kind.replace("_", " ")
    details = "; ".join(_details(step))
    return f"{name} ({details})" if details else name


def _details(step: Any) -> Iterator[str]:
    for field in fields(step):
        value = getattr(step, field.name)
        if field.name == "kind" or value == field.default:
            continue
        match value:
            case (UserMessage(), *_) | (ToolRound(), *_) | (Fault(), *_):
                yield from map(_part, value)
            case True:
                yield field.name.replace("_", " ")
            case _:
                yield f"{field.name.replace('_', ' ')} {value}"


def _part(part: UserMessage | ToolRound | Fault) -> str:
    if isinstance(part, ToolRound):
        plain = len(set(map(_odd, part.calls))) == 1 and not _odd(part.calls[0])
        odd = "" if plain else f" [{'; '.join(_odd(call) or 'plain' for call in part.calls)}]"
        view = f" [{_odd(part)}]" if part.view != "calls" else ""
        return f"{len(part.calls)} call{'s' * (len(part.calls) > 1)}{odd}{view}"
    if isinstance(part, Fault):
        odd = _odd(part)
        return f"{part.kind} at {part.at}{f' [{odd}]' if odd else ''}"
    odd = _odd(part)
    return f"message [{odd}]" if odd else "message"


def _odd(part: Any) -> str:
    return ", ".join(
        f"{field.name} {getattr(part, field.name)}"
        for field in fields(part)
        if field.default is not MISSING
        and field.name != "calls"
        and getattr(part, field.name) != field.default
    )
