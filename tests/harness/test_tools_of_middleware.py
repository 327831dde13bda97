"""Middleware around tools and with tools of its own: what it changes is seen, and histories stay apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes, is_deterministic
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, HookRan, TurnEnded
from sixfold.harness.play import play
from sixfold.harness.steps import Configure, OtherThread, Restart, Step, ToolCall, ToolRound, UserTurn

from ..helpers import agent_of, graph_agent_of, scenario_of

TWO = UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall())),))


def wrapping(wrap: Callable[..., Any], *, asynchronous: bool = False) -> Candidate:
    """Return a candidate with one wrapper around tools."""

    def sync_form(self: Any, request: Any, handler: Any) -> Any:
        return wrap(request, handler)

    async def async_form(self: Any, request: Any, handler: Any) -> Any:
        return wrap(request, handler) if wrap is instead else await handler(request)

    forms: dict[str, Any] = {"awrap_tool_call": async_form} if asynchronous else {"wrap_tool_call": sync_form}
    cls = type("Wraps", (AgentMiddleware,), forms)
    return Candidate(name="wraps", build=lambda _environment: [cls()])


def outcomes(candidate: Candidate, *steps: Step) -> list[str]:
    """Play in both lanes, see that they agree, and return the outcomes of the hooks."""
    scenario = scenario_of(*steps)
    reducer = play(agent_of(candidate), scenario).history
    graph = play(graph_agent_of(candidate), scenario, lane="graph").history
    difference = compare_lanes(reducer, graph)
    assert difference is None, str(difference)
    return [record.outcome for record in reducer.records if isinstance(record, HookRan)]


def passes_on(request: Any, handler: Any) -> Any:
    return handler(request)


def again(request: Any, handler: Any) -> Any:
    handler(request)
    return handler(request)


def instead(request: Any, handler: Any) -> Any:
    return ToolMessage("not now", tool_call_id=request.tool_call["id"], id=f"n{request.tool_call['id']}")


def rewritten(request: Any, handler: Any) -> Any:
    return handler(request).model_copy(update={"content": "shorter"})


def rewritten_in_place(request: Any, handler: Any) -> Any:
    result = handler(request)
    result.content = "shorter"
    return result


@pytest.mark.parametrize(
    ("wrap", "outcome"),
    [
        (passes_on, "nothing"),
        (again, "update"),
        (instead, "update"),
        (rewritten, "update"),
        (rewritten_in_place, "update"),
    ],
)
def test_a_wrapper_around_a_tool_changes_what_is_another_afterwards(wrap: Any, outcome: str) -> None:
    assert outcomes(wrapping(wrap), TWO) == [outcome, outcome]


@pytest.mark.parametrize(("wrap", "outcome"), [(passes_on, "nothing"), (instead, "update")])
def test_the_same_of_an_asynchronous_wrapper(wrap: Any, outcome: str) -> None:
    assert outcomes(wrapping(wrap, asynchronous=True), TWO) == [outcome, outcome]


def test_a_wrapper_that_fails_is_named() -> None:
    def fails(request: Any, handler: Any) -> Any:
        raise LookupError("no way in")

    candidate = wrapping(fails)
    assert outcomes(candidate, TWO) == []
    ended = play(agent_of(candidate), scenario_of(TWO)).history.records[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.by == "Wraps.wrap_tool_call"


def test_a_retry_of_a_failed_tool_is_a_change() -> None:
    candidate = Candidate(name="retries", build=lambda _environment: [ToolRetryMiddleware(jitter=False)])
    assert "tool" in agent_of(candidate).places()
    turn = UserTurn(rounds=(ToolRound(),), faults=(Fault("raise", "tool"),))
    assert outcomes(candidate, turn) == ["update"]


class Counts(AgentMiddleware[Any, Any, Any]):
    """Brings a tool that counts its calls, and calls it once a turn."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

        @tool
        def tally(text: str) -> str:
            """Count."""
            self.calls += 1
            return f"counted {self.calls}"

        self.tools = [tally]

    def after_model(self, state: Any, runtime: Any) -> Any:
        """Have the tool called when nobody has yet in this turn."""
        messages = state["messages"]
        if messages[-1].tool_calls or messages[-2].type == "tool":
            return None
        call = {"name": "tally", "args": {"text": "x"}, "id": f"k{len(messages)}", "type": "tool_call"}
        return {"messages": [AIMessage("", id=f"own{len(messages)}", tool_calls=[call])]}


COUNTS = Candidate(name="counts", build=lambda _environment: [Counts()])


def counted(*steps: Step) -> list[str]:
    """Return what the tool said, as it stands behind the folds that the tools made."""
    folds = [
        record
        for record in play(agent_of(COUNTS), scenario_of(*steps)).history.records
        if isinstance(record, Fold) and record.by == "tools"
    ]
    return [fold.state[-1].text for fold in folds]


def test_a_tool_of_a_middleware_is_the_one_of_the_running_instance() -> None:
    assert counted(UserTurn(), UserTurn()) == ["counted 1", "counted 2"]
    assert counted(UserTurn(), Restart(), UserTurn()) == ["counted 1", "counted 1"]


@pytest.mark.parametrize("run_async", [False, True])
def test_lanes_agree_on_a_tool_of_a_middleware(run_async: bool) -> None:
    steps = (Configure(run_async=run_async), UserTurn(), OtherThread(), UserTurn())
    assert set(outcomes(COUNTS, *steps)) == {"update", "nothing"}
    assert is_deterministic(agent_of(COUNTS), scenario_of(*steps))
