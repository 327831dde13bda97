"""What middleware keeps and hands on beside messages: both lanes keep it alike, synchronously and not."""

from __future__ import annotations

import operator
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware import types as middleware
from langchain.agents.middleware.types import ModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes
from sixfold.harness.history import Fold
from sixfold.harness.play import play
from sixfold.harness.steps import Configure, Restart, Step, ToolRound, UserTurn

from ..helpers import scenario_of

Extended: Any = getattr(middleware, "ExtendedModelResponse", None)

both = pytest.mark.parametrize("run_async", [False, True], ids=["sync", "async"])


def told(made: type[AgentMiddleware[Any, Any, Any]], *steps: Step, run_async: bool) -> list[str]:
    """Play in both lanes, see that they agree, and return the texts of messages called `told`, in order."""
    candidate = Candidate(name="keeps", build=lambda _environment: [made()])
    scenario = scenario_of(Configure(run_async=run_async), *steps)
    reducer = play(build_agent(candidate, direct=True), scenario).history
    graph = play(build_agent(candidate, direct=False), scenario, lane="graph").history
    difference = compare_lanes(reducer, graph)
    assert difference is None, str(difference)
    folds = [record for record in reducer.records if isinstance(record, Fold)]
    return [view.text for view in folds[-1].state if view.name == "told"]


def tell(what: object) -> dict[str, Any]:
    return {"messages": [HumanMessage(repr(what), name="told")]}


class Reduced(AgentState[Any]):
    """A key that is added up, one that keeps the longest, and a private one that is added up."""

    total: Annotated[NotRequired[int], operator.add]
    longest: Annotated[NotRequired[str], lambda old, new: max(old, new, key=len)]
    seen: Annotated[NotRequired[list[int]], PrivateStateAttr, operator.add]


class Reducers(AgentMiddleware[Any, Any, Any]):
    """Writes to keys that have reducers of their own, in two hooks."""

    state_schema = Reduced

    def before_model(self, state: Any, runtime: Any) -> Any:
        """Write."""
        return {"total": 1, "longest": "long" if state["total"] else "longest", "seen": [state["total"]]}

    def after_agent(self, state: Any, runtime: Any) -> Any:
        """Tell what has become of it."""
        return {"total": 10, **tell((state["total"], state["longest"], state["seen"]))}


@both
def test_keys_are_folded_by_reducers_of_their_own(run_async: bool) -> None:
    steps = (UserTurn(rounds=(ToolRound(),)), Restart(), UserTurn())
    said = told(Reducers, *steps, run_async=run_async)
    assert said == [repr((2, "longest", [0, 1])), repr((13, "longest", [0, 1, 12]))]


class OnSelf(AgentMiddleware[Any, Any, Any]):
    """Counts on the instance."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def before_model(self, state: Any, runtime: Any) -> None:
        """Count."""
        self.calls += 1

    def after_agent(self, state: Any, runtime: Any) -> Any:
        """Tell how often."""
        return tell(self.calls)


@both
def test_what_an_instance_keeps_is_lost_when_its_process_ends(run_async: bool) -> None:
    steps = (UserTurn(), UserTurn(rounds=(ToolRound(),)), Restart(), UserTurn())
    assert told(OnSelf, *steps, run_async=run_async) == ["1", "3", "1"]


class Answered(AgentState[Any]):
    """A key that a wrapped model call writes."""

    calls: Annotated[NotRequired[int], operator.add]


def _around(change: Any) -> type[AgentMiddleware[Any, Any, Any]]:
    """Return middleware that answers a model call with what `change` makes of its response."""

    class Around(AgentMiddleware[Any, Any, Any]):
        state_schema = Answered

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return change(handler(request))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return change(await handler(request))

        def after_agent(self, state: Any, runtime: Any) -> Any:
            return tell((state.get("calls"), state.get("structured_response")))

    return Around


def _marked(response: Any) -> ModelResponse[Any]:
    return ModelResponse(result=response.result, structured_response={"a": 1})


def _extended(response: Any, **update: Any) -> Any:
    return Extended(model_response=response, command=Command(update=update))


@both
def test_a_wrapped_model_call_may_answer_with_structure(run_async: bool) -> None:
    said = told(_around(_marked), UserTurn(), UserTurn(), run_async=run_async)
    assert [text.endswith("{'a': 1})") for text in said] == [True, True]


@both
def test_a_wrapped_model_call_may_answer_with_a_message_alone(run_async: bool) -> None:
    made = _around(lambda response: AIMessage(response.result[0].content, id="alone"))
    assert len(told(made, UserTurn(), UserTurn(rounds=(ToolRound(),)), run_async=run_async)) == 2


@pytest.mark.skipif(Extended is None, reason="this LangChain has no ExtendedModelResponse")
@both
def test_a_wrapped_model_call_may_answer_with_a_command_beside(run_async: bool) -> None:
    made = _around(lambda response: _extended(response, calls=1, **tell("beside")))
    said = told(made, UserTurn(rounds=(ToolRound(),)), UserTurn(), run_async=run_async)
    assert [text for text in said if "beside" not in text] == ["(2, None)", "(3, None)"]
    assert said.count("'beside'") == 3
