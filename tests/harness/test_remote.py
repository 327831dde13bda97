"""The watchdog's bookkeeping, against workers that do as they are told: what a death costs at most."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import Candidate
from sixfold.harness.deaths import DeathError, DeathKind, Limits, Told, aspect_of, died, is_death
from sixfold.harness.events import Options, RunResult
from sixfold.harness.history import History, TurnEnded
from sixfold.harness.introduction import introduce
from sixfold.harness.messages import line_of, message_in
from sixfold.harness.remote import DEATH_ATTEMPTS, ENOUGH_DEATHS, Remote
from sixfold.harness.scenario import Scenario, from_json
from sixfold.harness.steps import UserTurn
from sixfold.harness.subject import Subject, subject_of
from sixfold.harness.traces import LEAKS, Traces
from sixfold.harness.verdicts import Verdict
from sixfold.strategies.scenarios import explore

from ..planted import PLANTED

LIMITS = Limits(history=20.0)
FITS = PLANTED["2.duplicate"].correct


class Fake:
    """A worker that dies of every question it is asked about a scenario that is `deadly`."""

    def __init__(self, log: list[float], kind: DeathKind, deadly: Any) -> None:
        self.introduction = message_in(line_of(introduce(subject_of(FITS))))
        self.has_grown = False
        self.printed = 0
        self._log, self._kind, self._deadly = log, kind, deadly

    def ask(self, question: dict[str, Any], *, seconds: float, on_told: Any = None) -> Any:
        if question["ask"] == "warnings":
            return []
        if self._deadly(from_json(question["scenario"])):
            self._log.append(seconds)
            raise DeathError(self._kind, "as it was told")
        return {"look": LOOKED, "tell": None, "deterministic": True, "lanes": COMPARED}[question["ask"]]

    def close(self) -> None:
        """There is no process."""


LOOKED = {"violated": [], "waived": [], "reached": {"changed something": 1}, "kinds": [], "figures": {}}
COMPARED = {"difference": None, "violated": []}


def run_with(kind: DeathKind, deadly: Any) -> tuple[RunResult, list[float]]:
    log: list[float] = []
    starts: Any = lambda: Fake(log, kind, deadly)  # noqa: E731
    subject: Subject = Remote(starts, LIMITS)
    return Campaign([subject], Options(max_histories=60)).run(explore), log


def long(scenario: Scenario) -> bool:
    return len(scenario.steps) >= 3


@pytest.mark.parametrize("kind", ["hang", "exit", "killed", "memory", "garbled"])
def test_deaths_of_one_kind_are_one_finding_and_cost_a_bounded_number_of_workers(kind: DeathKind) -> None:
    result, log = run_with(kind, long)
    [finding] = result.findings
    assert finding.signature.by == f"building, {kind}"
    assert finding.confirmed
    assert len(finding.scenario.steps) >= 3
    # The deaths themselves, the first one told again, attempts at a smaller one, and two to confirm it.
    assert len(log) <= ENOUGH_DEATHS + 1 + DEATH_ATTEMPTS + 2
    hasty = sum(seconds < LIMITS.history for seconds in log)
    assert (hasty > 0) is (kind == "hang")
    assert sum(log) <= (ENOUGH_DEATHS + 3) * LIMITS.history + DEATH_ATTEMPTS * (2.0 if hasty else 20.0)
    remote = result.candidates[1]
    assert remote.verdicts[6] is Verdict.VIOLATED
    assert {remote.verdicts[number] for number in range(1, 6)} == {Verdict.INCONCLUSIVE}


class LostBeside(Fake):
    """Dies whenever everything is to be told of a history, and never when that is played step by step."""

    def ask(self, question: dict[str, Any], *, seconds: float, on_told: Any = None) -> Any:
        if question["ask"] == "trial":
            raise DeathError("exit", "as it was told")
        return super().ask(question, seconds=seconds, on_told=on_told)


def test_who_was_lost_beside_a_finding_does_not_hold() -> None:
    starts: Any = lambda: LostBeside([], "exit", lambda _scenario: False)  # noqa: E731
    flawed = PLANTED["2.duplicate"].flawed
    result = Campaign([flawed, Remote(starts, LIMITS)], Options(max_histories=60)).run(explore)
    assert result.findings
    assert {name for finding in result.findings for name in finding.held_by} <= {"control"}


def test_giving_up_is_told_once() -> None:
    starts: Any = lambda: Fake([], "hang", lambda _scenario: True)  # noqa: E731
    subject = Remote(starts, LIMITS)
    for number in range(1, ENOUGH_DEATHS + 3):
        subject.look(Scenario((UserTurn(),) * number), invariants=(), comparing=False)
    assert subject.warnings() == (f"given up after {ENOUGH_DEATHS} histories that ended its process",)


def test_candidate_that_dies_rarely_is_played_on() -> None:
    visited: list[Scenario] = []

    def deadly(scenario: Scenario) -> bool:
        visited.append(scenario)
        return scenario == visited[0]

    result, _ = run_with("exit", deadly)
    assert len(set(visited)) >= 60
    assert len(result.findings) == 1
    assert not any("given up" in warning for warning in result.candidates[1].warnings)


@pytest.mark.parametrize("answer", [{"violated": 5}, [], None, {"violated": [{"code": "6"}]}])
def test_answer_that_is_none_is_a_death(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "LOOKED", answer)
    result, _ = run_with("exit", lambda scenario: False)
    # It happens to no worker that plays step by step, so it is no finding.
    assert result.findings == ()
    assert set(result.candidates[1].verdicts.values()) == {Verdict.INCONCLUSIVE}


def test_death_is_told_by_its_history() -> None:
    told = Told(History("x", "reducer", [TurnEnded(1, "answered")]), 2, "X.before_model")
    history = died(told, DeathError("hang", "it did not come back"))
    ended = history.records[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.turn, ended.how, ended.by, aspect_of(ended.error)) == (
        2,
        "aborted",
        "X.before_model",
        "hang",
    )
    assert len(told.history.records) == 1
    assert aspect_of("TimeoutError: process hung") == aspect_of(None) == ""
    assert is_death("X.before_model, hang")
    assert not is_death("X.before_model")


def test_only_threads_that_pile_up_are_a_leak() -> None:
    stop = threading.Event()

    def leak(histories: int, traces: Traces) -> tuple[str, ...]:
        for _ in range(histories):
            with traces.watched():
                threading.Thread(target=stop.wait, daemon=True).start()
        return traces.warnings()

    try:
        assert leak(LEAKS - 1, Traces()) == ()
        assert leak(LEAKS, Traces()) == ("leaves threads running behind its histories",)
    finally:
        stop.set()


def test_pools_of_threads_are_no_leak() -> None:
    traces = Traces()
    pools = [ThreadPoolExecutor(1) for _ in range(LEAKS + 1)]
    for pool in pools:
        with traces.watched():
            assert pool.submit(int, "3").result() == 3
    assert traces.warnings() == ()
    for pool in pools:
        pool.shutdown()


def test_candidate_of_a_worker_cannot_be_built_here() -> None:
    subject = Remote(lambda: Fake([], "exit", long), LIMITS)  # type: ignore[arg-type,return-value]
    assert isinstance(subject.candidate, Candidate)
    assert subject.candidate.contract == FITS.contract
    assert subject.places() == subject_of(FITS).places()


class Mortal(Fake):
    """A worker that can be killed."""

    dead = False

    def kill(self) -> None:
        """Answer no more."""
        self.dead = True

    def ask(self, question: dict[str, Any], *, seconds: float, on_told: Any = None) -> Any:
        if self.dead:
            raise DeathError("killed", "it was told to")
        return super().ask(question, seconds=seconds, on_told=on_told)


def test_worker_that_starts_while_its_subject_is_abandoned_is_killed() -> None:
    started: list[Mortal] = []

    def starts() -> Any:
        if started:
            remote.abandon()
        started.append(Mortal([], "exit", long))
        return started[-1]

    remote = Remote(starts, LIMITS)
    remote.close()
    assert remote.look(Scenario(), invariants=(), comparing=False).lost
    assert [worker.dead for worker in started] == [False, True]
