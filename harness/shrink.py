"""Shrinking: from a failing scenario to the smallest one that fails the same way.

Scenarios are plain data, so shrinking needs no random choices and works on imported and saved ones
as well as on generated ones. The result is 1-minimal: no single step, fault, round, call or message
can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from .faults import FAULT_KINDS, HOOKS, PACKAGES, Fault
from .scenario import Scenario
from .steps import AdvanceClock, EditMessage, Step, ToolCall, ToolRound, UserMessage, UserTurn

T = TypeVar("T")

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
            yield from _simpler_turn(step)
        case AdvanceClock(minutes=minutes):
            yield from (AdvanceClock(minutes=m) for m in (1, 1440) if m < minutes)
        case EditMessage(turns_ago=turns_ago):
            yield from (EditMessage(turns_ago=n) for n in range(1, turns_ago))
        case _:
            return


def _simpler_turn(turn: UserTurn) -> Iterator[UserTurn]:
    if turn.faults:
        yield replace(turn, faults=())
    for index in range(len(turn.faults)):
        yield replace(turn, faults=_without(turn.faults, index))
    if turn.rounds:
        yield replace(turn, rounds=())
    for index, round_ in enumerate(turn.rounds):
        yield replace(turn, rounds=_without(turn.rounds, index))
        for call in range(len(round_.calls)):
            if len(round_.calls) > 1:
                fewer = ToolRound(calls=_without(round_.calls, call))
                yield replace(turn, rounds=_with(turn.rounds, index, fewer))
    if len(turn.messages) > 1:
        for index in range(len(turn.messages)):
            yield replace(turn, messages=_without(turn.messages, index))
    yield from _shorter(turn)
    for index, fault in enumerate(turn.faults):
        for simpler in _simpler_fault(fault):
            yield replace(turn, faults=_with(turn.faults, index, simpler))


def _shorter(turn: UserTurn) -> Iterator[UserTurn]:
    short = UserMessage()
    for index, message in enumerate(turn.messages):
        if message.words > short.words:
            yield replace(turn, messages=_with(turn.messages, index, short))
    for index, round_ in enumerate(turn.rounds):
        for number, call in enumerate(round_.calls):
            if call.words > ToolCall().words:
                calls = _with(round_.calls, number, ToolCall())
                yield replace(turn, rounds=_with(turn.rounds, index, ToolRound(calls=calls)))
    if turn.reply_words > UserTurn().reply_words:
        yield replace(turn, reply_words=UserTurn().reply_words)


def _simpler_fault(fault: Fault) -> Iterator[Fault]:
    if fault.kind != "skip":
        yield from (Fault("skip", hook, member=fault.member) for hook in HOOKS)
    for kind in FAULT_KINDS[: FAULT_KINDS.index(fault.kind)]:
        if fault.at in PACKAGES[kind].places:
            yield replace(fault, kind=kind, for_good=False, keep=1)
    yield from (replace(fault, nth=n) for n in range(fault.nth))
    if fault.for_good:
        yield replace(fault, for_good=False)
    yield from (replace(fault, keep=k) for k in range(fault.keep))
    places = PACKAGES[fault.kind].places
    if fault.at in places:
        yield from (replace(fault, at=at) for at in places[: places.index(fault.at)])


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]


def _with(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])
