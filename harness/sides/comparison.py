"""The comparison of sides: which checks one violates where another holds, and what the model sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..campaign import Explore, seed_of_round
from ..comparisons import COMPARED
from ..deaths import is_death
from ..errors import HarnessBrokenError, SixfoldError
from ..faults import FaultKind
from ..scenario import Scenario
from ..search import COMPARE_EVERY
from ..shrink import Shrunk, shrink
from ..subject import Key, Outcome, Subject
from ..undisturbed import stopwatch
from .cases import Case, Witness, Witnesses, cases_of, death_in, is_lost
from .leads import Leads
from .lockstep import Lockstep
from .result import ComparisonResult, Difference, SideResult

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


class Comparison:
    """A comparison of subjects; the first is the base. `sides` describes them, in the same order.

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
        self._seen = Witnesses()
        self._leads = Leads(options.seed)
        self._histories = 0
        self._began = stopwatch()
        #: Why a side answers no more, by its number.
        self._refused: dict[int, str] = {}

    def run(self, explore: Explore) -> ComparisonResult:
        """Play scenarios on all sides until the budget or their number ends; return what differs."""
        try:
            complete = self._generate(explore)
            differences = [self._told(case) for case in self._seen.ordered()]
            sides = tuple(self._described(number, side) for number, side in enumerate(self._sides))
        finally:
            self._lockstep.close()
        told = tuple(d for d in differences if d is not None)
        return ComparisonResult(self._options.seed, self._histories, complete, sides, told)

    # -- playing -----------------------------------------------------------------------------------

    def _spent(self) -> float:
        """Return the share of the budget that is gone."""
        budget = self._options.budget
        return 0.0 if budget is None else (stopwatch() - self._began) / budget

    def _gone(self, number: int) -> bool:
        return number in self._refused or self._lockstep.subjects[number].given_up

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
        heads = range(1, len(self._lockstep.subjects))
        return self._spent() > 1 - _FOR_SHRINKING or self._gone(0) or all(map(self._gone, heads))

    def _look(
        self, scenario: Scenario, asked: Sequence[int], *, invariants: tuple[int, ...], comparing: bool
    ) -> list[Outcome]:
        """Return the outcomes on all sides; nothing is known of those that are not asked, or refuse."""

        def look(number: int, subject: Subject) -> Outcome:
            if number not in asked or self._gone(number):
                return Outcome(lost=True)
            try:
                return subject.look(scenario, invariants=invariants, comparing=comparing, seeing=True)
            except HarnessBrokenError:
                raise
            except SixfoldError as error:
                self._refused[number] = f"{error.cause} ({error.place}). {error.remedy}"
                return Outcome(lost=True)

        return self._lockstep.ask(look)

    def _visit(self, scenario: Scenario) -> None:
        if self._is_over():
            return
        self._histories += 1
        everyone = range(len(self._lockstep.subjects))
        comparing = self._histories % COMPARE_EVERY == 0
        outcomes = self._look(scenario, everyone, invariants=self._options.invariants, comparing=comparing)
        for number, outcome in enumerate(outcomes):
            if is_lost(outcome) and not self._gone(number):
                died = death_in(outcome)
                self._seen.trouble(number, died.place.rpartition(", ")[2] if died else "process ended")
        for number, head in enumerate(outcomes[1:], 1):
            cases = cases_of(outcomes[0], head, number)
            for case in cases:
                self._seen.note(case, scenario, self._histories)
            if any(case.kind != "still violated" for case in cases):
                self._leads.add(scenario)

    # -- telling -----------------------------------------------------------------------------------

    def _shows(self, case: Case, scenario: Scenario) -> bool:
        """Tell whether the scenario is a witness of the case."""
        if self._spent() > 1:
            return False
        invariants = case.invariants(self._options.invariants)
        outcomes = self._look(
            scenario, (0, case.head), invariants=invariants, comparing=case.code in COMPARED
        )
        return case in cases_of(outcomes[0], outcomes[case.head], case.head)

    def _unsteady(self, case: Case, scenario: Scenario) -> list[int]:
        """Return the numbers of those of the two sides whose replays of the scenario differ."""
        pair = (0, case.head)
        return [n for n in pair if not self._lockstep.subjects[n].is_deterministic(scenario)]

    def _told(self, case: Case) -> Difference | None:
        """Return the difference with its smallest scenario; None when it is none after all."""
        witness = self._seen.of[case]
        if case.kind == "newly inconclusive":
            return self._death(case, witness)
        unsteady = self._unsteady(case, witness.scenario)
        shrunk = Shrunk(witness.scenario, False, 0)
        if not unsteady:
            attempts = ATTEMPTS // 4 if case.kind == "still violated" else ATTEMPTS
            shrunk = shrink(witness.scenario, partial(self._shows, case), attempts=attempts)
            unsteady = self._unsteady(case, shrunk.scenario)
        if unsteady:
            for number in unsteady:
                self._seen.trouble(number, "not deterministic")
            return self._newly_random(case, shrunk.scenario, witness) if 0 not in unsteady else None
        minimal = shrunk.minimal and self._spent() <= 1
        confirmed = self._confirmed(case, shrunk.scenario)
        return self._difference(case, shrunk.scenario, witness, minimal=minimal, confirmed=confirmed)

    def _difference(
        self,
        case: Case,
        scenario: Scenario,
        witness: Witness,
        *,
        minimal: bool,
        confirmed: bool | None,
    ) -> Difference:
        base, head = self._lockstep.subjects[0], self._lockstep.subjects[case.head]
        invariants, comparing = case.invariants(), case.code in COMPARED
        before, after = (
            subject.trial(scenario, invariants=invariants, comparing=comparing) for subject in (base, head)
        )
        blamed = before if case.kind == "fixed" else after
        found = next((item for (code, _), item in blamed.violated().items() if code == case.code), None)
        return Difference(
            kind=case.kind,
            head=self._sides[case.head].label,
            code=case.code,
            scenario=scenario,
            before=before.history,
            after=after.history,
            by=found.violation.place if found else "",
            detail=found.violation.detail if found else "",
            record=found.violation.record if found else -1,
            faults=tuple(sorted({fired.kind for fired in blamed.history.fired()})),
            minimal=minimal,
            confirmed=confirmed,
            histories=witness.histories,
            count=witness.count,
        )

    def _death(self, case: Case, witness: Witness) -> Difference:
        """Return a death of the head's process, which the base survives, as a difference."""
        base, head = self._lockstep.subjects[0], self._lockstep.subjects[case.head]
        scenario = witness.scenario
        keys = head.trial(scenario, invariants=(), comparing=False).violated()
        died = next((Key(*key) for key in keys if is_death(key[1])), None)
        if died is not None and self._spent() < 1 - _FOR_SHRINKING / 2:
            smaller = head.shrink(scenario, died).scenario
            if not is_lost(base.look(smaller, invariants=(), comparing=False)):
                scenario = smaller
        return self._difference(case, scenario, witness, minimal=False, confirmed=None)

    def _newly_random(self, case: Case, scenario: Scenario, witness: Witness) -> Difference:
        """Return as a difference that two replays on the head differ, and those on the base do not."""
        random = Case("newly inconclusive", case.head, "")
        told = self._difference(random, scenario, witness, minimal=False, confirmed=None)
        return replace(told, detail="two replays of this history differ on the head, and agree on the base")

    def _confirmed(self, case: Case, scenario: Scenario) -> bool | None:
        """Tell whether the real graph shows the case; None where it is about what the model sees only."""
        if not case.code:
            return None
        invariants, comparing = case.invariants(), case.code in COMPARED
        pair = (self._lockstep.subjects[number] for number in (0, case.head))
        both = (
            subject.compare_lanes(scenario, invariants=invariants, comparing=comparing) for subject in pair
        )
        base, head = ({key.code for key in compared.violated} for compared in both)
        wanted = {"regressed": (False, True), "fixed": (True, False), "still violated": (True, True)}
        return (case.code in base, case.code in head) == wanted[case.kind]

    def _described(self, number: int, side: SideResult) -> SideResult:
        subject = self._lockstep.subjects[number]
        troubles = [*side.troubles]
        for how, count in sorted(self._seen.troubles.get(number, Counter()).items()):
            troubles.append(f"{how} in {count} {'history' if count == 1 else 'histories'}")
        if number in self._refused:
            troubles.append(self._refused[number])
        if subject.given_up or subject.unsteady:
            troubles += [warning for warning in subject.warnings() if warning not in troubles]
        return replace(side, troubles=tuple(troubles))
