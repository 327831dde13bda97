"""What a stack breaks that none of its members breaks alone, shrunk to the members that it needs."""

import functools
from dataclasses import replace

import pytest
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware, TodoListMiddleware

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import Candidate, Middleware
from sixfold.harness.environment import Environment
from sixfold.harness.events import Options
from sixfold.harness.findings import Finding
from sixfold.models.deerflow import CONTRACT, DynamicContextMiddleware

from ..helpers import explore, violations

#: In the world of all of them agents are run again without new words.
SHARED = replace(CONTRACT, compacts=True, outside=CONTRACT.outside - {"continue"})

#: What neither member does alone: the injector knows deer-flow's summaries by their name, and takes
#: LangChain's, which has none, for words of the user.
ONLY_TOGETHER = "5.summary-rewritten"


class Bystander(AgentMiddleware):
    """Looks on."""

    def before_model(self, state: object, runtime: object) -> None:
        """Do nothing."""


def injector(environment: Environment) -> Middleware:
    return DynamicContextMiddleware(environment)


def summariser(environment: Environment) -> Middleware:
    return SummarizationMiddleware(environment.model, trigger=("messages", 5), keep=("messages", 2))


def bystander(_environment: Environment) -> Middleware:
    return Bystander()


def todo(_environment: Environment) -> Middleware:
    return TodoListMiddleware()


MEMBERS = {
    "injector": (injector,),
    "summariser": (summariser,),
    "stack": (injector, summariser),
    "with a bystander": (bystander, injector, summariser),
    "with another": (injector, todo, summariser),
}
CANDIDATES = {
    name: Candidate(
        name=name,
        build=lambda environment, members=members: [make(environment) for make in members],
        contract=SHARED,
    )
    for name, members in MEMBERS.items()
}


@functools.cache
def found() -> dict[tuple[str, str], Finding]:
    """Return the findings of one campaign on the stacks and on each member, by candidate and code."""
    options = Options(max_histories=60, invariants=(5,))
    result = Campaign(list(CANDIDATES.values()), options).run(explore)
    return {(each.signature.candidate, each.signature.code): each for each in result.findings}


@pytest.mark.parametrize("name", [name for name, members in MEMBERS.items() if len(members) > 1])
def test_a_stack_is_shrunk_to_the_members_that_it_needs(name: str) -> None:
    finding = found()[name, ONLY_TOGETHER]
    assert finding.members == ("DynamicContextMiddleware", "SummarizationMiddleware")
    assert finding.confirmed
    assert finding.minimal
    assert [step.kind for step in finding.scenario.steps] == ["user_turn", "continue"]
    assert {"control", "injector", "summariser"} <= set(finding.held_by)


@pytest.mark.parametrize("name", [name for name, members in MEMBERS.items() if len(members) == 1])
def test_no_member_does_it_alone(name: str) -> None:
    assert (name, ONLY_TOGETHER) not in found()
    assert ONLY_TOGETHER not in violations(CANDIDATES[name], histories=300)
