"""A long search over the whole catalogue: nothing breaks, every replay is the same, memory stays flat."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator

from sixfold.harness.agent import build_agent
from sixfold.harness.campaign import seed_of_round
from sixfold.harness.collector import relaxed_collector
from sixfold.harness.differential import is_deterministic
from sixfold.harness.scenario import Scenario
from sixfold.harness.search import Search
from sixfold.models.catalogue import CATALOGUE
from sixfold.strategies.scenarios import explore

from .targets import MEMORY_GROWTH, NO_DIFFERENCE, Result

SCENARIOS = 1_000
BATCH = 100

#: Scenarios until caches are full and every module is loaded.
WARM_UP = 400

#: One scenario in so many is replayed on every candidate and compared record by record.
REPLAY_EVERY = 20


def peak_memory() -> float:
    """Return the most memory that the process has held so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def run() -> Iterator[Result]:
    """Search with all candidates, shrinking included, in rounds as a campaign does."""
    agents = [build_agent(load(), direct=True) for load in CATALOGUE.values()]
    search = Search(agents)
    kinds, places = search.kinds, search.places
    different: list[str] = []

    def visit(scenario: Scenario) -> None:
        search.visit(scenario)
        if search.histories % REPLAY_EVERY == 0:
            different.extend(a.candidate.name for a in agents if not is_deterministic(a, scenario))

    started = time.perf_counter()
    warm = 0.0
    with relaxed_collector():
        for number in range(SCENARIOS // BATCH):
            explore(visit, seed=seed_of_round(0, number), count=BATCH, kinds=kinds, places=places)
            search.harvest()
            if search.histories <= WARM_UP:
                warm = peak_memory()
    seconds = time.perf_counter() - started
    plays = search.histories * len(agents)
    note = (
        f"{plays:,} histories: {search.histories:,} scenarios on {len(agents)} candidates, {seconds:,.0f} s"
    )
    yield Result("memory after a long search against after warm-up", peak_memory() / warm, "×", MEMORY_GROWTH)
    yield Result("replays that differed", len(different), target=NO_DIFFERENCE, note=", ".join(different))
    yield Result("plays per second, comparisons and shrinking included", plays / seconds, note=note)
