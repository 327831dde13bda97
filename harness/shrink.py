"""Shrinking: from a failing scenario to the smallest one that fails the same way.

Scenarios are plain data, so shrinking needs no random choices and works on imported and saved ones
as well as on generated ones. The result is 1-minimal: no single step, fault, round, call or message
can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from .scenario import Scenario
from .simplify import plainer, simpler_faults, with_item, without_item
from .steps import (
    AdvanceClock,
    Continue,
    DeleteTurn,
    EditMessage,
    LoadTurn,
    OtherThread,
    Rewind,
    Step,
    TrimState,
    UserTurn,
)

Run = TypeVar("Run", UserTurn, Continue)
Working = TypeVar("Working", UserTurn, Continue, OtherThread)

#: Attempts after which shrinking gives up and reports what it has.
MAX_ATTEMPTS = 2_000


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest scenario found, whether it is 1-minimal, and how many attempts were made."""

    scenario: Scenario
    minimal: bool
    attempts: int


def shrink(scenario: Scenario, fails: Callable[[Scenario], bool], *, attempts: int = MAX_ATTEMPTS) -> Shrunk:
    """Return the smallest scenario for which `fails` is still true.

    `scenario` itself must fail. Candidates are tried from bold to careful, and the first that fails
    is taken, until none does.
    """
    tried = {scenario}
    made = 0
    current = scenario
    progress = True
    while progress:
        progress = False
        for simpler in _simpler(current):
            if simpler in tried or simpler.size() >= current.size():
                continue
            if made >= attempts:
                return Shrunk(current, False, made)
            tried.add(simpler)
            made += 1
            if fails(simpler):
                current = simpler
                progress = True
                break
    return Shrunk(current, True, made)


def _simpler(scenario: Scenario) -> Iterator[Scenario]:
    steps = scenario.steps
    size = len(steps)
    chunk = size // 2
    while chunk >= 1:
        for start in range(size - chunk, -1, -1):
            yield Scenario(steps[:start] + steps[start + chunk :])
        chunk //= 2
    for first in range(size):
        for second in range(first + 1, size):
            yield Scenario(steps[:first] + steps[first + 1 : second] + steps[second + 1 :])
    for index, step in enumerate(steps):
        for simpler in _simpler_step(step):
            yield Scenario((*steps[:index], simpler, *steps[index + 1 :]))


def _simpler_step(step: Step) -> Iterator[Step]:
    match step:
        case UserTurn():
            yield from _fewer(step)
            yield from plainer(step)
            yield from _with_simpler_faults(step)
        case Continue():
            yield from _with_fewer_faults(step)
            yield from _with_fewer_rounds(step)
            yield from plainer(step)
            yield from _with_simpler_faults(step)
        case AdvanceClock(minutes=minutes):
            yield from (AdvanceClock(minutes=m) for m in (1, 1440) if abs(m) < abs(minutes))
        case OtherThread():
            yield from _with_fewer_rounds(step)
            yield from plainer(step)
        case EditMessage() | DeleteTurn() | Rewind():
            yield from (replace(step, turns_ago=n) for n in range(1, step.turns_ago))
            yield from plainer(step)
        case LoadTurn(calls=calls):
            yield from (replace(step, calls=n) for n in range(calls))
            yield from plainer(step)
        case TrimState(keep=keep):
            yield from (replace(step, keep=n) for n in range(keep))
            yield from plainer(step)
        case _:
            yield from plainer(step)


def _fewer(turn: UserTurn) -> Iterator[UserTurn]:
    yield from _with_fewer_faults(turn)
    yield from _with_fewer_rounds(turn)
    if len(turn.messages) > 1:
        for index in range(len(turn.messages)):
            yield replace(turn, messages=without_item(turn.messages, index))


def _with_fewer_faults(step: Run) -> Iterator[Run]:
    if step.faults:
        yield replace(step, faults=())
    for index in range(len(step.faults)):
        yield replace(step, faults=without_item(step.faults, index))


def _with_fewer_rounds(step: Working) -> Iterator[Working]:
    if step.rounds:
        yield replace(step, rounds=())
    for index, round_ in enumerate(step.rounds):
        yield replace(step, rounds=without_item(step.rounds, index))
        for call in range(len(round_.calls)):
            if len(round_.calls) > 1:
                fewer = replace(round_, calls=without_item(round_.calls, call))
                yield replace(step, rounds=with_item(step.rounds, index, fewer))


def _with_simpler_faults(step: Run) -> Iterator[Run]:
    for index, fault in enumerate(step.faults):
        for simpler in simpler_faults(fault):
            yield replace(step, faults=with_item(step.faults, index, simpler))
