"""Timing of two pieces of work against each other, so that drift of the machine cancels."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

Work = Callable[[], object]


class Block(NamedTuple):
    """Seconds that the fast and the slow work took, measured next to each other."""

    fast: float
    slow: float

    @property
    def ratio(self) -> float:
        """How many times longer the slow work took."""
        return self.slow / self.fast


class WorkDiffersError(Exception):
    """Two pieces of work that are to be compared did not do the same."""


def seconds(work: Work) -> float:
    """Return how long `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def sandwich(fast: Work, slow: Work, *, repeats: int = 1) -> Block:
    """Time `fast`, `slow` and `fast` again, `fast` so many times on each side; take its mean.

    Keep both sides to tens of milliseconds: a shared core changes its speed several times a second.
    """

    def repeatedly() -> None:
        for _ in range(repeats):
            fast()

    before = seconds(repeatedly)
    middle = seconds(slow)
    return Block((before + seconds(repeatedly)) / 2 / repeats, middle)


def total(blocks: Sequence[Block]) -> Block:
    """Return the sums of blocks that were measured next to each other."""
    return Block(sum(block.fast for block in blocks), sum(block.slow for block in blocks))


def median_ratio(blocks: Sequence[Block]) -> float:
    """Return the median of the ratios: a disturbance spoils a few blocks, not the result."""
    return statistics.median(block.ratio for block in blocks)


def spread(blocks: Sequence[Block]) -> str:
    """Return the quartiles of the ratios."""
    low, _, high = statistics.quantiles((block.ratio for block in blocks), n=4)
    return f"quartiles {low:.3g} and {high:.3g}"
