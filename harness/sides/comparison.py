"""The comparison of sides: which checks one violates where another holds, and what the model sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..campaign import Explore, seed_of_round
from ..comparisons import COMPARED
from ..deaths import is_death
from ..faults import FaultKind
from ..scenario import Scenario
from ..search import COMPARE_EVERY
from ..shrink import shrink
from ..subject import Outcome, Subject
from ..undisturbed import stopwatch
from .leads import Leads
from .lockstep import Lockstep
from .result import ComparisonResult, Difference, DifferenceKind, SideResult

#: Scenarios that are tried at most to make one smaller.
ATTEMPTS = 400

#: The share of the budget that is left for making scenarios smaller, and for looking at them.
_FOR_SHRINKING = 0.45


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """Everything that decides what a comparison does.

    `budget` bounds all of it, in seconds of real time (None: no bound).
    """

    seed: int = 0
    max_histories: int = 1_000
    budget: float | None = None
    invariants: tuple[int, ...] = ()
    batch: int = 100


@dataclass(frozen=True, slots=True)
class _Case:
    """What is told apart: one kind of difference of one head, in one check."""

    kind: DifferenceKind
    head: int
    code: str


@dataclass(slots=True)
class _Witness:
    scenario: Scenario
    histories: int
    count: int = 1


@dataclass(slots=True)
class _Seen:
    """The witnesses so far, and what stood in the way of seeing more."""

    witnesses: dict[_Case, _Witness] = field(default_factory=dict)
    troubles: dict[int, Counter[str]] = field(default_factory=dict)

    def note(self, case: _Case, scenario: Scenario, histories: int) -> None:
        known = self.witnesses.get(case)
        if known is None:
            self.witnesses[case] = _Witness(scenario, histories)
            return
        known.count += 1
        if scenario.size() < known.scenario.size():
            known.scenario = scenario


def _codes(outcome: Outcome) -> set[str]:
    return {seen.code for seen in outcome.violated}


def _died(outcome: Outcome) -> str:
    """Return how a history ended its process; empty when it did not."""
    if outcome.lost:
        return "process ended"
    return next((seen.place.rpartition(", ")[2] for seen in outcome.violated if is_death(seen.place)), "")


def cases_of(base: Outcome, head: Outcome, number: int) -> list[_Case]:
    """Return what tells the outcome on a head (by its number) from that on the base."""
    before, after = _codes(base), _codes(head)
    found = [
        *(_Case("regressed", number, code) for code in sorted(after - before)),
        *(_Case("fixed", number, code) for code in sorted(before - after)),
        *(_Case("still violated", number, code) for code in sorted(before & after)),
    ]
    if before == after and base.sees != head.sees:
        found.append(_Case("changed", number, ""))
    return found


class Comparison:
    """A comparison of subjects; the first is the base. `labels` and `versions` are for people.

    `progress` is told how many histories were played and how many are asked for.
    """

    def __init__(
        self,
        subjects: Sequence[Subject],
        sides: Sequence[SideResult],
        options: CompareOptions,
        progress: Callable[[int, int], None] = lambda _played, _of: None,
    ) -> None:
        self._lockstep = Lockstep(subjects)
        self._sides = list(sides)
        self._options = options
        self._progress = progress
        self._seen = _Seen()
        self._leads = Leads(options.seed)
        self._histories = 0
        self._began = stopwatch()

    def run(self, explore: Explore) -> ComparisonResult:
        """Play scenarios on all sides until the budget or their number ends; return what differs."""
        try:
            complete = self._generate(explore)
            differences = [self._told(case) for case in self._ordered()]
        finally:
            self._lockstep.close()
        told = tuple(d for d in differences if d is not None)
        sides = tuple(self._described(number, side) for number, side in enumerate(self._sides))
        return ComparisonResult(self._options.seed, self._histories, complete, sides, told)

    # -- playing -----------------------------------------------------------------------------------

    def _spent(self) -> float:
        """Return the share of the budget that is gone."""
        budget = self._options.budget
        return 0.0 if budget is None else (stopwatch() - self._began) / budget

    def _generate(self, explore: Explore) -> bool:
        kinds: frozenset[FaultKind] = frozenset(
            kind for s in self._lockstep.subjects for kind in s.candidate.contract.suffers
        )
        places = frozenset(place for s in self._lockstep.subjects for place in s.places())
        number = 0
        while self._histories < self._options.max_histories:
            count = min(self._options.batch, self._options.max_histories - self._histories)
            near = self._leads.neighbours(count // 2)
            for scenario in near:
                self._visit(scenario)
            seed = seed_of_round(self._options.seed, number)
            before = self._histories
            explore(self._visit, seed=seed, count=count - len(near), kinds=kinds, places=places)
            number += 1
            self._progress(self._histories, self._options.max_histories)
            if self._is_over() or self._histories == before:
                return False
        return True

    def _is_over(self) -> bool:
        given_up = sum(subject.given_up for subject in self._lockstep.subjects)
        return (
            self._spent() > 1 - _FOR_SHRINKING or given_up > len(self._lockstep.subjects) - 2 >= 0 < given_up
        )

    def _look(self, scenario: Scenario, *, comparing: bool) -> list[Outcome]:
        def look(subject: Subject) -> Outcome:
            if subject.given_up:
                return Outcome(lost=True)
            return subject.look(
                scenario, invariants=self._options.invariants, comparing=comparing, seeing=True
            )

        return self._lockstep.ask(look)

    def _visit(self, scenario: Scenario) -> None:
        if self._is_over():
            return
        self._histories += 1
        outcomes = self._look(scenario, comparing=self._histories % COMPARE_EVERY == 0)
        for number, outcome in enumerate(outcomes):
            how = _died(outcome)
            if how and not self._lockstep.subjects[number].given_up:
                self._seen.troubles.setdefault(number, Counter())[how] += 1
        base, *heads = outcomes
        if _died(base):
            return
        for number, head in enumerate(heads, 1):
            if _died(head):
                continue
            cases = cases_of(base, head, number)
            for case in cases:
                self._seen.note(case, scenario, self._histories)
            if any(case.kind != "still violated" for case in cases):
                self._leads.add(scenario)

    # -- telling -----------------------------------------------------------------------------------

    def _ordered(self) -> list[_Case]:
        order: dict[DifferenceKind, int] = {"regressed": 0, "fixed": 1, "changed": 2, "still violated": 3}
        return sorted(self._seen.witnesses, key=lambda case: (order[case.kind], case.head, case.code))

    def _shows(self, case: _Case, scenario: Scenario) -> bool:
        """Tell whether the scenario is a witness of the case."""
        if self._spent() > 1:
            return False
        invariants = (int(case.code[0]),) if case.code else self._options.invariants
        pair = (self._lockstep.subjects[0], self._lockstep.subjects[case.head])
        comparing = case.code in COMPARED

        def look(subject: Subject) -> Outcome:
            if subject not in pair or subject.given_up:
                return Outcome(lost=True)
            return subject.look(scenario, invariants=invariants, comparing=comparing, seeing=not case.code)

        outcomes = self._lockstep.ask(look)
        base, head = outcomes[0], outcomes[case.head]
        return not _died(base) and not _died(head) and case in cases_of(base, head, case.head)

    def _told(self, case: _Case) -> Difference | None:
        """Return the difference with its smallest scenario; None when it is none after all."""
        witness = self._seen.witnesses[case]
        base, head = self._lockstep.subjects[0], self._lockstep.subjects[case.head]
        attempts = ATTEMPTS // 4 if case.kind == "still violated" else ATTEMPTS
        shrunk = shrink(witness.scenario, partial(self._shows, case), attempts=attempts)
        scenario = shrunk.scenario
        steady = all(subject.is_deterministic(scenario) for subject in (base, head))
        if not steady:
            for number in (0, case.head):
                if not self._lockstep.subjects[number].is_deterministic(scenario):
                    self._seen.troubles.setdefault(number, Counter())["not deterministic"] += 1
            return None
        invariants = (int(case.code[0]),) if case.code else ()
        comparing = case.code in COMPARED
        trials = [s.trial(scenario, invariants=invariants, comparing=comparing) for s in (base, head)]
        blamed = trials[0] if case.kind == "fixed" else trials[1]
        found = next((item for (code, _), item in blamed.violated().items() if code == case.code), None)
        return Difference(
            kind=case.kind,
            head=self._sides[case.head].label,
            code=case.code,
            scenario=scenario,
            before=trials[0].history,
            after=trials[1].history,
            by=found.violation.place if found else "",
            detail=found.violation.detail if found else "",
            faults=tuple(sorted({fired.kind for fired in blamed.history.fired()})),
            minimal=shrunk.minimal and self._spent() <= 1,
            confirmed=self._confirmed(case, scenario),
            histories=witness.histories,
            count=witness.count,
        )

    def _confirmed(self, case: _Case, scenario: Scenario) -> bool | None:
        """Tell whether the real graph shows the case; None where it is about what the model sees only."""
        if not case.code:
            return None
        how = {"invariants": (int(case.code[0]),), "comparing": case.code in COMPARED}
        base, head = (
            {key.code for key in self._lockstep.subjects[number].compare_lanes(scenario, **how).violated}  # type: ignore[arg-type]
            for number in (0, case.head)
        )
        wanted = {"regressed": (False, True), "fixed": (True, False), "still violated": (True, True)}
        return (case.code in base, case.code in head) == wanted[case.kind]

    def _described(self, number: int, side: SideResult) -> SideResult:
        subject = self._lockstep.subjects[number]
        troubles = [*side.troubles]
        for how, count in sorted(self._seen.troubles.get(number, Counter()).items()):
            troubles.append(f"{how} in {count} {'history' if count == 1 else 'histories'}")
        if subject.given_up or subject.unsteady:
            troubles += [warning for warning in subject.warnings() if warning not in troubles]
        return replace(side, troubles=tuple(troubles))
