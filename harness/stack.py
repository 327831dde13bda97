"""A stack with members left out: which of them a failure needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .agent import Agent, build_agent
from .candidate import Candidate, Middleware
from .environment import Environment
from .errors import TargetError
from .scenario import Scenario


class LeftOut(Middleware):
    """Stands where a member of a stack was left out, and does nothing: the others keep their places."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    @property
    def name(self) -> str:
        """A name of its own for each place, as `create_agent` demands."""
        return f"left out {self.place}"


def without(candidate: Candidate, places: frozenset[int]) -> Candidate:
    """Return the candidate with the members at `places` (from 0) left out of its stack."""

    def build(environment: Environment) -> Sequence[Middleware]:
        return [
            LeftOut(place) if place in places else member
            for place, member in enumerate(candidate.build(environment))
        ]

    return replace(candidate, build=build)


def needed_members(
    agent: Agent, scenario: Scenario, fails: Callable[[Agent, Scenario], bool]
) -> tuple[str, ...]:
    """Return the names of the members without which `scenario` no longer fails, in the stack's order.

    Members are left out one after the other, from the end; what fails without them does not need them.
    Empty for a candidate of one member or none.
    """
    names = [interposer.label for interposer in agent.interposers]
    if not names[1:]:
        return ()
    left_out: frozenset[int] = frozenset()
    for place in reversed(range(len(names))):
        fewer = left_out | {place}
        if len(fewer) < len(names) and _still_fails(agent, fewer, scenario, fails):
            left_out = fewer
    return tuple(name for place, name in enumerate(names) if place not in left_out)


def _still_fails(
    agent: Agent, places: frozenset[int], scenario: Scenario, fails: Callable[[Agent, Scenario], bool]
) -> bool:
    """Tell whether the smaller stack fails as well; one that cannot be built does not."""
    try:
        smaller = build_agent(without(agent.candidate, places), direct=True)
    except TargetError:
        return False
    return fails(smaller, scenario)
