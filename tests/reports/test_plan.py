"""Plans: nothing that a step says is left out, so equal lines mean equal scenarios."""

from dataclasses import replace

from sixfold.harness.scenario import Scenario
from sixfold.harness.simplify import plainer
from sixfold.harness.steps import STEP_TYPES, Step, ToolRound, UserTurn
from sixfold.reports.plan import in_one_line, told

from ..helpers import explored


def test_equal_lines_mean_equal_scenarios() -> None:
    lines: dict[str, Scenario] = {}
    for scenario in explored(600):
        assert lines.setdefault(in_one_line(scenario), scenario) == scenario


def test_whatever_is_not_as_usual_is_told() -> None:
    seen: set[type[Step]] = set()
    for step in {step for scenario in explored(600) for step in scenario.steps}:
        for simpler in plainer(step):
            assert told(simpler) != told(step)
            seen.add(type(step))
    assert {UserTurn} < seen <= set(STEP_TYPES)


def test_view_of_calls_is_told() -> None:
    usual = UserTurn(rounds=(ToolRound(),))
    odd = replace(usual, rounds=(ToolRound(view="blocks"),))
    assert (told(usual), told(odd)) == ("turn (1 call)", "turn (1 call [view blocks])")
