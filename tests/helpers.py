"""What a test wants, in one call: a minimal scenario, a scenario with a property, a clean bill."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sixfold.harness import on_wire, providers
from sixfold.harness.agent import Agent, build_agent
from sixfold.harness.campaign import seed_of_round
from sixfold.harness.candidate import Candidate
from sixfold.harness.comparisons import COMPARED
from sixfold.harness.differential import try_out
from sixfold.harness.events import Options
from sixfold.harness.faults import DEFAULT_WORLD, FaultKind, FaultPlace
from sixfold.harness.on_wire import WIRE_ONLY
from sixfold.harness.scenario import Scenario
from sixfold.harness.search import COMPARE_EVERY
from sixfold.harness.shrink import shrink
from sixfold.harness.steps import Step
from sixfold.strategies.scenarios import ALL_PLACES
from sixfold.strategies.scenarios import explore as draw

SEED = 20260816
# Failing scenarios to see before the smallest of them is shrunk.
ENOUGH = 40
# Histories in which the table of checks says that the correct sibling of a planted flaw is clean.
SIBLING_HISTORIES = 300


@contextlib.contextmanager
def serialisers_for(code: str) -> Iterator[None]:
    """Let the providers' own serialisers judge, where `code` is what only they show."""
    with pytest.MonkeyPatch.context() as patch:
        if code == WIRE_ONLY:
            pytest.importorskip("langchain_openai", reason="the extra `providers` is not installed")
            patch.setattr(on_wire, "installed", providers.installed)
        yield


class _Stop(Exception):
    """Ends an exploration as soon as it has served its purpose."""


@functools.cache
def agent_of(candidate: Candidate) -> Agent:
    """Return the reducer-lane agent of `candidate`, compiled once per test process."""
    return build_agent(candidate, direct=True)


@functools.cache
def graph_agent_of(candidate: Candidate) -> Agent:
    """Return the graph-lane agent of `candidate`, compiled once per test process."""
    return build_agent(candidate, direct=False)


def scenario_of(*steps: Step) -> Scenario:
    """Return the scenario of these steps."""
    return Scenario(steps)


def codes(candidate: Candidate, scenario: Scenario, *, comparing: bool = False) -> set[str]:
    """Return the codes of the checks that `candidate` violates in `scenario`, waivers left out.

    `comparing` plays the variants of the scenario, too.
    """
    return {code for code, _ in try_out(agent_of(candidate), scenario, comparing=comparing).violated()}


#: The scenarios drawn so far, by what they were drawn from: they are the same for the same seed.
_drawn: dict[tuple[int, frozenset[FaultKind], frozenset[FaultPlace]], list[Scenario]] = {}

#: Longer explorations are drawn anew: they would only fill the memory.
_KEPT = 2_500


def explore(
    visit: Callable[[Scenario], None],
    *,
    seed: int,
    count: int,
    kinds: frozenset[FaultKind] = DEFAULT_WORLD,
    places: frozenset[FaultPlace] = ALL_PLACES,
) -> None:
    """Do as `strategies.explore` does, and draw each scenario once per test process.

    Drawing takes as long as playing. Most candidates have the same faults, so they get the same scenarios.
    """
    if count > _KEPT:
        draw(visit, seed=seed, count=count, kinds=kinds, places=places)
        return
    kept = _drawn.setdefault((seed, kinds, places), [])
    for scenario in kept[:count]:
        visit(scenario)
    known, number = len(kept), 0

    def visit_next(scenario: Scenario) -> None:
        nonlocal number
        number += 1
        if number > known:
            if number > len(kept):
                kept.append(scenario)
            visit(scenario)

    if known < count:
        draw(visit_next, seed=seed, count=count, kinds=kinds, places=places)


def _faults_of(candidate: Candidate) -> dict[str, Any]:
    return {"kinds": DEFAULT_WORLD | candidate.contract.suffers, "places": agent_of(candidate).places()}


def explored(count: int, *, seed: int = SEED, candidate: Candidate | None = None) -> tuple[Scenario, ...]:
    """Return `count` scenarios with all default faults, or with those that can strike `candidate`."""
    found: list[Scenario] = []
    explore(found.append, seed=seed, count=count, **({} if candidate is None else _faults_of(candidate)))
    return tuple(found)


