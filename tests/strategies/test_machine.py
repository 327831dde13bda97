"""The state-machine front end: the same vocabulary, and an ordinary Hypothesis test that can fail."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from sixfold.harness.steps import STEP_TYPES, Step
from sixfold.strategies.machine import ContextMachine, InvariantViolation, machine_for

from ..helpers import codes, explored
from ..planted import PLANTED

FEW = settings(max_examples=60, stateful_step_count=8, database=None, deadline=None)


def kinds_of_machine() -> set[type[Step]]:
    performed: set[type[Step]] = set()

    class Recorder(ContextMachine):
        def perform(self, step: Step) -> None:
            performed.add(type(step))

    run_state_machine_as_test(Recorder, settings=FEW)
    return performed


def test_machine_knows_every_step_and_no_other() -> None:
    assert kinds_of_machine() == set(STEP_TYPES)


def test_both_front_ends_have_one_vocabulary() -> None:
    plan = {type(step) for scenario in explored(800) for step in scenario.steps}
    assert kinds_of_machine() == plan


def test_machine_fails_on_a_planted_flaw_with_a_scenario_that_shows_it() -> None:
    flawed = PLANTED["2.duplicate"].flawed
    settled = settings(FEW, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(InvariantViolation) as raised:
        run_state_machine_as_test(machine_for(flawed), settings=settled)
    assert (raised.value.candidate, raised.value.code) == (flawed.name, "2.duplicate")
    assert "2.duplicate" in codes(flawed, raised.value.scenario)


def test_machine_passes_on_the_correct_sibling() -> None:
    performed = []

    class Counted(machine_for(PLANTED["2.duplicate"].correct)):  # type: ignore[misc]
        def perform(self, step: Step) -> None:
            super().perform(step)
            performed.append(step)

    run_state_machine_as_test(Counted, settings=settings(FEW, max_examples=15))
    assert performed
