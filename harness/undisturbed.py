"""What a candidate may patch in the process, put back after each history in which it did so.

Hypothesis and the budget of a run need the real clocks and dice, and other candidates the real reducer:
what a candidate patches must not outlive the history in which it did so.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from operator import attrgetter
from types import TracebackType
from typing import Any, NamedTuple

import langgraph.graph
import langgraph.graph.message

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep")
_DICE = ("random", "randint", "choice", "choices", "shuffle", "uniform", "getrandbits", "seed")


class _Originals(NamedTuple):
    """Functions of a module as they were: `now` reads those that are there now, all in one go."""

    module: Any
    names: tuple[str, ...]
    now: Callable[[Any], Any]
    then: Any

    def put_back(self) -> None:
        """Put back what has been patched, and note its name."""
        for name, function in zip(self.names, self.then, strict=True):
            if getattr(self.module, name) is not function:
                setattr(self.module, name, function)
                _patched.add(f"{self.module.__name__}.{name}")


def _originals(module: Any, *names: str) -> _Originals:
    now = attrgetter("__name__", *names)  # a name more, so that it always returns a tuple
    return _Originals(module, ("__name__", *names), now, now(module))


_ORIGINALS = (
    _originals(time, *_CLOCKS),
    _originals(random, *_DICE),
    _originals(langgraph.graph, "add_messages"),
    _originals(langgraph.graph.message, "add_messages"),
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


class undisturbed:
    """Put the clocks, dice, reducers and environment variables of the process back after the block."""

    def __enter__(self) -> None:
        """Remember the environment variables; the functions are known."""
        self._variables = dict(_VARIABLES)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put back what is not as it was, whatever the block did."""
        for originals in _ORIGINALS:
            if originals.now(originals.module) != originals.then:
                originals.put_back()
        if self._variables != _VARIABLES:
            _put_back(self._variables)


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
