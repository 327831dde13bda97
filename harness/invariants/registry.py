"""All checks, and the judgement of a history under a candidate's contract."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..candidate import Contract
from . import (
    cut_at_turns,
    judge_the_fold,
    persist_once,
    scan_from_tail,
    state_outside_history,
    update_in_place,
)
from .checks import Check, Violation
from .reading import Evidence, Reading

#: The six invariants, by number (the rules of the article on the direction of context injection).
INVARIANTS: dict[int, str] = {
    1: "Dynamic state does not enter history",
    2: "Update in place, never rewrite ids",
    3: "Scan from the tail",
    4: "Cuts land on turn boundaries",
    5: "Compaction persists once, replay reuses bytes",
    6: "Judge the fold, not the shape",
}

CHECKS: tuple[Check, ...] = (
    *state_outside_history.CHECKS,
    *update_in_place.CHECKS,
    *scan_from_tail.CHECKS,
    *cut_at_turns.CHECKS,
    *persist_once.CHECKS,
    *judge_the_fold.CHECKS,
)

Ruling = Literal["violated", "waived", "permitted"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A violation with the ruling of the contract: violated, waived (shown as such) or permitted."""

    violation: Violation
    ruling: Ruling


def ruling(contract: Contract, violation: Violation) -> Ruling:
    """Return what `contract` makes of `violation`. Only what the contract declares on purpose is waived."""
    facts = violation.facts
    match violation.code:
        case "1.state-in-history" if contract.injects_into_history:
            return "waived"
        case "1.stale-state" if contract.injects_into_history and contract.freezes_state:
            return "waived"
        case "2.id-rewrite" if contract.id_swap and "latest_user_message" in facts:
            return "permitted"
        case "4.orphan-result" | "4.unanswered-call" | "4.duplicate-result" if "scenario_made" in facts:
            held = contract.repairs_tool_calls and not facts & {"faulted", "raw_only"}
            return "violated" if held else "permitted"
        case "2.reorder" if contract.repairs_tool_calls and "tool_result" in facts:
            return "permitted"
        case "4.cut-inside-turn" if contract.cuts_inside_turns and "finished_turn" in facts:
            return "waived"
        case "2.content-changed" if contract.clears_tool_results and "tool_result" in facts:
            return "waived"
        case "2.content-changed" if contract.redacts and "in_part" in facts:
            return "waived"
        case "5.prefix-broken" if contract.clears_tool_results and "edited_in_place" in facts:
            return "permitted"
        case "4.rejected-request" if contract.system_anywhere and "system_message" in facts:
            return "waived"
        case "4.hole" if contract.cuts_inside_turns or contract.keeps_head:
            return "waived"
        case "6.recall" if contract.drops_history or (
            contract.clears_tool_results and "tool_result" in facts
        ):
            return "waived"
    return "violated"


@lru_cache(maxsize=1_024)
def worth_asking(evidence: frozenset[Evidence]) -> tuple[Check, ...]:
    """Return the checks that can have something to yield where there is this evidence."""
    return tuple(c for c in CHECKS if not c.looks_at or not c.looks_at.isdisjoint(evidence))


def judge(
    reading: Reading, contract: Contract, *, since: int = 0, invariants: Collection[int] = ()
) -> list[Judged]:
    """Judge a history from record `since` on; `invariants` limits the checks (empty: all)."""
    judged = []
    for check in worth_asking(reading.evidence_since(since)):
        if invariants and check.invariant not in invariants:
            continue
        if check.needs and not getattr(contract, check.needs):
            continue
        for violation in check.judge(reading, since):
            verdict = ruling(contract, violation)
            if verdict != "permitted":
                judged.append(Judged(violation, verdict))
    return judged
