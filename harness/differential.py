"""Differential judgement: the same scenario on several candidates, lanes and replays."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .agent import Agent
from .comparisons import changed_unwritten, compare
from .history import Fold, Happened, History, Mutated
from .invariants.reading import Reading
from .invariants.registry import Judged, judge, ruling
from .play import LaneName, play
from .scenario import Scenario


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario played on one candidate, with its judgement."""

    history: History
    reading: Reading
    judged: tuple[Judged, ...]

    def violated(self) -> dict[tuple[str, str], Judged]:
        """Return the first violation of each (check code, place), waivers left out."""
        first: dict[tuple[str, str], Judged] = {}
        for item in self.judged:
            if item.ruling == "violated":
                first.setdefault((item.violation.code, item.violation.place), item)
        return first


def try_out(
    agent: Agent,
    scenario: Scenario,
    *,
    lane: LaneName = "reducer",
    invariants: tuple[int, ...] = (),
    comparing: bool = False,
) -> Trial:
    """Play `scenario` on the candidate and judge the history; `comparing` plays its variants, too."""
    player = play(agent, scenario, lane=lane)
    reading = Reading(player.ledger, player.history)
    judged = judge(reading, agent.candidate.contract, invariants=invariants)
    if comparing:
        last = len(player.history.records) - 1
        found = compare(agent, scenario, lane=lane, invariants=invariants, played=player.history)
        contract = agent.candidate.contract
        judged += [Judged(replace(each, record=last), ruling(contract, each)) for each in found]
    return Trial(player.history, reading, tuple(judged))


#: Characters of a record that a difference between lanes shows.
_SHOWN = 400


@dataclass(frozen=True, slots=True)
class LaneDifference:
    """The first record in which two lanes disagree (check code `6.lanes`)."""

    record: int
    reducer: str
    graph: str

    def __str__(self) -> str:
        return f"record {self.record}: the reducer lane has {self.reducer}, the graph lane {self.graph}"


def compare_lanes(reducer: History, graph: History) -> LaneDifference | None:
    """Return where the two lanes differ, None when they agree record by record.

    Changes made in place, behind the reducer's back, survive in one lane and not in the other: after
    the first of them the lanes are not compared any further. Nor are they after the checkpoint gave back
    a message that is not what was stored: the reducer lane loads its state at restarts only
    (`5.replay-differs` tells of it).
    """
    for index in range(max(len(reducer.records), len(graph.records))):
        left = reducer.records[index] if index < len(reducer.records) else None
        right = graph.records[index] if index < len(graph.records) else None
        if isinstance(left, Mutated) and isinstance(right, Mutated):
            return None
        if left != right or type(left) is not type(right):
            if _was_stored_as_something_else(graph, index):
                return None
            return LaneDifference(index, *_where_they_differ(repr(left), repr(right)))
    return None


def _was_stored_as_something_else(graph: History, index: int) -> bool:
    """Tell whether a message is another one in the fold at `index` than in the one before, unwritten."""
    fold = graph.records[index] if index < len(graph.records) else None
    if not isinstance(fold, Fold):
        return False
    for record in reversed(graph.records[:index]):
        if isinstance(record, Fold):
            return changed_unwritten(record.state, fold) is not None
        if isinstance(record, Mutated) or (isinstance(record, Happened) and record.what == "rewind"):
            return False
    return False


def _where_they_differ(left: str, right: str) -> tuple[str, str]:
    """Return two long texts from shortly before the place at which they differ."""
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    begin = max(0, same - 60) if same > _SHOWN // 2 else 0
    dots = "…" if begin else ""
    return dots + left[begin : begin + _SHOWN], dots + right[begin : begin + _SHOWN]


def is_deterministic(agent: Agent, scenario: Scenario) -> bool:
    """Tell whether two replays of `scenario` on the candidate give the same history."""
    return play(agent, scenario).history.records == play(agent, scenario).history.records
