"""A campaign: generate, search, shrink, confirm in the real graph, judge, and tell the listeners."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

from .candidate import CONTROL, Candidate, check_names
from .collector import relaxed_collector
from .comparisons import COMPARED
from .differential import Trial
from .errors import HarnessBrokenError
from .events import (
    CandidateResult,
    Disagreed,
    Disagreement,
    Found,
    HarnessBroke,
    Listener,
    Options,
    Progressed,
    RunFinished,
    RunResult,
    RunStarted,
    Stage,
    Stream,
)
from .faults import FaultKind, FaultPlace
from .findings import Finding
from .invariants.registry import INVARIANTS
from .reachability import GOALS, goals_of
from .scenario import Scenario
from .search import AtWork, Failure, Named, OnReached, Search, Settled
from .stack_room import with_room
from .subject import Key, LanesCompared, Subject, subject_of
from .undisturbed import stopwatch
from .verdicts import Verdict, merge
from .versions import installed_versions


class Explore(Protocol):
    """Generates up to `count` scenarios from `seed`, all different, and hands each to `visit`.

    `kinds` and `places` are the faults that at least one candidate can suffer.
    """

    def __call__(
        self,
        visit: Callable[[Scenario], None],
        *,
        seed: int,
        count: int,
        kinds: frozenset[FaultKind],
        places: frozenset[FaultPlace],
    ) -> None:
        """Generate and visit."""


def seed_of_round(seed: int, number: int) -> int:
    """Return the seed of a round: a stable function of the run's seed and the round's number."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{number}".encode()).digest()[:6], "big")


def _candidate_of(thing: Candidate | Subject) -> Candidate:
    return thing if isinstance(thing, Candidate) else thing.candidate


