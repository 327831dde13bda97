"""The interposer: each fault strikes when it can, and is reported only when it struck."""

from typing import Any

import pytest

from sixfold.harness.candidate import Candidate
from sixfold.harness.faults import FAULT_KINDS, HOOKS, PACKAGES, Fault, FaultKind, FaultPlan
from sixfold.harness.history import FaultFired, Fold, History, HookRan, Requested, TurnEnded
from sixfold.harness.play import LaneName, play
from sixfold.harness.steps import Configure, ToolRound, UserTurn

from ..helpers import agent_of, explored, graph_agent_of, scenario_of
from .stricken import ASYNC, ASYNC_IMMUNE, IMMUNE, LOUD, PATIENT, QUIET, SWIFT

STRIKES = [(kind, place) for kind, package in PACKAGES.items() for place in package.places]
# Faults that need time to pass, or a run that can be cancelled.
OF_TIMING = ("timeout", "late", "cancel")
NODE_HOOKS = [hook for hook in HOOKS if hook != "wrap_model_call"]


def needs_loop(fault: Fault) -> bool:
    return fault.kind in OF_TIMING and fault.at in HOOKS


def history_of(
    subject: Candidate, *faults: Fault, run_async: bool = False, lane: LaneName = "reducer"
) -> History:
    """Play one turn with tools, and one after it, so that work that comes back late has time to."""
    agent = (agent_of if lane == "reducer" else graph_agent_of)(subject)
    turn = UserTurn(rounds=(ToolRound(),), faults=faults)
    steps = (Configure(run_async=True), turn) if run_async else (turn,)
    return play(agent, scenario_of(*steps, UserTurn()), lane=lane).history


def stricken(fault: Fault, lane: LaneName = "reducer") -> History:
    run_async = needs_loop(fault)
    return history_of(ASYNC if run_async else LOUD, fault, run_async=run_async, lane=lane)


def outcome(history: History) -> list[object]:
    """Return what users and providers can see of a history; the reports of faults are not part of it."""
    return [record for record in history.records if isinstance(record, (Fold, Requested, TurnEnded))]


def outcomes(history: History, hook: str) -> list[str]:
    return [
        r.outcome
        for r in history.records
        if isinstance(r, HookRan) and r.by.endswith(f".{hook}") and r.turn == 1
    ]


@pytest.mark.parametrize("lane", ["reducer", "graph"])
@pytest.mark.parametrize(("kind", "place"), STRIKES)
def test_planned_fault_strikes_once(kind: FaultKind, place: Any, lane: LaneName) -> None:
    [fired] = stricken(Fault(kind, place), lane).fired()
    assert (fired.kind, fired.at, fired.fault, fired.turn) == (kind, place, 0, 1)


@pytest.mark.parametrize(("kind", "place"), STRIKES)
def test_stricken_histories_are_the_same_in_both_lanes(kind: FaultKind, place: Any) -> None:
    assert stricken(Fault(kind, place)).records == stricken(Fault(kind, place), "graph").records


@pytest.mark.parametrize(("kind", "place"), STRIKES)
def test_fault_changes_the_outcome(kind: FaultKind, place: Any) -> None:
    fault = Fault(kind, place)
    run_async = needs_loop(fault)
    calm = history_of(ASYNC if run_async else LOUD, run_async=run_async)
    assert outcome(stricken(fault)) != outcome(calm)


@pytest.mark.parametrize(("kind", "place"), STRIKES)
def test_fault_outside_the_world_never_strikes(kind: FaultKind, place: Any) -> None:
    fault = Fault(kind, place)
    run_async = needs_loop(fault)
    subject = ASYNC_IMMUNE if run_async else IMMUNE
    faulty, calm = history_of(subject, fault, run_async=run_async), history_of(subject, run_async=run_async)
    assert faulty.records == calm.records


@pytest.mark.parametrize("kind", ["lose", "partial_compaction"])
@pytest.mark.parametrize("place", NODE_HOOKS)
def test_fault_of_an_update_that_is_none_does_not_strike(kind: FaultKind, place: Any) -> None:
    faulty, calm = history_of(QUIET, Fault(kind, place)), history_of(QUIET)
    assert faulty.records == calm.records


@pytest.mark.parametrize("kind", OF_TIMING)
@pytest.mark.parametrize("place", HOOKS)
def test_fault_of_timing_does_not_strike_a_synchronous_run(kind: FaultKind, place: Any) -> None:
    faulty, calm = history_of(LOUD, Fault(kind, place)), history_of(LOUD)
    assert faulty.records == calm.records


@pytest.mark.parametrize("kind", ["timeout", "late"])
@pytest.mark.parametrize("subject", [SWIFT, PATIENT], ids=lambda subject: subject.name)
@pytest.mark.parametrize("place", HOOKS)
def test_timer_that_is_not_there_does_not_expire(kind: FaultKind, subject: Candidate, place: Any) -> None:
    faulty = history_of(subject, Fault(kind, place), run_async=True)
    calm = history_of(subject, run_async=True)
    assert faulty.records == calm.records


