"""Each check and each comparison finds the flaw planted for it, shrinks it to the known minimum, and
spares the sibling.
"""

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Options
from sixfold.harness.rules import LANES, RULES
from sixfold.harness.shrink import shrink
from sixfold.harness.verdicts import Verdict

from ..flaws import lanes
from ..helpers import (
    SEED,
    assert_never_violates,
    codes,
    explore,
    find_scenario,
    minimal_scenario,
)
from ..planted import ALSO_PLANTED, PLANTED, Planted

# Histories in which a correct sibling must be clean every day, and where each is told again in other ways,
# which takes twenty times as long. In the slow run it is thousands.
DAILY, DAILY_COMPARED = 150, 30

EVERY = [*PLANTED.values(), *ALSO_PLANTED.values()]
each_flaw = pytest.mark.parametrize("item", EVERY, ids=lambda item: f"{item.code}-{item.cls.__name__}")


def test_every_rule_has_a_planted_flaw() -> None:
    # The flaw of the lanes is planted in a lane: see the last tests.
    assert set(PLANTED) == {rule.code for rule in RULES if rule is not LANES}
    assert set(ALSO_PLANTED) <= set(PLANTED)


@each_flaw
def test_planted_flaw_is_found_and_shrunk_to_its_minimum(item: Planted) -> None:
    assert minimal_scenario(item.flawed, item.code, known=item.minimum) == item.minimum


@each_flaw
def test_minimum_shows_the_flaw_on_the_flawed_one_only(item: Planted) -> None:
    assert item.code in codes(item.flawed, item.minimum, comparing=item.comparing)
    assert codes(item.correct, item.minimum, comparing=True) == set()


@each_flaw
def test_correct_sibling_is_clean(item: Planted) -> None:
    histories = DAILY_COMPARED if item.comparing else DAILY
    assert_never_violates(item.correct, histories=histories, comparing=item.comparing)


@pytest.mark.slow
@each_flaw
def test_correct_sibling_is_clean_in_many_histories(item: Planted) -> None:
    assert_never_violates(item.correct, histories=2_000, seed=SEED + 1, comparing=item.comparing)


def test_a_violation_is_not_overlooked_by_the_clean_bill() -> None:
    with pytest.raises(AssertionError, match=r"2\.duplicate"):
        assert_never_violates(PLANTED["2.duplicate"].flawed, histories=5)


def test_a_flaw_of_a_lane_is_found_and_shrunk_to_its_minimum() -> None:
    with lanes.drops_a_write():
        first = find_scenario(lanes.lanes_differ, candidate=lanes.CANDIDATE)
        assert shrink(first, lanes.lanes_differ).scenario == lanes.MINIMUM
    assert not lanes.lanes_differ(lanes.MINIMUM)


def test_a_flaw_of_a_lane_costs_the_candidate_its_verdict() -> None:
    with lanes.drops_a_write():
        result = Campaign([lanes.CANDIDATE], Options(max_histories=20)).run(explore)
    [control, candidate] = result.candidates
    assert control.disagreement is None
    assert candidate.disagreement is not None
    assert set(candidate.verdicts.values()) == {Verdict.INCONCLUSIVE}
