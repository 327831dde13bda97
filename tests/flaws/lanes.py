"""The flaw that no candidate can have: one of the two lanes does not do what the other does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sixfold.harness.differential import compare_lanes
from sixfold.harness.lanes.reducer import ReducerLane
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import UserTurn

from ..helpers import agent_of, graph_agent_of
from ..planted import PLANTED

# It writes a note before each model call.
CANDIDATE = PLANTED["6.reducers"].correct
MINIMUM = Scenario((UserTurn(),))


@contextmanager
def drops_a_write() -> Iterator[None]:
    """Folds what hooks write, in both lanes. Flaw: the reducer lane drops the note of a hook."""
    commit = ReducerLane._commit

    def flawed(self: ReducerLane, writes: list[tuple[str, Any]], node: str | None = None) -> Any:
        return commit(self, [write for write in writes if not _is_note(write[1])], node)

    ReducerLane._commit = flawed  # type: ignore[method-assign]
    try:
        yield
    finally:
        ReducerLane._commit = commit  # type: ignore[method-assign]


def _is_note(value: Any) -> bool:
    return isinstance(value, list) and any(getattr(message, "name", None) == "note" for message in value)


def lanes_differ(scenario: Scenario) -> bool:
    """Tell whether the lanes record `scenario` differently."""
    reducer = play(agent_of(CANDIDATE), scenario).history
    graph = play(graph_agent_of(CANDIDATE), scenario, lane="graph").history
    return compare_lanes(reducer, graph) is not None
