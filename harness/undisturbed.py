"""Clocks and dice of the process, put back after a candidate has replaced them.

Hypothesis and the budget of a run need the real ones; what a candidate patches must not outlive the
history in which it did so.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep")
_DICE = ("random", "randint", "choice", "choices", "shuffle", "uniform", "getrandbits", "seed")
_ORIGINALS: tuple[tuple[Any, str, Callable[..., Any]], ...] = tuple(
    (module, name, getattr(module, name))
    for module, names in ((time, _CLOCKS), (random, _DICE))
    for name in names
)

#: The real clock for measuring, in seconds, whatever a candidate patches.
stopwatch = time.perf_counter


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put the clocks and dice of the process back at the end of the block."""
    try:
        yield
    finally:
        for module, name, original in _ORIGINALS:
            if getattr(module, name) is not original:
                setattr(module, name, original)
