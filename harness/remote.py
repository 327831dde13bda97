"""Remote: a subject whose candidate lives in a worker process, under a watchdog.

The candidate may hang, exit, be killed or eat memory: the scenario that it was asked about is known here, is
played again step by step in a new worker, and what the worker told before it died is a history like any
other, judged by the ordinary check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from .candidate import Candidate
from .comparisons import COMPARED
from .deaths import DeathError, Limits, is_death
from .differential import Trial
from .errors import SixfoldError, TargetError
from .faults import FaultPlace
from .history import History
from .introduction import introduced
from .invariants.reading import Reading
from .ledger import Ledger
from .messages import read_as, trial_from
from .play import LaneName
from .post_mortem import outcome_of_death, post_mortem
from .rules import rule_by_code
from .scenario import Scenario, to_line
from .shrink import Shrunk, shrink
from .subject import Invariants, Key, LanesCompared, Outcome
from .watchdog import Worker
from .wire_rules import Answer

T = TypeVar("T")

#: Deaths of one kind after which nothing more is generated for a candidate: each costs a worker.
ENOUGH_DEATHS = 3

#: Deaths of all kinds after which other failures of the candidate are not shrunk any further.
TOO_MANY_DEATHS = 10

#: Attempts at a smaller scenario that dies as well, and the part of the time limit that each is given.
DEATH_ATTEMPTS = 24
_HASTE = 0.1
_LEAST_SECONDS = 1.0

Starts = Callable[[], Worker]


def _outcome_in(answer: Any) -> Outcome:
    """Return the outcome that is the answer. Raises `ValueError` when it is none, or of unknown checks."""
    outcome = read_as(Outcome, answer)
    if not all(rule_by_code(seen.code) for seen in outcome.violated):
        raise ValueError("there is no such check")
    return outcome


class Remote:
    """A subject in a worker process. `starts` starts a worker that has loaded the candidate.

    Raises `TargetError` when the candidate cannot be loaded.
    """

    def __init__(self, starts: Starts, limits: Limits) -> None:
        self._starts = starts
        self._limits = limits
        self._worker: Worker | None = starts()
        known = introduced(self._worker.introduction)
        self._candidate, self._places, self.remark, self.graph_only, self.runs_sync, self.runs_async = known
        #: Versions of the packages in its environment.
        self.versions = self._versions_in(self._worker.introduction)
        #: Whether `datetime.now()` shows virtual time there.
        self.virtual_datetime = self._worker.introduction.get("virtual_datetime", True) is True
        self._deaths: Counter[str] = Counter()
        self._dead: dict[tuple[LaneName, Scenario], Trial] = {}
        self._warnings: dict[str, None] = {}
        self._printed = 0
        self._sent: tuple[Scenario, str] = (Scenario(), to_line(Scenario()))
        self._broken = self._abandoned = self.unsteady = False

    @staticmethod
    def _versions_in(introduction: dict[str, Any]) -> dict[str, str]:
        try:
            return read_as(dict[str, str], introduction.get("versions", {}))
        except ValueError:
            return {}

    @property
    def candidate(self) -> Candidate:
        """What the worker says of its candidate; it can be built in the worker only."""
        return self._candidate

    @property
    def given_up(self) -> bool:
        """Whether it has died so often, in one way, that nothing more is generated for it."""
        return self._broken or any(count >= ENOUGH_DEATHS for count in self._deaths.values())

    @property
    def printed(self) -> int:
        """How many lines the candidate has printed."""
        return self._printed + (0 if self._worker is None else self._worker.printed)

    def places(self) -> frozenset[FaultPlace]:
        """Return the places at which a fault can strike it."""
        return self._places

    def look(
        self, scenario: Scenario, *, invariants: Invariants, comparing: bool, seeing: bool = False
    ) -> Outcome:
        """Play and judge. A death is a violation of `6.hook-error` when it can be repeated."""
        try:
            answer = self._ask("look", scenario, invariants=invariants, comparing=comparing, seeing=seeing)
            return self._checked(_outcome_in, answer)
        except DeathError as death:
            self._count(death)
            known = self._broken or self._deaths[death.kind] > 1
            trial = None if known else self._tell("reducer", scenario, self._limits.history)
            if trial is not None:
                return outcome_of_death(trial, invariants)
            if not known:
                self._doubt(death, "its variants" if comparing else "a history")
            return Outcome(lost=True)

    def _count(self, death: DeathError) -> None:
        """Count a death; the one that is enough is told."""
        self._deaths[death.kind] += 1
        if self._deaths[death.kind] == ENOUGH_DEATHS and not self._broken:
            self._warn(f"given up after {ENOUGH_DEATHS} histories that ended its process")

    def _doubt(self, death: DeathError, where: str) -> None:
        """Note a death that cannot be shown again."""
        self.unsteady = True
        if not self._broken:
            self._warn(f"its process ended ({death}) in {where}, and not in the history when played again")

    def fails(self, scenario: Scenario, key: Key) -> bool:
        """Tell whether the scenario shows the failure `key`."""
        if is_death(key.place):
            return self._dies(scenario, key, self._limits.history)
        if self._deaths.total() >= TOO_MANY_DEATHS:
            return False
        invariants = (int(key.code[0]),)
        outcome = self.look(scenario, invariants=invariants, comparing=key.code in COMPARED)
        return any(seen.key == key for seen in outcome.violated)

    def _dies(self, scenario: Scenario, key: Key, seconds: float) -> bool:
        trial = self._dead.get(("reducer", scenario)) or self._tell("reducer", scenario, seconds)
        return trial is not None and key in trial.violated()

    def shrink(self, scenario: Scenario, key: Key) -> Shrunk:
        """Return the smallest scenario that shows the failure. Of a death it is not shown to be minimal."""
        if not is_death(key.place):
            return shrink(scenario, partial(self.fails, key=key))
        witnesses = dict(self._dead)
        haste = self._limits.history
        if key.place.endswith(", hang"):
            haste = min(haste, max(_LEAST_SECONDS, haste * _HASTE))
        shrunk = shrink(scenario, lambda s: self._dies(s, key, haste), attempts=DEATH_ATTEMPTS)
        # Who died of haste only may be slow and well.
        self._dead = witnesses
        return shrunk if self.fails(shrunk.scenario, key) else Shrunk(scenario, False, shrunk.attempts)

    def needed_members(self, scenario: Scenario, key: Key) -> tuple[str, ...]:
        """Return the members of a stack without which the scenario does not show it; of a death, none."""
        if is_death(key.place):
            return ()
        try:
            return read_as(tuple[str, ...], self._ask("members", scenario, code=key.code, place=key.place))
        except DeathError as death:
            self._count(death)
            return ()

    def trial(
        self, scenario: Scenario, *, lane: LaneName = "reducer", invariants: Invariants, comparing: bool
    ) -> Trial:
        """Play and judge; return everything. A death ends the history."""
        if (known := self._dead.get((lane, scenario))) is not None:
            return known
        try:
            answer = self._ask("trial", scenario, lane=lane, invariants=invariants, comparing=comparing)
            return self._checked(trial_from, answer)
        except DeathError as death:
            trial = self._tell(lane, scenario, self._limits.history)
            if trial is None:
                self._doubt(death, f"the {lane} lane")
        return trial or Trial(History(self._candidate.name, lane), Reading(Ledger(), History("", lane)), ())

    def is_deterministic(self, scenario: Scenario) -> bool:
        """Tell whether two replays give the same history."""
        if ("reducer", scenario) in self._dead:
            return True
        try:
            return self._ask("deterministic", scenario) is True
        except DeathError as death:
            self._count(death)
            return False

    def compare_lanes(self, scenario: Scenario, *, invariants: Invariants, comparing: bool) -> LanesCompared:
        """Play in both lanes. Histories that end in a death are not compared record by record."""
        if ("reducer", scenario) not in self._dead:
            try:
                answer = self._ask("lanes", scenario, invariants=invariants, comparing=comparing)
                return self._read(LanesCompared, answer)
            except DeathError as death:
                self._doubt(death, "the graph lane")
                return LanesCompared(None, frozenset())
        graph = self._tell("graph", scenario, self._limits.history)
        violated = () if graph is None else graph.violated()
        return LanesCompared(None, frozenset(Key(*key) for key in violated))

    def provider_answers(self, scenario: Scenario, code: str, record: int) -> tuple[Answer, ...]:
        """Return what providers make of the request at `record` of the history."""
        if ("reducer", scenario) in self._dead:
            return ()
        try:
            return self._read(tuple[Answer, ...], self._ask("providers", scenario, code=code, record=record))
        except DeathError as death:
            self._count(death)
            return ()

    def warnings(self) -> tuple[str, ...]:
        """Return what its process went through, and what its histories leave behind in it."""
        if self._worker is not None:
            try:
                answer = self._worker.ask({"ask": "warnings"}, seconds=self._limits.history)
                for warning in self._read(tuple[str, ...], answer):
                    self._warn(warning)
            except DeathError:
                self._lose()
        return tuple(self._warnings)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._lose()

    def abandon(self) -> None:
        """Kill the worker, and start none again; another thread that waits for its answer gets none."""
        self._broken = self._abandoned = True
        if self._worker is not None:
            self._worker.kill()

    # -- workers -----------------------------------------------------------------------------------

    def _warn(self, warning: str) -> None:
        self._warnings[warning[:400]] = None

    def _lose(self) -> None:
        """Forget a worker that is dead."""
        if self._worker is not None:
            self._printed += self._worker.printed
            self._worker = None

    def _living(self) -> Worker:
        if self._worker is not None and self._worker.has_grown:
            self._warn(f"keeps more than {self._limits.memory >> 20} MB after its histories")
            self.close()
        if self._worker is None:
            try:
                self._worker = self._starts()
            except TargetError as error:
                raise self._gave_out(error) from error
        if self._abandoned:
            self._worker.kill()
        return self._worker

    def _gave_out(self, error: SixfoldError) -> DeathError:
        """Give the candidate up for a reason that is none of its histories."""
        self._broken = self.unsteady = True
        self._warn(f"{error.cause} ({error.place}). {error.remedy}")
        return DeathError("garbled", error.cause)

    def _ask(self, what: str, scenario: Scenario, **more: Any) -> Any:
        """Ask about `scenario`. Raises `DeathError` when that ends the worker."""
        if self._sent[0] is not scenario:
            self._sent = (scenario, to_line(scenario))
        question = {"ask": what, "scenario": self._sent[1], **more}
        worker = self._living()
        try:
            return worker.ask(question, seconds=self._limits.history)
        except SixfoldError as error:
            # A factory that makes something else by now, or the harness fails on what it makes.
            raise self._gave_out(error) from error
        except DeathError:
            self._lose()
            raise

    def _read(self, cls: type[T], answer: Any) -> T:
        return self._checked(partial(read_as, cls), answer)

    def _checked(self, read: Callable[[Any], T], answer: Any) -> T:
        """Return what the answer says. Raises `DeathError`, and ends the worker, when it is no answer."""
        try:
            return read(answer)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.close()
            raise DeathError("garbled", "what came back was no answer") from error

    def _tell(self, lane: LaneName, scenario: Scenario, seconds: float) -> Trial | None:
        """Play step by step; return the trial that ends in the death, None when the worker lives."""
        told: list[dict[str, Any]] = []

        def keep(last: dict[str, Any]) -> None:
            told[:] = [last]

        question = {"ask": "tell", "scenario": to_line(scenario), "lane": lane}
        try:
            self._living().ask(question, seconds=seconds, on_told=keep)
        except SixfoldError as error:
            self._gave_out(error)
        except DeathError as death:
            self._lose()
            if self._broken:
                return None
            trial = post_mortem(told, death, self._candidate, lane)
            self._dead[lane, scenario] = trial
            return trial
        return None
