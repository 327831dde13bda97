"""Leads: scenarios on which sides differed, and others like them, which are tried before new ones.

Changed lines are no leads: on pairs of LangChain's releases 71 of 100 drawn scenarios run the changed
functions, so a choice by them could save three in ten, of what is seen after 2 to 74 histories anyway.
"""

from __future__ import annotations

import random

from ..scenario import Scenario
from ..steps import Step

#: Leads that are kept, and steps of a scenario that is made of them.
_KEPT = 40
_LONGEST = 12

#: How many of the steps of a lead are kept, on average.
_SHARE = 0.8


class Leads:
    """The scenarios on which sides differed last. `seed` decides what is made of them."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._leads: list[Scenario] = []
        self._tried: set[Scenario] = set()

    def add(self, scenario: Scenario) -> None:
        """Note a scenario on which sides differ."""
        self._tried.add(scenario)
        if len(self._leads) < _KEPT:
            self._leads.append(scenario)
        else:
            self._leads[self._dice.randrange(_KEPT)] = scenario

    def neighbours(self, most: int) -> list[Scenario]:
        """Return up to `most` scenarios like the leads that were not returned before."""
        found: list[Scenario] = []
        for _ in range(2 * most if self._leads else 0):
            scenario = Scenario(tuple(self._crossed()))
            if scenario.steps and scenario not in self._tried and len(found) < most:
                self._tried.add(scenario)
                found.append(scenario)
        return found

    def _crossed(self) -> list[Step]:
        """Return steps of one lead, some of them left out, followed by steps of another."""
        dice = self._dice
        first, second = dice.choice(self._leads).steps, dice.choice(self._leads).steps
        kept = [step for step in first if dice.random() < _SHARE]
        return [*kept, *second[dice.randrange(len(second) + 1) :]][:_LONGEST]
