"""The plan front end: reproducible, and complete in steps and faults."""

import functools

from hypothesis import given

from sixfold.harness.faults import DEFAULT_WORLD, FAULT_KINDS, PACKAGES
from sixfold.harness.scenario import Scenario, from_json, to_json
from sixfold.harness.steps import STEP_TYPES
from sixfold.strategies.scenarios import MAX_STEPS, explore, scenarios
from sixfold.strategies.steps import ALL_PLACES

from ..helpers import explored

import pytest  # isort: skip

EVERY_KIND = frozenset(FAULT_KINDS)


@functools.cache
def drawn() -> list[Scenario]:
    """Return scenarios with every fault at every place; drawn once for all tests."""
    found: list[Scenario] = []
    explore(found.append, seed=1, count=1_500, kinds=EVERY_KIND, places=ALL_PLACES)
    return found


def anew(count: int, seed: int) -> list[Scenario]:
    found: list[Scenario] = []
    explore(found.append, seed=seed, count=count)
    return found


@given(scenarios(kinds=EVERY_KIND))
def test_scenario_survives_its_file(scenario: Scenario) -> None:
    text = to_json(scenario)
    assert from_json(text) == scenario
    assert to_json(from_json(text)) == text
    assert from_json(text).digest() == scenario.digest()


def test_equal_seeds_draw_equal_scenarios() -> None:
    assert anew(50, 5) == anew(50, 5)


def test_another_seed_draws_other_scenarios() -> None:
    assert set(anew(50, 5)) != set(anew(50, 6))


def test_fewer_scenarios_are_the_first_of_many() -> None:
    # The tests rely on it: they draw once for all candidates (`tests.helpers.explore`).
    assert anew(37, 5) == anew(50, 5)[:37] == list(explored(50, seed=5)[:37])


def test_as_many_scenarios_as_asked_for() -> None:
    assert len(anew(37, 0)) == 37


def test_scenarios_are_diverse() -> None:
    found = drawn()[:400]
    assert len(set(found)) > 300
    assert {len(scenario.steps) for scenario in found} == set(range(1, MAX_STEPS + 1))


def test_plan_knows_every_step_and_no_other() -> None:
    assert {type(step) for scenario in drawn()[:800] for step in scenario.steps} == set(STEP_TYPES)


def test_plan_draws_every_fault_at_every_place() -> None:
    strikes = {(fault.kind, fault.at) for scenario in drawn() for fault in scenario.faults()}
    assert strikes == {(kind, place) for kind, package in PACKAGES.items() for place in package.places}


def test_only_faults_of_the_world_are_drawn() -> None:
    kinds = {fault.kind for scenario in explored(300) for fault in scenario.faults()}
    assert kinds <= DEFAULT_WORLD
    assert "partial_compaction" not in kinds


def test_error_of_the_visitor_ends_the_exploration_unchanged() -> None:
    visited = []
    error = RuntimeError("enough")

    def visit(scenario: Scenario) -> None:
        visited.append(scenario)
        raise error

    with pytest.raises(RuntimeError) as raised:
        explore(visit, seed=1, count=20)
    assert raised.value is error
    assert len(visited) == 1
