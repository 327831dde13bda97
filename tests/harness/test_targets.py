"""`as_candidate`: what a test may hand over, and what is refused with a reason."""

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import MessagesState, StateGraph

from sixfold.harness import Environment, TargetError, as_candidate, check
from sixfold.harness.history import Fold, Requested
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import UserTurn
from sixfold.models.deerflow import DEERFLOW
from sixfold.models.resolve import resolve
from sixfold.strategies import machine_for


class Counts(AgentMiddleware[Any, Any, Any]):
    def __init__(self) -> None:
        self.seen: list[int] = []

    def before_model(self, state: Any, runtime: Any) -> None:
        self.seen.append(len(state["messages"]))


class Wants(AgentMiddleware[Any, Any, Any]):
    def __init__(self, mood: str) -> None:
        self.mood = mood


class Inner:
    class Nested(Counts):
        pass


def build(environment: Environment) -> AgentMiddleware[Any, Any, Any]:
    return Counts()


def hook(state: Any) -> dict[str, Any]:
    return {"llm_input_messages": state["messages"][-1:]}


async def node(state: Any, runtime: Any) -> dict[str, Any]:
    return {"messages": [HumanMessage("noted", id=f"n{len(state['messages'])}")]}


def build_with_a_model(model: Any) -> AgentMiddleware[Any, Any, Any]:
    return SummarizationMiddleware(model, trigger=("messages", 3), keep=("messages", 1))


def make_agent(model: Any, checkpointer: Any) -> Any:
    return create_agent(model, [], checkpointer=checkpointer)


ONE_TURN = Scenario((UserTurn(),))
TURNS = Scenario((UserTurn(), UserTurn(), UserTurn()))


def test_each_form_is_played() -> None:
    instance = Counts()
    for thing in (Counts, instance, build, [Counts, lambda environment: Wants("glad")], DEERFLOW):
        assert check(thing, ONE_TURN).history.records
    assert instance.seen == []  # each history has a copy


def test_the_constructor_is_given_what_it_needs() -> None:
    candidate = as_candidate(SummarizationMiddleware)
    assert "model=environment.model, trigger=('messages', 5)" in candidate.wiring
    records = check(candidate, TURNS, invariants=(2,)).history.records
    folds = [record for record in records if isinstance(record, Fold)]
    assert len(folds[-1].state) < 6, "the threshold was not lowered"


@pytest.mark.parametrize("thing", [hook, RunnableLambda(hook)], ids=["function", "runnable"])
def test_a_pre_model_hook_says_what_the_model_is_shown(thing: object) -> None:
    records = check(thing, TURNS, invariants=(2,)).history.records
    assert [[view.id for view in r.messages] for r in records if isinstance(r, Requested)] == [
        ["u1"],
        ["u2"],
        ["u3"],
    ]


def test_what_a_node_writes_is_folded() -> None:
    folds = [record for record in check(node, ONE_TURN).history.records if isinstance(record, Fold)]
    assert "n1" in [view.id for view in folds[-1].state]


def test_a_whole_agent_is_played_in_its_own_graph() -> None:
    trial = check(make_agent, TURNS)
    assert trial.history.lane == "graph"
    assert as_candidate(make_agent).wiring == (
        "make_agent(model=environment.model, checkpointer=environment.checkpointer)"
    )


@pytest.mark.parametrize(
    "thing",
    [SummarizationMiddleware, hook, node, RunnableLambda(hook), build_with_a_model, make_agent],
    ids=lambda thing: getattr(thing, "__name__", "runnable"),
)
def test_a_machine_plays_it(thing: object) -> None:
    machine = machine_for(thing)()
    machine.perform(UserTurn())
    assert machine.side.requests


@pytest.mark.parametrize("name", ["Counts", "Wants", "Inner.Nested", "build", "hook", "node", "make_agent"])
def test_the_command_line_makes_the_same_of_it(name: str) -> None:
    thing: Any = Inner.Nested if name == "Inner.Nested" else globals()[name]
    target = f"{Path(__file__).relative_to(Path.cwd())}:{name}"
    told = []
    for make in (lambda: as_candidate(thing), lambda: resolve(target)):
        try:
            candidate = make()
            told.append((candidate.wiring, candidate.plain and candidate.plain.arguments))
        except TargetError as error:
            told.append((error.cause, error.remedy.count("return Wants(...)")))
    assert told[0] == told[1]


def test_the_same_thing_is_the_same_candidate() -> None:
    assert as_candidate(Counts) is as_candidate(Counts)
    assert as_candidate(DEERFLOW) is DEERFLOW
    assert as_candidate(Counts).name == "Counts"
    assert as_candidate([Counts, Counts()]).name == "Counts + Counts"


def test_a_target_is_named_where_an_import_path_names_it() -> None:
    assert as_candidate(Counts).target.endswith(":Counts")
    assert as_candidate(Inner.Nested).target.endswith(":Inner.Nested")
    assert as_candidate(lambda environment: Counts()).target == ""
    assert as_candidate(Counts()).target == ""


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Wants, "cannot supply the constructor argument mood of Wants .*sixfold init .*return Wants"),
        ([Counts, Wants], r"cannot supply the constructor argument mood of Wants \(Wants\). Write a factory"),
        ([], "empty"),
        (3, "an int is not middleware"),
        ([Counts, [Counts]], "a list is not middleware"),
        (dict, "the class dict is not middleware"),
        (lambda *_: Counts(), "takes 0 required arguments"),
        (lambda a, b: Counts(), "takes 2 required arguments"),
        (lambda model, mood: Counts(), "cannot supply the argument mood of the factory"),
        (StateGraph(MessagesState), "built already"),
    ],
)
def test_what_is_no_middleware_is_refused(thing: object, words: str) -> None:
    with pytest.raises(TargetError, match=f"(?s){words}") as refused:
        as_candidate(thing)
    assert refused.value.place
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (lambda environment: None, "the factory returned nothing, which is neither middleware nor a node"),
        (lambda environment: StateGraph(MessagesState), "not compiled"),
        (lambda environment: [make_agent(environment.model, None)] * 2, "is not an AgentMiddleware"),
    ],
)
def test_what_a_factory_makes_is_refused_when_it_is_played(thing: object, words: str) -> None:
    with pytest.raises(TargetError, match=words):
        check(thing, ONE_TURN)
