"""Cases: what tells two outcomes of one scenario apart, and the smallest scenario seen of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..deaths import is_death
from ..scenario import Scenario
from ..subject import Outcome, Seen
from .result import DifferenceKind


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of difference of one head (by its number), in one check.

    `code` is empty when the checks say the same of both sides; `held` tells whether they say nothing at all.
    """

    kind: DifferenceKind
    head: int
    code: str
    held: bool = False

    def invariants(self, otherwise: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the invariant that shows the case; `otherwise`, where no check does."""
        return (int(self.code[0]),) if self.code else otherwise


@dataclass(slots=True)
class Witness:
    """The smallest scenario seen of a case, how many histories had been played then, and how many show it."""

    scenario: Scenario
    histories: int
    count: int = 1


@dataclass(slots=True)
class Witnesses:
    """The witnesses so far, and what stood in the way of seeing more, by the number of the side."""

    of: dict[Case, Witness] = field(default_factory=dict)
    troubles: dict[int, Counter[str]] = field(default_factory=dict)

    def note(self, case: Case, scenario: Scenario, histories: int) -> None:
        """Note that a scenario shows a case, as the history of this number."""
        known = self.of.get(case)
        if known is None:
            self.of[case] = Witness(scenario, histories)
            return
        known.count += 1
        if scenario.size() < known.scenario.size():
            known.scenario = scenario

    def trouble(self, side: int, what: str) -> None:
        """Note a history of which a side tells nothing certain."""
        self.troubles.setdefault(side, Counter())[what] += 1

    def ordered(self) -> list[Case]:
        """Return the cases, the most alarming first.

        A change beside violations is one of them only where there is none without.
        """
        order: dict[DifferenceKind, int] = {
            "regressed": 0,
            "newly inconclusive": 1,
            "fixed": 2,
            "changed": 3,
            "still violated": 4,
        }
        cases = [
            case
            for case in self.of
            if case.kind != "changed" or case.held or Case("changed", case.head, "", True) not in self.of
        ]
        return sorted(cases, key=lambda case: (order[case.kind], case.head, case.code))


def death_in(outcome: Outcome) -> Seen | None:
    """Return how a history ended its process, when that could be shown."""
    return next((seen for seen in outcome.violated if is_death(seen.place)), None)


def is_lost(outcome: Outcome) -> bool:
    """Tell whether a history ended its process, so that nothing is known of it."""
    return outcome.lost or death_in(outcome) is not None


def _codes(outcome: Outcome) -> set[str]:
    return {seen.code for seen in outcome.violated}


def cases_of(base: Outcome, head: Outcome, number: int) -> list[Case]:
    """Return what tells the outcome on a head (by its number) from that on the base."""
    if is_lost(base):
        return []
    if is_lost(head):
        died = death_in(head)
        return [] if died is None else [Case("newly inconclusive", number, died.code)]
    before, after = _codes(base), _codes(head)
    found = [
        *(Case("regressed", number, code) for code in sorted(after - before)),
        *(Case("fixed", number, code) for code in sorted(before - after)),
        *(Case("still violated", number, code) for code in sorted(before & after)),
    ]
    if before == after and base.sees != head.sees:
        found.append(Case("changed", number, "", held=not before))
    return found
