"""Reachability: what a run really exercised, per candidate, and what it had to reach.

A candidate whose hooks never changed anything has not been tested; its invariants are inconclusive.
"""

from __future__ import annotations

from collections import Counter

from .candidate import CONTROL, Contract
from .history import FaultFired, HookRan, Requested, Summarised
from .invariants.reading import Reading

#: Goals and the invariants that stay inconclusive while the goal has not been reached.
GOALS: dict[str, frozenset[int]] = {
    "changed something": frozenset({1, 2, 3, 4, 5, 6}),
    "compaction": frozenset({4, 5}),
    "injection": frozenset({1, 2, 3}),
    "request edited": frozenset({5, 6}),
}


def goals_of(name: str, contract: Contract) -> tuple[str, ...]:
    """Return the goals that a run must reach at least once for this candidate; none for control."""
    if name == CONTROL.name:
        return ()
    goals = ["changed something"]
    if contract.compacts:
        goals.append("compaction")
    if contract.injects_into_history:
        goals.append("injection")
    if contract.edits_requests:
        goals.append("request edited")
    return tuple(goals)


def observe(reading: Reading) -> Counter[str]:
    """Count what one history reached: goals, hooks that changed something, faults that fired."""
    seen: Counter[str] = Counter()
    skipped: dict[str, int] = {}
    for record in reading.history.records:
        match record:
            case HookRan(by=by, outcome="update", turn=turn):
                seen["changed something"] += 1
                seen[f"{by} changed something"] += 1
                if skipped.get(by, turn) < turn:
                    seen["came back after a skip"] += 1
                    del skipped[by]
            case HookRan(by=by, outcome="skipped", turn=turn):
                skipped.setdefault(by, turn)
            case FaultFired(kind=kind):
                seen[f"fault {kind}"] += 1
            case Requested(edited_by=by) if by:
                seen["request edited"] += 1
            case Summarised(failure=None):
                seen["summariser call"] += 1
            case _:
                pass
    for change in reading.changes:
        if not change.by_hook:
            continue
        if change.gone:
            seen["compaction"] += 1
        elif any(view.says is None and view.role != "remove" for view in change.fold.update):
            seen["injection"] += 1
    return seen
