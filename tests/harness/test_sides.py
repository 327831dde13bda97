"""Comparisons of sides in this process: what differs, and the smallest scenario on which it does."""

from dataclasses import replace
from typing import Any

import pytest

from sixfold.harness.candidate import Candidate, Contract, Middleware
from sixfold.harness.scenario import Scenario
from sixfold.harness.sides.cases import Case, cases_of
from sixfold.harness.sides.comparison import CompareOptions, Comparison
from sixfold.harness.sides.result import ComparisonResult, Difference, SideResult
from sixfold.harness.subject import Outcome, Seen, Subject, subject_of
from sixfold.strategies.scenarios import explore

from ..planted import PLANTED

PAIR = PLANTED["2.duplicate"]


class Prompt(Middleware):
    """Adds a word to the system prompt as soon as the user has spoken `turns` times."""

    def __init__(self, word: str, turns: int) -> None:
        self._word, self._turns = word, turns

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        spoken = sum(message.type == "human" for message in request.messages)
        return handler(request.override(system_prompt=self._word) if spoken >= self._turns else request)


def prompting(word: str, turns: int = 2) -> Candidate:
    return Candidate(
        name="prompt", build=lambda _: [Prompt(word, turns)], contract=Contract(edits_requests=True)
    )


def compared(*candidates: Candidate, histories: int = 15) -> ComparisonResult:
    subjects: list[Subject] = [subject_of(candidate) for candidate in candidates]
    sides = [SideResult(f"side {number}", each.name) for number, each in enumerate(candidates)]
    return Comparison(subjects, sides, CompareOptions(max_histories=histories)).run(explore)


def apart(result: ComparisonResult) -> list[Difference]:
    """Return what is not the same on both sides: a prompt that comes late breaks the prefix on each."""
    return [each for each in result.differences if each.kind != "still violated"]


def without_one(scenario: Scenario) -> list[Scenario]:
    steps = scenario.steps
    return [Scenario(steps[:at] + steps[at + 1 :]) for at in range(len(steps))]


def differ(scenario: Scenario, *candidates: Candidate) -> bool:
    outcomes = [
        subject_of(each).look(scenario, invariants=(), comparing=False, seeing=True) for each in candidates
    ]
    return bool([case for case in cases_of(*outcomes, 1) if case.kind != "still violated"])


def assert_minimal(difference: Difference, *candidates: Candidate) -> None:
    assert difference.minimal
    assert differ(difference.scenario, *candidates)
    assert not any(differ(smaller, *candidates) for smaller in without_one(difference.scenario))


def test_other_words_are_a_change_that_is_shrunk_to_differ() -> None:
    one, other = prompting("be kind"), prompting("be brief")
    result = compared(one, other)
    [change] = apart(result)
    assert (change.kind, change.code, change.confirmed) == ("changed", "", None)
    assert_minimal(change, one, other)
    # The word is there from the second message of the user on, and no earlier.
    assert len(change.scenario.steps) <= 2
    assert result.complete
    assert not result.inconclusive


def test_a_violation_is_shrunk_to_what_only_one_side_shows() -> None:
    there = compared(PAIR.correct, PAIR.flawed)
    back = compared(PAIR.flawed, PAIR.correct)
    regressed = {each.code: each for each in there.of_kind("regressed")}
    assert "2.duplicate" in regressed
    assert set(regressed) == {each.code for each in back.of_kind("fixed")}
    assert regressed["2.duplicate"].confirmed
    assert_minimal(regressed["2.duplicate"], PAIR.correct, PAIR.flawed)


@pytest.mark.slow
def test_equal_sides_are_unchanged_and_equal_seeds_give_the_same() -> None:
    assert compared(PAIR.flawed, PAIR.flawed).of_kind("regressed") == []
    assert apart(compared(prompting("x"), prompting("x"))) == []
    one, other = (compared(PAIR.correct, PAIR.flawed) for _ in range(2))
    assert [each.scenario for each in one.differences] == [each.scenario for each in other.differences]


@pytest.mark.slow
def test_each_head_is_compared_with_the_base() -> None:
    result = compared(prompting("x"), prompting("x"), prompting("y"))
    assert [each.head for each in apart(result)] == ["side 2"]


@pytest.mark.parametrize(
    ("base", "head", "kinds"),
    [
        ((), ("2.duplicate",), {"regressed"}),
        (("2.duplicate",), (), {"fixed"}),
        (("2.duplicate",), ("2.duplicate",), {"still violated"}),
        (("2.duplicate",), ("2.reorder",), {"fixed", "regressed"}),
        ((), (), set()),
    ],
)
def test_cases_by_what_the_checks_say(base: tuple[str, ...], head: tuple[str, ...], kinds: set[str]) -> None:
    before, after = (
        Outcome(tuple(Seen(code, "X", "") for code in codes), sees="same") for codes in (base, head)
    )
    assert {case.kind for case in cases_of(before, after, 1)} == kinds
    seen = {case.kind for case in cases_of(before, replace(after, sees="other"), 1)}
    assert seen == (kinds if base != head else kinds | {"changed"})
    assert cases_of(replace(before, lost=True), after, 1) == []
    assert Case("regressed", 1, "2.duplicate").invariants() == (2,)
