"""What a candidate may patch in the process, put back after each history in which it did so.

Hypothesis and the budget of a run need the real clocks and dice, and other candidates the real reducer:
what a candidate patches must not outlive the history in which it did so.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import langgraph.graph
import langgraph.graph.message

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep")
_DICE = ("random", "randint", "choice", "choices", "shuffle", "uniform", "getrandbits", "seed")
_ORIGINALS: tuple[tuple[Any, str, Callable[..., Any]], ...] = tuple(
    (module, name, getattr(module, name))
    for module, names in (
        (time, _CLOCKS),
        (random, _DICE),
        (langgraph.graph, ("add_messages",)),
        (langgraph.graph.message, ("add_messages",)),
    )
    for name in names
)

#: The real clock for measuring, in seconds, whatever a candidate patches.
stopwatch = time.perf_counter

#: Names of what was put back since `take_patched` was called last.
_patched: set[str] = set()


def take_patched() -> frozenset[str]:
    """Return the names of what has been put back since the last call, such as `random.random`."""
    taken = frozenset(_patched)
    _patched.clear()
    return taken


#: The variables as the process holds them: decoding them all costs more than a short history does.
_VARIABLES: dict[Any, Any] = vars(os.environ).get("_data", os.environ)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put the clocks, dice, reducers and environment variables of the process back after the block."""
    variables = dict(_VARIABLES)
    try:
        yield
    finally:
        for module, name, original in _ORIGINALS:
            if getattr(module, name) is not original:
                setattr(module, name, original)
                _patched.add(f"{module.__name__}.{name}")
        if variables != _VARIABLES:
            _put_back(variables)


def _put_back(variables: dict[Any, Any]) -> None:
    changed = {
        key for key in variables.keys() | _VARIABLES.keys() if variables.get(key) != _VARIABLES.get(key)
    }
    for key in changed:
        name = os.fsdecode(key)
        _patched.add(f"os.environ[{name!r}]")
        if key in variables:
            os.environ[name] = os.fsdecode(variables[key])
        else:
            del os.environ[name]
