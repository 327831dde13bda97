"""Each named flaw of a re-created system is found by itself and shrunk; without it the code never shows."""

import pytest

from sixfold.models.catalogue import CATALOGUE, flaws
from sixfold.models.flaws import Flaw

from ..helpers import minimal_scenario, violations

FLAWS = tuple(flaws())
# One code shows each flaw every day; all of them are searched for in the slow run.
CASES = [
    pytest.param(flaw, code, marks=[] if code == flaw.codes[0] else [pytest.mark.slow])
    for flaw in FLAWS
    for code in flaw.codes
]

# Steps of a minimal scenario that a person still takes in at a glance.
GLANCE = 3

# Histories in which the system without the flaw must be clean, each time the suite runs.
CLEAN = 40


@pytest.mark.parametrize(("flaw", "code"), CASES, ids=lambda x: x if isinstance(x, str) else x.candidate.name)
def test_flaw_is_found_and_shrunk(flaw: Flaw, code: str) -> None:
    assert len(minimal_scenario(flaw.candidate, code).steps) <= GLANCE


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.candidate.name)
def test_without_the_flaw_its_codes_never_show(flaw: Flaw) -> None:
    assert not set(flaw.codes) & set(violations(flaw.correct, histories=CLEAN))


@pytest.mark.slow
@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.candidate.name)
def test_without_the_flaw_they_never_show_in_many_histories(flaw: Flaw) -> None:
    assert not set(flaw.codes) & set(violations(flaw.correct, histories=2_000, comparing=True))


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.candidate.name)
def test_flaw_is_in_the_catalogue_with_its_origin(flaw: Flaw) -> None:
    assert CATALOGUE[flaw.candidate.name]() is flaw.candidate
    assert flaw.origin
    assert flaw.codes
