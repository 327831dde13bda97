"""Cost of a history against its length: 40 turns against 8 times 5 turns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from sixfold.harness.agent import Agent, build_agent
from sixfold.harness.differential import try_out
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import ToolRound, UserTurn
from sixfold.models.catalogue import CATALOGUE

from .targets import LENGTH_GROWTH, Result
from .timing import Block, median_ratio, sandwich, spread, total

CANDIDATES = ("control", "deerflow")
SHORT, LONG = 5, 40
BLOCKS = 60


def turns(count: int) -> Scenario:
    """Return a scenario of `count` turns, each with one tool round."""
    return Scenario((UserTurn(rounds=(ToolRound(),)),) * count)


def measure(agent: Agent, short: Scenario, long: Scenario) -> Block:
    """Time a long history, and as many turns in short ones."""
    repeats = LONG // SHORT
    one = sandwich(
        partial(try_out, agent, short),
        partial(try_out, agent, long),
        repeats=repeats,
        clock=time.process_time,
    )
    return Block(repeats * one.fast, one.slow)


def run() -> Iterator[Result]:
    """Measure all candidates in turn, block by block."""
    short, long = turns(SHORT), turns(LONG)
    agents = {name: build_agent(CATALOGUE[name](), direct=True) for name in CANDIDATES}
    blocks: dict[str, list[Block]] = {name: [] for name in CANDIDATES}
    for agent in agents.values():
        try_out(agent, long)
    for _ in range(BLOCKS):
        for name, agent in agents.items():
            blocks[name].append(measure(agent, short, long))
    for name, measured in blocks.items():
        both = total(measured)
        count = BLOCKS * LONG
        per_turn = f"{1e6 * both.slow / count:,.0f} and {1e6 * both.fast / count:,.0f} µs a turn"
        yield Result(
            f"cost per turn, {LONG} turns against {SHORT}, {name}",
            median_ratio(measured),
            "×",
            LENGTH_GROWTH,
            f"{per_turn}, {spread(measured)}",
        )
