"""Two sides in lockstep, each in its worker, against the same histories in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sixfold.cli.shipping import shipped
from sixfold.cli.side_specs import SideSpec, sides_in
from sixfold.harness.agent import build_agent
from sixfold.harness.deaths import Limits
from sixfold.harness.remote import Remote
from sixfold.harness.scenario import Scenario
from sixfold.harness.search import COMPARE_EVERY
from sixfold.harness.sides.lockstep import Lockstep
from sixfold.harness.sides.process import opened
from sixfold.harness.subject import Local, Outcome, Subject
from sixfold.models.catalogue import CATALOGUE
from sixfold.strategies.scenarios import explore

from .targets import LOCKSTEP, Result
from .timing import Block, NotMeasuredError, median_ratio, sandwich, spread

SEED = 1
BLOCK = 20
BLOCKS = 15
DRAWN = 3 * BLOCK * BLOCKS

#: Base and head, as many as make a comparison of a fixed bug.
PAIR = ("deerflow-4667", "deerflow")


def _look(subject: Subject, scenario: Scenario, number: int) -> Outcome:
    comparing = number % COMPARE_EVERY == 0
    return subject.look(scenario, invariants=(), comparing=comparing, seeing=True)


class _Contest:
    def __init__(self, here: list[Subject], there: Lockstep) -> None:
        self._here = here
        self._there = there
        self._seen: dict[str, list[list[str]]] = {}

    def _in_process(self, scenarios: list[Scenario]) -> None:
        self._seen["here"] = [
            [_look(subject, scenario, number).sees for subject in self._here]
            for number, scenario in enumerate(scenarios)
        ]

    def _in_lockstep(self, scenarios: list[Scenario]) -> None:
        self._seen["there"] = [
            [outcome.sees for outcome in self._there.ask(lambda _, s, at=(x, n): _look(s, *at))]  # type: ignore[misc]
            for n, x in enumerate(scenarios)
        ]

    def compare(self, scenarios: list[Scenario]) -> Block:
        """Time one block. Raises `NotMeasuredError` when the model was not sent the same."""
        block = sandwich(partial(self._in_process, scenarios), partial(self._in_lockstep, scenarios))
        if self._seen["here"] != self._seen["there"]:
            raise NotMeasuredError("the sides have played other histories than this process")
        return block


def run() -> Iterator[Result]:
    """Measure block by block."""
    scenarios: list[Scenario] = []
    explore(scenarios.append, seed=SEED, count=DRAWN)
    if len(scenarios) < BLOCK * BLOCKS:
        raise NotMeasuredError(f"only {len(scenarios)} scenarios were drawn, {BLOCK * BLOCKS} are needed")
    with shipped() as parts:
        sides = sides_in({SideSpec(name, name): Path.cwd() for name in PAIR}, parts)
        with opened(sides, Limits()) as subjects:
            there = Lockstep([subject for subject in subjects if isinstance(subject, Remote)])
            if len(there.subjects) < len(PAIR):
                raise NotMeasuredError("a side could not be loaded")
            here: list[Subject] = [Local(build_agent(CATALOGUE[name](), direct=True)) for name in PAIR]
            contest = _Contest(here, there)
            contest.compare(scenarios[:BLOCK])
            blocks = [
                contest.compare(scenarios[number * BLOCK : (number + 1) * BLOCK]) for number in range(BLOCKS)
            ]
            there.close()
    both = median_ratio(blocks)
    histories = BLOCK * BLOCKS
    here_rate, there_rate = (histories / sum(getattr(b, name) for b in blocks) for name in ("fast", "slow"))
    note = f"{spread(blocks)}; {here_rate:,.0f} and {there_rate:,.0f} scenarios/s, {os.cpu_count()} cores"
    yield Result(f"two sides in lockstep against one process, {' + '.join(PAIR)}", both, "×", LOCKSTEP, note)
