"""How many histories it takes until a known bug is found, over many seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from sixfold.harness.agent import Agent, build_agent
from sixfold.harness.campaign import seed_of_round
from sixfold.harness.differential import try_out
from sixfold.harness.events import Options
from sixfold.harness.scenario import Scenario
from sixfold.models.catalogue import CATALOGUE
from sixfold.strategies.scenarios import explore

from .targets import LONGEST_SEARCH, MEDIAN_SEARCH, Result

#: Candidates with a known bug, and the check that shows it.
BUGS = {"deerflow-4667": "3.stale-question", "langchain.summarization": "4.question-lost"}
SEEDS = range(20)


class _Found(Exception):
    """Ends the exploration of a seed."""


def histories_until(agent: Agent, code: str, seed: int) -> float:
    """Return how many histories a run with `seed` needs to show `code`; infinity is beyond the limit.

    Scenarios are drawn as a campaign draws them: in rounds, with the faults the candidate can suffer.
    """
    histories = 0

    def visit(scenario: Scenario) -> None:
        nonlocal histories
        histories += 1
        trial = try_out(agent, scenario)
        if any(found == code for found, _ in trial.violated()):
            raise _Found

    kinds, places = agent.candidate.contract.suffers, agent.places()
    number = 0
    while histories < LONGEST_SEARCH.bound:
        count = min(Options().batch, int(LONGEST_SEARCH.bound) - histories)
        try:
            explore(visit, seed=seed_of_round(seed, number), count=count, kinds=kinds, places=places)
        except _Found:
            return histories
        number += 1
    return math.inf


def run() -> Iterator[Result]:
    """Search for each bug with each seed."""
    for name, code in BUGS.items():
        agent = build_agent(CATALOGUE[name](), direct=True)
        needed = [histories_until(agent, code, seed) for seed in SEEDS]
        line = f"histories until {code} of {name} is found"
        yield Result(f"{line}, median", statistics.median(needed), target=MEDIAN_SEARCH)
        yield Result(f"{line}, most", max(needed), target=LONGEST_SEARCH, note=f"{len(needed)} seeds")
