"""What a comparison says, in words that all its formats share."""

from __future__ import annotations

from ..harness.harmless import harmless
from ..harness.rules import rule_by_code
from ..harness.sides.result import KINDS, ComparisonResult, Difference, DifferenceKind, SideResult
from .findings_in_words import counted

#: Headings of the kinds.
TITLES: dict[DifferenceKind, str] = {
    "regressed": "Regressed",
    "newly inconclusive": "Newly inconclusive",
    "changed": "Changed: the checks say the same, and the model sees something else",
    "fixed": "Fixed",
    "still violated": "Still violated",
}


def verdict(result: ComparisonResult) -> str:
    """Return the outcome in one line."""
    counts = []
    for kind in KINDS:
        found = result.of_kind(kind)
        parts = sum(map(result.in_part, found))
        counts += [f"{len(found) - parts} {kind}"] if len(found) > parts else []
        counts += [f"{parts} {kind} in part"] if parts else []
    if result.inconclusive:
        counts.insert(0, "inconclusive")
    return ", ".join(counts) or "unchanged"


def heading(difference: Difference, result: ComparisonResult) -> str:
    """Return what has become of the check, as a short heading."""
    in_part = " in part" if result.in_part(difference) else ""
    return f"{TITLES[difference.kind].partition(':')[0]}{in_part}"


def title_of(difference: Difference) -> str:
    """Return what is wrong, by the name of the check."""
    rule = rule_by_code(difference.code) if difference.code else None
    if rule is not None:
        return rule.title
    random = difference.kind == "newly inconclusive"
    return "the head is not deterministic" if random else "the model sees something else"


def elsewhere(difference: Difference, result: ComparisonResult) -> str:
    """Return what has become of the same check in other histories, to be added to a sentence."""
    told = [
        f"{other.kind} in {counted(other.count, 'history', 'histories')}"
        for other in result.elsewhere(difference)
    ]
    return f"; elsewhere {', '.join(told)}" if told else ""


def sureness(difference: Difference) -> str:
    """Return how sure it is, and how often it was seen."""
    seen = f"seen in {counted(difference.count, 'history', 'histories')}"
    parts = [f"{seen}, first in number {difference.histories}"]
    if difference.faults:
        parts.append(f"needs the fault {', '.join(difference.faults)}")
    if difference.confirmed is not None:
        parts.append(
            "confirmed in the real graph" if difference.confirmed else "NOT confirmed in the real graph"
        )
    if difference.minimal:
        parts.append("1-minimal")
    return "; ".join(parts)


def played(result: ComparisonResult) -> str:
    """Return how much was played."""
    histories = counted(result.histories, "history", "histories")
    early = "" if result.complete else ", cut short"
    return f"{histories} on each side (seed {result.seed}){early}"


def packages(side: SideResult) -> str:
    """Return the versions of a side that matter most."""
    shown = ("langchain", "langgraph")
    return ", ".join(f"{name} {harmless(side.versions[name], 40)}" for name in shown if name in side.versions)
