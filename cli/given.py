"""Given scenarios, for campaigns that generate none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..harness.faults import FaultKind, FaultPlace
from ..harness.scenario import Scenario


class Given:
    """Hands over given scenarios in the place of generated ones."""

    def __init__(self, scenarios: Sequence[Scenario]) -> None:
        self._left = iter(scenarios)

    def __call__(
        self,
        visit: Callable[[Scenario], None],
        *,
        seed: int,
        count: int,
        kinds: frozenset[FaultKind],
        places: frozenset[FaultPlace],
    ) -> None:
        """Visit the next `count` of them."""
        for _, scenario in zip(range(count), self._left, strict=False):
            visit(scenario)
