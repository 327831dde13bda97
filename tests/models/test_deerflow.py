"""deer-flow's rules, one test a rule, folded through the real reducer."""

from sixfold.harness.candidate import Candidate
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import AdvanceClock, ChangeState, Restart, UserTurn
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667

from ..helpers import agent_of, scenario_of

SKIPPED = UserTurn(faults=(Fault("skip", "before_agent"),))


def final_ids(scenario: Scenario, candidate: Candidate = DEERFLOW) -> list[str | None]:
    folds = [r for r in play(agent_of(candidate), scenario).history.records if isinstance(r, Fold)]
    return [view.id for view in folds[-1].state]


def test_deerflow_D3_first_injection_attaches_to_the_last_target() -> None:
    assert final_ids(scenario_of(SKIPPED, UserTurn())) == ["u1", "a1", "u2", "u2__memory", "u2__user", "a2"]


def test_deerflow_D3_before_4667_it_attached_to_the_first() -> None:
    moved = final_ids(scenario_of(SKIPPED, UserTurn()), DEERFLOW_4667)
    assert moved == ["u1", "a1", "u2", "u1__memory", "u1__user", "a2"]


def test_deerflow_D4_same_date_changes_nothing() -> None:
    assert final_ids(scenario_of(UserTurn(), UserTurn()))[-2:] == ["u2", "a2"]


def test_deerflow_D4_another_date_attaches_a_date_only_reminder() -> None:
    assert final_ids(scenario_of(UserTurn(), AdvanceClock(), UserTurn()))[-3:] == ["u2", "u2__user", "a2"]


def test_deerflow_D5_swap_keeps_the_order_of_reminder_memory_and_words() -> None:
    assert final_ids(scenario_of(UserTurn())) == ["u1", "u1__memory", "u1__user", "a1"]


def test_deerflow_D6_timeout_of_the_memory_skips_the_injection() -> None:
    turn = UserTurn(faults=(Fault("timeout", "source"),))
    assert final_ids(scenario_of(turn)) == ["u1", "a1"]


def test_deerflow_D7_memory_is_frozen() -> None:
    ids = final_ids(scenario_of(UserTurn(), ChangeState(), Restart(), AdvanceClock(), UserTurn()))
    assert [i for i in ids if i and i.endswith("__memory")] == ["u1__memory"]
