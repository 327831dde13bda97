"""`as_candidate`: what a test may hand over, and what is refused with a reason."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from sixfold.harness import Environment, TargetError, as_candidate, check
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import UserTurn
from sixfold.models.deerflow import DEERFLOW


class Counts(AgentMiddleware[Any, Any, Any]):
    def __init__(self) -> None:
        self.seen: list[int] = []

    def before_model(self, state: Any, runtime: Any) -> None:
        self.seen.append(len(state["messages"]))


class Wants(AgentMiddleware[Any, Any, Any]):
    def __init__(self, limit: int) -> None:
        self.limit = limit


def build(environment: Environment) -> AgentMiddleware[Any, Any, Any]:
    return Counts()


ONE_TURN = Scenario((UserTurn(),))


def test_each_form_is_played() -> None:
    instance = Counts()
    for thing in (Counts, instance, build, [Counts, lambda environment: Wants(3)], DEERFLOW):
        assert check(thing, ONE_TURN).history.records
    assert instance.seen == []  # each history has a copy


def test_the_same_thing_is_the_same_candidate() -> None:
    assert as_candidate(Counts) is as_candidate(Counts)
    assert as_candidate(DEERFLOW) is DEERFLOW
    assert as_candidate(Counts).name == "Counts"
    assert as_candidate([Counts, Counts()]).name == "Counts + Counts"


def test_a_target_is_named_where_an_import_path_names_it() -> None:
    assert as_candidate(Counts).target.endswith(":Counts")
    assert as_candidate(lambda environment: Counts()).target == ""
    assert as_candidate(Counts()).target == ""


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Wants, "the constructor of Wants takes limit"),
        ([], "empty"),
        (3, "a int is not middleware"),
        (dict, "the class dict is not middleware"),
        (lambda *_: Counts(), "not middleware"),
        (lambda a, b: Counts(), "not middleware"),
    ],
)
def test_what_is_no_middleware_is_refused(thing: object, words: str) -> None:
    with pytest.raises(TargetError, match=words):
        as_candidate(thing)
