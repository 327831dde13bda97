"""Post mortem: the trial of a history that ended its process, from what the worker told last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .candidate import Candidate
from .deaths import DeathError, Told, died, is_death
from .differential import Trial
from .history import History, history_from_json
from .invariants.reading import Reading
from .invariants.registry import judge
from .ledger import Ledger
from .ledger_file import ledger_from
from .play import LaneName
from .subject import Invariants, Outcome, outcome_of


def post_mortem(
    told: Sequence[dict[str, Any]], death: DeathError, candidate: Candidate, lane: LaneName
) -> Trial:
    """Return the trial that ends in `death`; who told nothing died while the candidate was built."""
    so_far, ledger = Told(History(candidate.name, lane), 0, "building"), Ledger()
    if told:
        try:
            last = told[-1]
            history, by = history_from_json(last["history"]), str(last["by"]) or "agent"
            so_far, ledger = Told(history, int(last["turn"]), by), ledger_from(last["ledger"])
        except (ValueError, KeyError, TypeError, AttributeError):
            death = DeathError("garbled", "what came back was no history")
    history = died(so_far, death)
    reading = Reading(ledger, history)
    return Trial(history, reading, tuple(judge(reading, candidate.contract)))


def outcome_of_death(trial: Trial, invariants: Invariants) -> Outcome:
    """Return what a search may know: other violations on the way to the death are shown elsewhere, too."""
    outcome = outcome_of(trial, measured=False)
    asked = (seen for seen in outcome.violated if is_death(seen.place))
    violated = tuple(seen for seen in asked if not invariants or int(seen.code[0]) in invariants)
    return replace(outcome, violated=violated, lost=not violated)