class Campaign:
    """One run over a set of candidates. `control` always takes part.

    Candidates are played in this process; one that must not be is handed over as a subject. What is `known`
    or `settled` from another campaign is not shrunk or reported again; scenarios with a digest in `left_out`
    are drawn and not played; `reached` is told what histories reach, `at_work` of each scenario before it is
    played, shrunk, confirmed or compared, and `over` is asked between batches whether to stop.
    Raises `TargetError` when one of them cannot be built, or two have the same name.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate | Subject],
        options: Options,
        listeners: Iterable[Listener] = (),
        *,
        known: Sequence[Failure] = (),
        settled: Sequence[Settled] = (),
        reached: OnReached | None = None,
        left_out: Collection[str] = (),
        at_work: AtWork = lambda _scenario: None,
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.options = options
        self._left_out = frozenset(left_out)
        self._skipped = 0
        self._at_work = at_work
        self._over = over
        self._known = list(known)
        self.stream = Stream.to(listeners)
        others = (c for c in candidates if _candidate_of(c) is not CONTROL)
        chosen: list[Candidate | Subject] = [CONTROL, *others]
        check_names([_candidate_of(each) for each in chosen])
        self._subjects = [subject_of(each) for each in chosen]
        self._search = Search(
            self._subjects,
            invariants=options.invariants,
            keep_clean=options.lane_samples,
            known=known,
            settled=settled,
            reached=reached,
            at_work=at_work,
        )
        self._erratic: set[str] = set()
        self._disagreements: dict[str, Disagreement] = {}
        self._lanes_compared = 0

    @property
    def seen(self) -> frozenset[Named]:
        """The failures that were seen, known ones included."""
        return self._search.seen

    @property
    def settled(self) -> tuple[Settled, ...]:
        """What need not be shrunk again in another campaign."""
        return self._search.settled

    def run(self, explore: Explore) -> RunResult:
        """Run to the end and return the result.

        Raises `HarnessBrokenError` when control fails, or the lanes disagree on it. A candidate on which
        they disagree becomes inconclusive.
        """
        names = tuple(subject.candidate.name for subject in self._subjects)
        versions = installed_versions()
        self.stream.emit(RunStarted(self.options, names, versions))
        with relaxed_collector():
            complete = with_room(self._generate, explore)
            new = [failure for failure in self._search.failures if failure not in self._known]
            findings = tuple(with_room(self._finish, failure) for failure in new)
            with_room(self._compare_samples)
        result = RunResult(
            self.options,
            versions,
            self._search.histories,
            complete,
            tuple(self._result(subject, findings) for subject in self._subjects),
            findings,
            self._lanes_compared,
        )
        self.stream.emit(RunFinished(result))
        return result

    def _generate(self, explore: Explore) -> bool:
        options, search = self.options, self._search
        kinds, places = search.kinds, search.places
        started = stopwatch()
        number = 0
        while (left := options.max_histories - search.histories - self._skipped) > 0:
            if self._over() or (options.budget is not None and stopwatch() - started > options.budget):
                return False
            self.stream.emit(Stage("generating"))
            count = min(options.batch, left)
            seed = seed_of_round(options.seed, number)
            explore(self._visit, seed=seed, count=count, kinds=kinds, places=places)
            number += 1
            self.stream.emit(Stage("shrinking"))
            search.harvest()
            self._progressed()
        return True

    def _progressed(self) -> None:
        done = self._search.histories
        self.stream.emit(Progressed(done, max(done, self.options.max_histories), self._search.distinct))

    def _visit(self, scenario: Scenario) -> None:
        if self._left_out and scenario.digest() in self._left_out:
            self._skipped += 1
            return
        try:
            self._search.visit(scenario)
        except HarnessBrokenError as error:
            self.stream.emit(HarnessBroke(CONTROL.name, scenario, error.cause))
            raise
        if self._search.histories % 20 == 0:
            self._progressed()

    # -- confirmation ----------------------------------------------------------------------------

    def _finish(self, failure: Failure) -> Finding:
        signature, scenario = failure.signature, failure.shrunk.scenario
        self._at_work(scenario)
        subject = self._subject(signature.candidate)
        key = Key(signature.code, signature.by)
        trial = subject.trial(scenario, invariants=self.options.invariants, comparing=True)
        item = trial.violated().get(key)
        confirmed: bool | None = None
        if item is None or not subject.is_deterministic(scenario):
            self._erratic.add(signature.candidate)
        else:
            compared = self._compare_lanes(subject, scenario, comparing=True)
            confirmed = None if compared is None else key in compared.violated
        others = (self._beside(other, scenario, key.code) for other in self._others_than(subject))
        # Of a candidate that was lost nothing is known, least of all that it holds.
        beside = [trial for trial in others if trial.history.records]
        finding = Finding(
            signature,
            scenario,
            trial.history,
            0 if item is None else item.violation.record,
            "the failure did not come back when it was replayed" if item is None else item.violation.detail,
            failure.shrunk.minimal,
            confirmed,
            tuple(trial.history.candidate for trial in beside if not trial.violated()),
            failure.histories,
            failure.members,
            () if item is None else subject.provider_answers(scenario, key.code, item.violation.record),
            trial.reading.ledger,
        )
        self.stream.emit(Found(finding, tuple(trial.history for trial in beside)))
        return finding

    def _others_than(self, subject: Subject) -> list[Subject]:
        return [other for other in self._subjects if other is not subject and not other.given_up]

    def _beside(self, subject: Subject, scenario: Scenario, code: str) -> Trial:
        return subject.trial(scenario, invariants=(int(code[0]),), comparing=code in COMPARED)

    def _compare_samples(self) -> None:
        self.stream.emit(Stage("comparing lanes"))
        for subject in self._subjects:
            for scenario in self._search.tallies[subject.candidate.name].clean:
                self._at_work(scenario)
                if not subject.is_deterministic(scenario):
                    self._erratic.add(subject.candidate.name)
                    break
                self._compare_lanes(subject, scenario)

    def _compare_lanes(
        self, subject: Subject, scenario: Scenario, *, comparing: bool = False
    ) -> LanesCompared | None:
        """Play `scenario` in the graph lane; None when the lanes disagree on this candidate.

        Raises `HarnessBrokenError` when they disagree on control, too: then no candidate is to blame.
        """
        name = subject.candidate.name
        if name in self._disagreements:
            return None
        compared = subject.compare_lanes(scenario, invariants=self.options.invariants, comparing=comparing)
        self._lanes_compared += not subject.graph_only
        if compared.difference is None:
            return compared
        self._check_control(scenario)
        disagreement = Disagreement(name, scenario, compared.difference)
        self._disagreements[name] = disagreement
        self.stream.emit(Disagreed(disagreement))
        return None

    def _check_control(self, scenario: Scenario) -> None:
        control = self._subject(CONTROL.name)
        difference = control.compare_lanes(scenario, invariants=(), comparing=False).difference
        if difference is not None:
            self.stream.emit(HarnessBroke(CONTROL.name, scenario, f"6.lanes: {difference}"))
            raise HarnessBrokenError(
                f"the lanes disagree (6.lanes) on {CONTROL.name}, {difference}",
                place=f"scenario {scenario.digest()}",
                remedy="Please report this as a bug of Sixfold, with the scenario in the run folder.",
            )

    def _subject(self, name: str) -> Subject:
        return next(subject for subject in self._subjects if subject.candidate.name == name)

    # -- verdicts --------------------------------------------------------------------------------

    def _result(self, subject: Subject, findings: tuple[Finding, ...]) -> CandidateResult:
        candidate = subject.candidate
        if subject.unsteady:
            self._erratic.add(candidate.name)
        tally = self._search.tallies[candidate.name]
        unreached = tuple(
            goal for goal in goals_of(candidate.name, candidate.contract) if not tally.reached[goal]
        )
        verdicts = {
            number: self._verdict(subject, number, findings, unreached)
            for number in INVARIANTS
            if not self.options.invariants or number in self.options.invariants
        }
        return CandidateResult(
            candidate.name,
            candidate.target or candidate.name,
            candidate.source,
            verdicts,
            dict(sorted(tally.violations.items())),
            dict(sorted(tally.waivers.items())),
            tally.reached,
            unreached,
            candidate.name not in self._erratic,
            tally.figures,
            self._disagreements.get(candidate.name),
            candidate.plain,
            subject.remark,
            subject.warnings(),
        )

    def _verdict(
        self, subject: Subject, number: int, findings: tuple[Finding, ...], unreached: tuple[str, ...]
    ) -> Verdict:
        name = subject.candidate.name
        mine = [f for f in findings if f.signature.candidate == name and f.signature.code[0] == str(number)]
        parts = [Verdict.INCONCLUSIVE if f.confirmed is None else Verdict.VIOLATED for f in mine]
        doubtful = subject.given_up or name in self._erratic or name in self._disagreements
        if doubtful or any(number in GOALS[goal] for goal in unreached):
            parts.append(Verdict.INCONCLUSIVE)
        if any(code[0] == str(number) for code in self._search.tallies[name].waivers):
            parts.append(Verdict.WAIVED)
        return merge([*parts, Verdict.HOLDS])
