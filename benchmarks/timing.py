"""Timing of two pieces of work against each other, so that drift of the machine cancels."""

from __future__ import annotations

import gc
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


class NotMeasuredError(Exception):
    """There is no fair number: two pieces of work did not do the same, or less than is needed."""


def sandwich(
    fast: Work, slow: Work, *, repeats: int = 1, clock: Callable[[], float] = time.perf_counter
) -> Block:
    """Time `fast`, `slow` and `fast` again, `fast` so many times on each side; take its mean.

    Keep both sides to tens of milliseconds: a shared core changes its speed several times a second.
    The collector is off while they run, as in `timeit`: else what one leaves behind is paid for by the other.
    Where neither side waits for anything, `clock` may be `time.process_time`, which other work on the
    machine disturbs less. The graph lane does wait, whenever its threads hand over to each other.
    """

    def seconds(work: Work, times: int) -> float:
        started = clock()
        for _ in range(times):
            work()
        return (clock() - started) / times

    gc.collect()
    gc.disable()
    try:
        before = seconds(fast, repeats)
        middle = seconds(slow, 1)
        return Block((before + seconds(fast, repeats)) / 2, middle)
    finally:
        gc.enable()


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
