"""The interposer: each fault strikes when it can, and is reported only when it struck."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage

from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.environment import Environment
from sixfold.harness.faults import FAULT_KINDS, PACKAGES, Fault, FaultKind, FaultPlan
from sixfold.harness.history import FaultFired, History, HookRan
from sixfold.harness.play import play
from sixfold.harness.steps import ToolRound, UserTurn

from ..helpers import agent_of, explored, scenario_of


class Everything(AgentMiddleware[Any, Any, Any]):
    """Has every hook, uses both dependencies, and writes two messages in each node hook."""

    def __init__(self, environment: Environment, *, quiet: bool) -> None:
        self.environment = environment
        self.quiet = quiet

    def _write(self) -> Any:
        if self.quiet:
            return None
        return {"messages": [HumanMessage("hint", id=self.environment.new_id("hint")) for _ in range(2)]}

    def before_agent(self, state: Any, runtime: Any) -> Any:
        self.environment.state.read()
        self.environment.model.invoke("Summarise.")
        return self._write()

    def before_model(self, state: Any, runtime: Any) -> Any:
        return self._write()

    def after_agent(self, state: Any, runtime: Any) -> Any:
        return self._write()

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    def after_model(self, state: Any, runtime: Any) -> Any:
        return None


def candidate(*, quiet: bool = False, suffers: frozenset[FaultKind] = frozenset(FAULT_KINDS)) -> Candidate:
    return Candidate(
        name="everything",
        build=lambda environment: [Everything(environment, quiet=quiet)],
        contract=Contract(suffers=suffers),
    )


LOUD = candidate()
QUIET = candidate(quiet=True)
IMMUNE = candidate(suffers=frozenset())

STRIKES = [
    (kind, place) for kind, package in PACKAGES.items() for place in package.places if place != "after_model"
]


def history_of(subject: Candidate, *faults: Fault) -> History:
    return play(agent_of(subject), scenario_of(UserTurn(rounds=(ToolRound(),), faults=faults))).history


def outcomes(history: History, hook: str) -> list[str]:
    return [r.outcome for r in history.records if isinstance(r, HookRan) and r.by.endswith(f".{hook}")]


@pytest.mark.parametrize(("kind", "place"), STRIKES)
def test_planned_fault_strikes_once(kind: FaultKind, place: Any) -> None:
    [fired] = history_of(LOUD, Fault(kind, place)).fired()
    assert (fired.kind, fired.at, fired.fault, fired.turn) == (kind, place, 0, 1)


@pytest.mark.parametrize(("kind", "place"), STRIKES)
def test_fault_outside_the_world_never_strikes(kind: FaultKind, place: Any) -> None:
    faulty, calm = history_of(IMMUNE, Fault(kind, place)), history_of(IMMUNE)
    assert faulty.records == calm.records


@pytest.mark.parametrize("kind", ["lose", "partial_compaction"])
@pytest.mark.parametrize("place", ["before_agent", "before_model", "after_agent"])
def test_fault_of_an_update_that_is_none_does_not_strike(kind: FaultKind, place: Any) -> None:
    faulty, calm = history_of(QUIET, Fault(kind, place)), history_of(QUIET)
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
    assert not any(getattr(r, "by", "") == "Everything.before_agent" and hasattr(r, "state")
                   for r in history.records)  # fmt: skip


def test_second_update_of_a_hook_that_ran_twice_counts() -> None:
    history = history_of(LOUD, Fault("twice", "before_agent"))
    [fold] = [r for r in history.records if hasattr(r, "state") and r.by == "Everything.before_agent"]
    assert [view.id for view in fold.update] == ["hint3", "hint4"]


@pytest.mark.parametrize("keep", [0, 1])
def test_partial_compaction_keeps_the_first_writes(keep: int) -> None:
    history = history_of(LOUD, Fault("partial_compaction", "before_agent", keep=keep))
    last = next(r.state for r in reversed(history.records) if hasattr(r, "state"))
    kept = [view.id for view in last if view.id in ("hint1", "hint2")]
    assert kept == ["hint1", "hint2"][:keep]


def test_partial_compaction_of_a_short_update_does_not_strike() -> None:
    assert history_of(LOUD, Fault("partial_compaction", "before_agent", keep=2)).fired() == ()


def test_failing_dependency_aborts_the_turn_as_injected() -> None:
    end = history_of(LOUD, Fault("raise", "source")).records[-1]
    assert (end.how, end.injected, end.by) == ("aborted", True, "Everything.before_agent")


def test_fault_plan_counts_calls_of_each_place() -> None:
    plan = FaultPlan(
        [Fault("raise", "source", nth=1), Fault("timeout", "summariser", for_good=True)],
        frozenset(FAULT_KINDS),
        first=5,
    )
    assert [plan.strike("source") is not None for _ in range(3)] == [False, True, False]
    assert [plan.strike("summariser")[0] for _ in range(3)] == [6, 6, 6]


def test_only_planned_faults_are_reported() -> None:
    fired = 0
    for scenario in explored(60, candidate=LOUD):
        planned = scenario.faults()
        for record in play(agent_of(LOUD), scenario).history.records:
            if isinstance(record, FaultFired):
                assert (planned[record.fault].kind, planned[record.fault].at) == (record.kind, record.at)
                fired += 1
    assert fired
