"""Each check finds the flaw planted for it, shrinks it to the known minimum, and spares the sibling."""

import pytest

from sixfold.harness.faults import Fault
from sixfold.harness.invariants.registry import CHECKS
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import ChangeState, ToolRound, UserMessage, UserTurn

from ..helpers import assert_never_violates, codes, minimal_scenario, scenario_of
from ..planted import PLANTED

ONE_TURN = scenario_of(UserTurn())
TWO_TURNS = scenario_of(UserTurn(), UserTurn())
ONE_ROUND = scenario_of(UserTurn(rounds=(ToolRound(),)))
TWO_MESSAGES = scenario_of(UserTurn(messages=(UserMessage(), UserMessage())))
ROUND_THEN_TURN = scenario_of(UserTurn(rounds=(ToolRound(),)), UserTurn())
SKIP_THEN_TURN = scenario_of(UserTurn(faults=(Fault("skip", "before_agent"),)), UserTurn())

MINIMAL: dict[str, Scenario] = {
    "1.state-in-history": ONE_TURN,
    "1.stale-state": scenario_of(UserTurn(), ChangeState(), UserTurn()),
    "2.reorder": ONE_ROUND,
    "2.id-rewrite": ONE_TURN,
    "2.duplicate": ONE_TURN,
    "2.mutated-in-place": ONE_TURN,
    "3.stale-question": TWO_TURNS,
    "3.attach-not-latest": SKIP_THEN_TURN,
    "4.cut-inside-turn": TWO_TURNS,
    "4.question-lost": TWO_TURNS,
    "4.orphan-result": ROUND_THEN_TURN,
    "4.unanswered-call": ROUND_THEN_TURN,
    "5.failed-summary-committed": scenario_of(UserTurn(), UserTurn(faults=(Fault("timeout", "summariser"),))),
    "5.regenerated": scenario_of(UserTurn(), UserTurn(rounds=(ToolRound(),))),
    "5.prefix-broken": ONE_ROUND,
    "6.fold-incoherent": TWO_MESSAGES,
    "6.recall": ROUND_THEN_TURN,
    "6.hook-error": SKIP_THEN_TURN,
}


def test_every_check_has_a_planted_flaw() -> None:
    assert set(PLANTED) == {check.code for check in CHECKS} == set(MINIMAL)


@pytest.mark.parametrize("code", PLANTED)
def test_planted_flaw_is_found_and_shrunk_to_its_minimum(code: str) -> None:
    assert minimal_scenario(PLANTED[code].flawed, code) == MINIMAL[code]


@pytest.mark.parametrize("code", PLANTED)
def test_minimum_shows_the_flaw_on_the_flawed_one_only(code: str) -> None:
    assert code in codes(PLANTED[code].flawed, MINIMAL[code])
    assert codes(PLANTED[code].correct, MINIMAL[code]) == set()


@pytest.mark.parametrize("code", PLANTED)
def test_correct_sibling_is_clean(code: str) -> None:
    assert_never_violates(PLANTED[code].correct, histories=300)


def test_a_violation_is_not_overlooked_by_the_clean_bill() -> None:
    with pytest.raises(AssertionError, match=r"2\.duplicate"):
        assert_never_violates(PLANTED["2.duplicate"].flawed, histories=5)