def test_fault_of_a_call_that_never_comes_does_not_strike() -> None:
    assert history_of(LOUD, Fault("skip", "before_model", nth=2)).fired() == ()


def test_fault_of_another_member_does_not_strike() -> None:
    assert history_of(LOUD, Fault("skip", "before_agent", member=1)).fired() == ()


def test_skipped_hook_does_not_run() -> None:
    history = history_of(LOUD, Fault("skip", "before_model", nth=1))
    assert outcomes(history, "before_model") == ["update", "skipped"]


def test_lost_update_is_not_folded() -> None:
    history = history_of(LOUD, Fault("lose", "before_agent"))
    assert outcomes(history, "before_agent") == ["lost"]
    assert not [r for r in folds_of(history, "before_agent") if r.turn == 1]


def folds_of(history: History, hook: str) -> list[Fold]:
    return [r for r in history.records if isinstance(r, Fold) and r.by.endswith(f".{hook}")]


def test_second_update_of_a_hook_that_ran_twice_counts() -> None:
    history = history_of(LOUD, Fault("twice", "before_agent"))
    assert [view.id for view in folds_of(history, "before_agent")[0].update] == ["hint3", "hint4"]


@pytest.mark.parametrize("keep", [0, 1])
def test_partial_compaction_keeps_the_first_writes(keep: int) -> None:
    history = history_of(LOUD, Fault("partial_compaction", "before_agent", keep=keep))
    last = next(r.state for r in reversed(history.records) if isinstance(r, Fold))
    kept = [view.id for view in last if view.id in ("hint1", "hint2")]
    assert kept == ["hint1", "hint2"][:keep]


def test_partial_compaction_of_a_short_update_does_not_strike() -> None:
    assert history_of(LOUD, Fault("partial_compaction", "before_agent", keep=2)).fired() == ()


@pytest.mark.parametrize("place", PACKAGES["raise"].places)
def test_failing_dependency_aborts_the_turn_as_injected(place: Any) -> None:
    end = next(r for r in history_of(LOUD, Fault("raise", place)).records if isinstance(r, TurnEnded))
    assert (end.how, end.injected) == ("aborted", True)


@pytest.mark.parametrize("place", HOOKS)
def test_cancellation_ends_the_turn_as_injected(place: Any) -> None:
    ends = [r for r in stricken(Fault("cancel", place)).records if isinstance(r, TurnEnded)]
    assert [(end.how, end.injected) for end in ends] == [("aborted", True), ("answered", False)]


@pytest.mark.parametrize(("kind", "expected"), [("timeout", 0), ("late", 1)])
@pytest.mark.parametrize("place", HOOKS)
def test_work_that_came_too_late_is_lost_or_done(kind: FaultKind, expected: int, place: Any) -> None:
    """Work counts itself: what a hook writes in the second turn tells how often it was done in the first."""
    calm, faulty = history_of(ASYNC, run_async=True), stricken(Fault(kind, place))
    assert works_done(faulty) == works_done(calm) - 1 + expected


def works_done(history: History) -> int:
    last = next(r for r in reversed(history.records) if isinstance(r, Fold))
    return max(int(view.text.rpartition(" ")[2]) for view in last.state if view.text.startswith("work"))


def test_crash_restarts_from_the_last_checkpoint() -> None:
    records = stricken(Fault("crash", "tool")).records
    end = next(i for i, r in enumerate(records) if isinstance(r, TurnEnded))
    assert records[end].injected  # type: ignore[union-attr]
    assert getattr(records[end + 1], "what", "") == "restart"


def test_fault_plan_counts_calls_of_each_place() -> None:
    plan = FaultPlan(
        [Fault("raise", "source", nth=1), Fault("timeout", "summariser", for_good=True)],
        frozenset(FAULT_KINDS),
        first=5,
    )
    assert [plan.strike("source") is not None for _ in range(3)] == [False, True, False]
    numbers = [plan.strike("summariser") for _ in range(3)]
    assert [struck and struck[0] for struck in numbers] == [6, 6, 6]


@pytest.mark.parametrize(("lane", "histories"), [("reducer", 60), ("graph", 10)])
@pytest.mark.parametrize("subject", [LOUD, ASYNC], ids=lambda subject: subject.name)
def test_only_planned_faults_are_reported(subject: Candidate, lane: LaneName, histories: int) -> None:
    agent = (agent_of if lane == "reducer" else graph_agent_of)(subject)
    fired = 0
    for scenario in explored(histories, candidate=subject):
        planned = scenario.faults()
        for record in play(agent, scenario, lane=lane).history.records:
            if isinstance(record, FaultFired):
                assert (planned[record.fault].kind, planned[record.fault].at) == (record.kind, record.at)
                fired += 1
    assert fired
