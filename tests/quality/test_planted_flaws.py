"""Each check finds the flaw planted for it, shrinks it to the known minimum, and spares the sibling."""

import pytest

from sixfold.harness.invariants.registry import CHECKS

from ..helpers import SEED, SIBLING_HISTORIES, assert_never_violates, codes, minimal_scenario
from ..planted import PLANTED


def test_every_check_has_a_planted_flaw() -> None:
    assert set(PLANTED) == {check.code for check in CHECKS}


@pytest.mark.parametrize("code", PLANTED)
def test_planted_flaw_is_found_and_shrunk_to_its_minimum(code: str) -> None:
    assert minimal_scenario(PLANTED[code].flawed, code) == PLANTED[code].minimum


@pytest.mark.parametrize("code", PLANTED)
def test_minimum_shows_the_flaw_on_the_flawed_one_only(code: str) -> None:
    assert code in codes(PLANTED[code].flawed, PLANTED[code].minimum)
    assert codes(PLANTED[code].correct, PLANTED[code].minimum) == set()


@pytest.mark.parametrize("code", PLANTED)
def test_correct_sibling_is_clean(code: str) -> None:
    assert_never_violates(PLANTED[code].correct, histories=SIBLING_HISTORIES)


@pytest.mark.slow
@pytest.mark.parametrize("code", PLANTED)
def test_correct_sibling_is_clean_in_many_histories(code: str) -> None:
    assert_never_violates(PLANTED[code].correct, histories=2_000, seed=SEED + 1)


def test_a_violation_is_not_overlooked_by_the_clean_bill() -> None:
    with pytest.raises(AssertionError, match=r"2\.duplicate"):
        assert_never_violates(PLANTED["2.duplicate"].flawed, histories=5)