def find_scenario(
    predicate: Callable[[Scenario], bool],
    *,
    count: int = 500,
    seed: int = SEED,
    candidate: Candidate | None = None,
) -> Scenario:
    """Return the first generated scenario with the property; fail when `count` of them lack it.

    Faults are all default ones, or those that can strike `candidate`.
    """
    found: list[Scenario] = []

    def visit(scenario: Scenario) -> None:
        if predicate(scenario):
            found.append(scenario)
            raise _Stop

    with contextlib.suppress(_Stop):
        explore(visit, seed=seed, count=count, **({} if candidate is None else _faults_of(candidate)))
    assert found, f"none of {count} generated scenarios has the property"
    return found[0]


def minimal_scenario(
    candidate: Candidate,
    code: str,
    *,
    place: str | None = None,
    known: Scenario | None = None,
    count: int = 600,
    seed: int = SEED,
) -> Scenario:
    """Search with a fixed seed, shrink the smallest failing scenario, and return the minimal one.

    Only violations at `place` count when it is given. `known` is the minimum that is expected: the search
    ends with the first failing scenario of its size, as a smaller one could not be shrunk to it. Fails when
    nothing is found, or when shrinking cannot show that the result is minimal.
    """
    agent = agent_of(candidate)

    def fails(scenario: Scenario) -> bool:
        violated = try_out(agent, scenario, invariants=(int(code[0]),), comparing=code in COMPARED).violated()
        return any(code == seen and place in (None, where) for seen, where in violated)

    failing: list[Scenario] = []

    def visit(scenario: Scenario) -> None:
        if fails(scenario):
            failing.append(scenario)
            if known is not None and scenario.size() <= known.size():
                raise _Stop
        if len(failing) == ENOUGH:
            raise _Stop

    with contextlib.suppress(_Stop):
        explore(visit, seed=seed, count=count, **_faults_of(candidate))
    assert failing, f"{candidate.name}: no {code} in {count} histories"
    shrunk = shrink(min(failing, key=Scenario.size), fails)
    assert shrunk.minimal, f"{candidate.name}: {code} was not shrunk to a 1-minimal scenario"
    return shrunk.scenario


def first_found(candidate: Candidate, code: str, *, seed: int = 0, most: int = 1_000) -> int:
    """Return how many histories a campaign on `candidate` alone needs until it first sees `code`."""
    agent = agent_of(candidate)
    batch = Options().batch
    visited = 0

    def visit(scenario: Scenario) -> None:
        nonlocal visited
        visited += 1
        comparing = code in COMPARED and visited % COMPARE_EVERY == 0
        violated = try_out(agent, scenario, invariants=(int(code[0]),), comparing=comparing).violated()
        if any(seen == code for seen, _ in violated):
            raise _Stop

    for number in range(most // batch):
        try:
            explore(visit, seed=seed_of_round(seed, number), count=batch, **_faults_of(candidate))
        except _Stop:
            return visited
    raise AssertionError(f"{candidate.name}: no {code} in {visited} histories")


def violations(
    candidate: Candidate, *, histories: int, seed: int = SEED, comparing: bool = False
) -> dict[str, Scenario]:
    """Return the violated codes of generated histories, each with the smallest scenario seen."""
    agent = agent_of(candidate)
    seen: dict[str, Scenario] = {}
    for scenario in explored(histories, seed=seed, candidate=candidate):
        for code, _ in try_out(agent, scenario, comparing=comparing).violated():
            if code not in seen or scenario.size() < seen[code].size():
                seen[code] = scenario
    return seen


def assert_never_violates(
    candidate: Candidate, *, histories: int = 300, seed: int = SEED, comparing: bool = False
) -> None:
    """Fail when `candidate` violates anything under all default faults and those of its contract."""
    seen = violations(candidate, histories=histories, seed=seed, comparing=comparing)
    assert not seen, f"{candidate.name} violates:\n" + "\n".join(f"{c}: {s}" for c, s in seen.items())
