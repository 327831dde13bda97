"""The cases that are re-created in models/, with small budgets; `make corpus` runs all of them in full."""

import pytest

from sixfold.harness.agent import build_agent
from sixfold.harness.scenario import from_json
from sixfold.models.catalogue import CATALOGUE
from sixfold.models.resolve import resolve

from .cases import CASES, CORRECT, LOCAL, Case
from .hunt import codes_in, hunt, seen, size_of


def name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", LOCAL, ids=name)
def test_trigger_shows_the_bug_and_the_fixed_one_holds(case: Case) -> None:
    assert case.fixed is not None
    assert codes_in(build_agent(resolve(case.bug.target), direct=True), case.trigger) & set(case.codes)
    fixed = codes_in(build_agent(resolve(case.fixed.target), direct=True), case.trigger)
    assert not fixed & set(case.codes)


@pytest.mark.parametrize("case", LOCAL, ids=name)
def test_case_is_found_no_longer_than_its_trigger(case: Case) -> None:
    found = hunt(resolve(case.bug.target), case.codes, most=300)
    assert found.code in case.codes
    assert found.minimal
    steps, turns = size_of(case.trigger)
    assert found.steps <= steps
    assert found.turns <= turns
    assert from_json(found.scenario).steps


@pytest.mark.parametrize("target", [target for target, _ in CORRECT if target in CATALOGUE])
def test_correct_one_is_clean(target: str) -> None:
    excepted = dict(CORRECT)[target]
    assert set(seen(resolve(target), histories=150)) <= excepted


def test_cases_have_names_of_their_own() -> None:
    assert len(CASES) == len({case.about for case in CASES.values()})
