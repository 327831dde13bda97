"""The hunt for one case: the search of `sixfold run` with its default settings, until the code is seen.

Scenarios, their order, masking and shrinking are those of a run; only the invariants that the case is
about are judged, which changes nothing in what is generated.
"""

from __future__ import annotations

from dataclasses import dataclass

from sixfold.harness.agent import Agent, build_agent
from sixfold.harness.campaign import seed_of_round
from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.differential import try_out
from sixfold.harness.events import Options
from sixfold.harness.faults import FaultKind
from sixfold.harness.figures import figures
from sixfold.harness.scenario import Scenario, to_json
from sixfold.harness.search import Failure, Search
from sixfold.harness.shrink import shrink
from sixfold.harness.steps import UserTurn
from sixfold.strategies.scenarios import explore

#: Histories after which a case counts as not found.
MOST_HISTORIES = 1000
#: Histories in which the fixed version must stay clean.
CLEAN_HISTORIES = 400


def size_of(scenario: Scenario) -> tuple[int, int]:
    """Return how many steps and user turns `scenario` has."""
    return len(scenario.steps), sum(isinstance(step, UserTurn) for step in scenario.steps)


@dataclass(frozen=True)
class Hunted:
    """What a hunt came home with: the code, and the scenario as JSON; no code when it found nothing."""

    code: str | None
    by: str = ""
    histories: int = 0
    steps: int = 0
    turns: int = 0
    minimal: bool = False
    scenario: str = ""


def hunt(
    candidate: Candidate, codes: tuple[str, ...], *, most: int = MOST_HISTORIES, seed: int = 0
) -> Hunted:
    """Search until one of `codes` is found in `candidate`, and return its smallest scenario.

    A run harvests after each batch, and so does the hunt; `histories` is the number of the history that
    first showed the failure.
    """
    agents = [build_agent(each, direct=True) for each in (CONTROL, candidate)]
    search = Search(agents, invariants=tuple(sorted({int(code[0]) for code in codes})))
    kinds = frozenset(kind for agent in agents for kind in agent.candidate.contract.suffers)
    places = frozenset(place for agent in agents for place in agent.places())
    batch = Options().batch
    number = 0
    while search.histories < most:
        count = min(batch, most - search.histories)
        explore(search.visit, seed=seed_of_round(seed, number), count=count, kinds=kinds, places=places)
        number += 1
        search.harvest()
        found = [failure for failure in search.failures if failure.signature.code in codes]
        if found:
            return _smallest(found)
    return Hunted(None, histories=search.histories)


def measured(candidate: Candidate, figure: str, *, most: int = MOST_HISTORIES, seed: int = 0) -> Hunted:
    """Search until the figure is above zero, and return the shrunk scenario, with the figure as its code."""
    agent = build_agent(candidate, direct=True)
    witness: list[Scenario] = []
    histories = 0

    def shows(scenario: Scenario) -> bool:
        return bool(getattr(figures(try_out(agent, scenario, invariants=(6,)).reading), figure))

    def visit(scenario: Scenario) -> None:
        nonlocal histories
        if not witness:
            histories += 1
            witness.extend([scenario] if shows(scenario) else [])

    batch = Options().batch
    while histories < most and not witness:
        explore(
            visit,
            seed=seed_of_round(seed, histories // batch),
            count=min(batch, most - histories),
            kinds=candidate.contract.suffers,
            places=agent.places(),
        )
    if not witness:
        return Hunted(None, histories=histories)
    shrunk = shrink(witness[0], shows)
    steps, turns = size_of(shrunk.scenario)
    return Hunted(figure, "", histories, steps, turns, shrunk.minimal, to_json(shrunk.scenario))


def _smallest(found: list[Failure]) -> Hunted:
    best = min(found, key=lambda failure: failure.shrunk.scenario.size())
    steps, turns = size_of(best.shrunk.scenario)
    return Hunted(
        best.signature.code,
        best.signature.by,
        min(failure.histories for failure in found),
        steps,
        turns,
        best.shrunk.minimal,
        to_json(best.shrunk.scenario),
    )


def seen(
    candidate: Candidate,
    *,
    histories: int = CLEAN_HISTORIES,
    seed: int = 0,
    beside: frozenset[FaultKind] = frozenset(),
    beside_steps: frozenset[str] = frozenset(),
) -> dict[str, Scenario]:
    """Return all codes that `candidate` violates in generated histories, each with the smallest seen.

    Faults of the kinds in `beside` are not drawn, scenarios with steps of `beside_steps` are left out.
    """
    agent = build_agent(candidate, direct=True)
    smallest: dict[str, Scenario] = {}

    def visit(scenario: Scenario) -> None:
        if any(step.kind in beside_steps for step in scenario.steps):
            return
        for code in codes_in(agent, scenario):
            if code not in smallest or scenario.size() < smallest[code].size():
                smallest[code] = scenario

    batch = Options().batch
    for number in range(-(-histories // batch)):
        explore(
            visit,
            seed=seed_of_round(seed, number),
            count=min(batch, histories - number * batch),
            kinds=candidate.contract.suffers - beside,
            places=agent.places(),
        )
    return smallest


def codes_in(agent: Agent, scenario: Scenario, *, comparing: bool = False) -> set[str]:
    """Return the codes that the candidate of `agent` violates in `scenario`; `comparing` plays variants."""
    return {code for code, _ in try_out(agent, scenario, comparing=comparing).violated()}
