"""What of a stack a failure needs: the members that are not needed are left out."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, RemoveMessage

from sixfold.harness.agent import build_agent
from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.environment import Environment
from sixfold.harness.events import Options
from sixfold.harness.scenario import Scenario
from sixfold.harness.search import Search
from sixfold.harness.stack import needed_members, without
from sixfold.harness.steps import UserTurn

from ..helpers import explore


class Idle(AgentMiddleware[Any, Any, Any]):
    def before_model(self, state: Any, runtime: Any) -> None:
        return None


class Marks(AgentMiddleware[Any, Any, Any]):
    """Marks the turn, for whoever comes later in the stack."""

    def before_agent(self, state: Any, runtime: Any) -> Any:
        return {"messages": [HumanMessage("please be brief", id=f"mark{len(state['messages'])}")]}


class ForgetsAtMarks(AgentMiddleware[Any, Any, Any]):
    """Forgets the first message of the history once it sees a mark."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        messages = state["messages"]
        marked = any(str(message.id).startswith("mark") for message in messages)
        return {"messages": [RemoveMessage(id=messages[0].id)]} if marked else None


class Other(Idle):
    pass


def stack_of_four(_environment: Environment) -> list[AgentMiddleware[Any, Any, Any]]:
    return [Idle(), Marks(), Other(), ForgetsAtMarks()]


STACK = Candidate(name="stack of four", build=stack_of_four, contract=Contract(drops_history=True))


def test_only_the_members_that_make_the_failure_are_named() -> None:
    search_options = Options(seed=0, max_histories=20, lane_samples=1)
    result = Campaign([STACK], search_options).run(explore)
    lost = [f for f in result.findings if f.signature.code == "4.question-lost"]
    assert lost
    assert lost[0].members == ("Marks", "ForgetsAtMarks")
    assert lost[0].confirmed


def test_a_single_middleware_has_no_members_to_leave_out() -> None:
    single = Candidate(name="single", build=lambda _environment: [Idle()])
    agent = build_agent(single, direct=True)
    assert needed_members(agent, Scenario((UserTurn(),)), lambda _agent, _scenario: True) == ()


def test_at_least_one_member_stays() -> None:
    agent = build_agent(STACK, direct=True)
    assert needed_members(agent, Scenario((UserTurn(),)), lambda _agent, _scenario: True) == ("Idle",)


def test_who_is_left_out_keeps_the_places_of_the_others() -> None:
    smaller = build_agent(without(STACK, frozenset({0, 2})), direct=True)
    assert [interposer.label for interposer in smaller.interposers] == [
        "left out 0",
        "Marks",
        "left out 2",
        "ForgetsAtMarks",
    ]
    agents = [build_agent(Candidate(name="control", build=lambda _e: []), direct=True), smaller]
    search = Search(agents)
    search.visit(Scenario((UserTurn(),)))
    assert search.tallies["stack of four"].violations["4.question-lost"] == 1
