"""Search: find, mask, repeat. Collects the distinct failures of all candidates, then shrinks each.

Generation never stops at a failure, so no failure hides another; a failure whose signature is known
is masked, and only new ones are shrunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .agent import Agent
from .candidate import CONTROL
from .errors import HarnessBrokenError
from .faults import FaultKind, FaultPlace
from .figures import Figures
from .findings import Signature
from .scenario import Scenario
from .shrink import Shrunk
from .subject import Key, Outcome, Subject, subject_of

#: One history in so many is also measured, and played in its variants (`comparisons`): they cost seven plays.
COMPARE_EVERY = 5

#: What tells failures of all candidates apart: the candidate, and the failure's own key.
Named = tuple[str, Key]
Kinds = frozenset[FaultKind]

#: A failure that was shrunk once, whatever came of it: candidate, check, place, and the faults that struck.
Settled = tuple[str, str, str, tuple[FaultKind, ...]]

#: Told of each history that is judged: the candidate, what was reached, and the scenario.
OnReached = Callable[[str, Counter[str], Scenario], None]

#: Told of each scenario before it is played, shrunk, confirmed or compared.
AtWork = Callable[[Scenario], None]


@dataclass(slots=True)
class Tally:
    """What has been seen of one candidate."""

    violations: Counter[str] = field(default_factory=Counter)
    waivers: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    clean: list[Scenario] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)


@dataclass(frozen=True, slots=True)
class Failure:
    """A shrunk failure that still has to be confirmed; `members` are those of a stack that it needs."""

    signature: Signature
    shrunk: Shrunk
    histories: int
    members: tuple[str, ...] = ()


def _dominates(one: Failure, other: Failure) -> bool:
    """Tell whether `one` needs no more faults and no more steps than `other`."""
    return set(one.signature.faults) <= set(other.signature.faults) and len(one.shrunk.scenario.steps) <= len(
        other.shrunk.scenario.steps
    )


def _named(signature: Signature) -> Named:
    return signature.candidate, Key(signature.code, signature.by)


class Search:
    """The search over one set of candidates. Call `visit` for each scenario, `harvest` after a round."""

    def __init__(
        self,
        subjects: Sequence[Subject | Agent],
        *,
        invariants: tuple[int, ...] = (),
        keep_clean: int = 5,
        known: Sequence[Failure] = (),
        settled: Sequence[Settled] = (),
        reached: OnReached | None = None,
        at_work: AtWork = lambda _scenario: None,
    ) -> None:
        self.subjects = [subject_of(each) for each in subjects]
        self.histories = 0
        self.tallies = {subject.candidate.name: Tally() for subject in self.subjects}
        #: What was known from the beginning, and what was found since.
        self.failures: list[Failure] = list(known)
        self._reached = reached
        self._at_work = at_work
        self._invariants = invariants
        self._keep_clean = keep_clean
        #: The smallest scenario of this round for each key and set of fired faults.
        self._witnesses: dict[Named, dict[Kinds, Scenario]] = {}
        self._first_seen: dict[Named, int] = {}
        self._settled: set[tuple[Named, Kinds]] = {
            ((candidate, Key(code, place)), frozenset(kinds)) for candidate, code, place, kinds in settled
        }

    @property
    def distinct(self) -> int:
        """How many distinct failures (candidate, code, place) have been seen."""
        return len(
            {(f.signature.candidate, f.signature.code, f.signature.by) for f in self.failures}
            | set(self._witnesses)
        )

    @property
    def seen(self) -> frozenset[Named]:
        """The failures that were seen, known ones included."""
        return frozenset(self._first_seen)

    @property
    def settled(self) -> tuple[Settled, ...]:
        """What was shrunk once, in a fixed order."""
        return tuple(
            sorted((name, key.code, key.place, tuple(sorted(kinds))) for (name, key), kinds in self._settled)
        )

    @property
    def kinds(self) -> Kinds:
        """The fault kinds that at least one candidate can suffer."""
        return frozenset(kind for subject in self.subjects for kind in subject.candidate.contract.suffers)

    @property
    def places(self) -> frozenset[FaultPlace]:
        """The places at which a fault can strike at least one candidate."""
        return frozenset(place for subject in self.subjects for place in subject.places())

    def visit(self, scenario: Scenario) -> None:
        """Play `scenario` on every candidate and note what is violated.

        Raises `HarnessBrokenError` when control, which has no middleware, violates anything.
        """
        self.histories += 1
        self._at_work(scenario)
        comparing = self.histories % COMPARE_EVERY == 0
        for subject in self.subjects:
            if not subject.given_up:
                outcome = subject.look(scenario, invariants=self._invariants, comparing=comparing)
                if not outcome.lost:
                    self._note(subject.candidate.name, scenario, outcome)

    def _note(self, name: str, scenario: Scenario, outcome: Outcome) -> None:
        tally = self.tallies[name]
        tally.reached.update(outcome.reached)
        tally.waivers.update(outcome.waived)
        tally.figures += outcome.figures
        if self._reached is not None:
            self._reached(name, outcome.reached, scenario)
        if not outcome.violated:
            if len(tally.clean) < self._keep_clean and len(scenario.steps) > 1:
                tally.clean.append(scenario)
            return
        if name == CONTROL.name:
            first = outcome.violated[0]
            raise HarnessBrokenError(
                f"control violates {first.code}: {first.detail}",
                place=f"scenario {scenario.digest()}",
                remedy="Please report this as a bug of Sixfold, with the scenario in the run folder.",
            )
        tally.violations.update({seen.code for seen in outcome.violated})
        for seen in outcome.violated:
            self._first_seen.setdefault((name, seen.key), self.histories)
            by_kinds = self._witnesses.setdefault((name, seen.key), {})
            known = by_kinds.get(outcome.kinds)
            if known is None or scenario.size() < known.size():
                by_kinds[outcome.kinds] = scenario

    def harvest(self) -> list[Failure]:
        """Shrink the failures of the round that are new; return them in a fixed order.

        A known failure masks one that fires the same faults and more, unless the other needs a single
        kind of fault and fewer steps: a short way to fail is worth knowing beside a long one.
        """
        new = []
        for key in sorted(self._witnesses):
            by_kinds = self._witnesses[key]
            for kinds in sorted(by_kinds, key=lambda kinds: (len(kinds), sorted(kinds))):
                if self._masked(key, kinds):
                    continue
                self._settled.add((key, kinds))
                failure = self._shrink(key, by_kinds[kinds])
                if not any(_dominates(known, failure) for known in self._known(key)):
                    beaten = [known for known in self._known(key) if _dominates(failure, known)]
                    self.failures = [known for known in self.failures if known not in beaten]
                    self.failures.append(failure)
                    new.append(failure)
        self._witnesses.clear()
        return new

    def _masked(self, key: Named, kinds: Kinds) -> bool:
        covered = any(set(f.signature.faults) <= kinds for f in self._known(key))
        return covered and (len(kinds) != 1 or (key, kinds) in self._settled)

    def _known(self, key: Named) -> list[Failure]:
        return [
            f for f in self.failures if (f.signature.candidate, (f.signature.code, f.signature.by)) == key
        ]

    def _shrink(self, named: Named, witness: Scenario) -> Failure:
        name, key = named
        subject = next(s for s in self.subjects if s.candidate.name == name)
        self._at_work(witness)
        shrunk = subject.shrink(witness, key)
        trial = subject.trial(shrunk.scenario, invariants=(int(key.code[0]),), comparing=False)
        kinds = tuple(sorted({fired.kind for fired in trial.history.fired()}))
        members = subject.needed_members(shrunk.scenario, key)
        return Failure(Signature(name, key.code, key.place, kinds), shrunk, self._first_seen[named], members)
