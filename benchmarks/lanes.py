"""The reducer lane against the graph lane: same scenarios, same candidates, same checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sixfold.harness.agent import Agent, build_agent
from sixfold.harness.differential import try_out
from sixfold.harness.play import LaneName
from sixfold.harness.scenario import Scenario
from sixfold.models.catalogue import CATALOGUE
from sixfold.strategies.scenarios import explore

from .targets import LANE_SPEEDUP, Result
from .timing import Block, NotMeasuredError, median_ratio, sandwich, spread, total

SEED = 1
BLOCK = 10
BLOCKS = 10

#: Scenarios to ask for: some are drawn twice, and handed out once.
DRAWN = 2 * BLOCK * BLOCKS

#: Candidates whose own code costs next to nothing: what is measured is the harness.
CHEAP = ("control", "deerflow")
CHEAP_REPEATS = 6

#: The others, for information, so in fewer blocks: what is measured is their own code as well.
OTHER = ("deerflow-4667", "langchain.context_editing", "langchain.summarization")
OTHER_BLOCKS = 3
OTHER_REPEATS = 2


class _Contest:
    """One candidate in both lanes.

    The reducer lane plays `repeats` times on each side of the graph lane's turn, to run about as long.
    """

    def __init__(self, name: str, repeats: int) -> None:
        candidate = CATALOGUE[name]()
        self._agents: dict[LaneName, Agent] = {
            "reducer": build_agent(candidate, direct=True),
            "graph": build_agent(candidate, direct=False),
        }
        self._seen: dict[LaneName, tuple[int, int]] = {}
        self._repeats = repeats
        self.name = name
        self.blocks: list[Block] = []

    def _play(self, lane: LaneName, scenario: Scenario) -> None:
        trial = try_out(self._agents[lane], scenario, lane=lane)
        self._seen[lane] = len(trial.history.records), len(trial.judged)

    def compare(self, scenario: Scenario) -> Block:
        """Time both lanes on `scenario`, and check that they recorded and judged as much."""
        block = sandwich(
            partial(self._play, "reducer", scenario),
            partial(self._play, "graph", scenario),
            repeats=self._repeats,
        )
        if self._seen["reducer"] != self._seen["graph"]:
            raise NotMeasuredError(f"the lanes recorded different histories of {self.name}")
        return block

    def measure(self, scenarios: list[Scenario]) -> Block:
        """Measure one block, scenario by scenario."""
        self.blocks.append(total([self.compare(scenario) for scenario in scenarios]))
        return self.blocks[-1]

    def result(self) -> Result:
        """Return the line of this candidate."""
        histories = BLOCK * len(self.blocks)
        both = total(self.blocks)
        rates = f"{histories / both.fast:,.0f} and {histories / both.slow:,.0f} histories/s"
        return Result(f"  {self.name}", median_ratio(self.blocks), "×", note=rates)


def run() -> Iterator[Result]:
    """Measure block by block, all candidates in turn."""
    scenarios: list[Scenario] = []
    explore(scenarios.append, seed=SEED, count=DRAWN)
    if len(scenarios) < BLOCK * BLOCKS:
        raise NotMeasuredError(f"only {len(scenarios)} scenarios were drawn, {BLOCK * BLOCKS} are needed")
    cheap = [_Contest(name, CHEAP_REPEATS) for name in CHEAP]
    others = [_Contest(name, OTHER_REPEATS) for name in OTHER]
    for contest in (*cheap, *others):
        contest.compare(scenarios[0])
    alone: list[Block] = []
    together: list[Block] = []
    for number in range(BLOCKS):
        block = scenarios[number * BLOCK : (number + 1) * BLOCK]
        measured = [contest.measure(block) for contest in cheap]
        alone.append(total(measured))
        if number < OTHER_BLOCKS:
            together.append(total(measured + [contest.measure(block) for contest in others]))
    name = f"reducer lane against graph lane, {' + '.join(CHEAP)}"
    yield Result(name, median_ratio(alone), "×", LANE_SPEEDUP, spread(alone))
    yield Result("  all five candidates", median_ratio(together), "×", note=spread(together))
    for contest in (*cheap, *others):
        yield contest.result()
