"""Whatever a middleware may do, both lanes do it alike: record by record, synchronously and not."""

import inspect
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents.middleware import AgentMiddleware, AgentState, HumanInTheLoopMiddleware, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.types import Command, Overwrite, Send, interrupt

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, Happened, History, HookRan, Requested, TurnEnded
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import (
    Configure,
    Continue,
    EditMessage,
    OtherThread,
    Restart,
    Rewind,
    Step,
    Stored,
    ToolCall,
    ToolRound,
    UserTurn,
)

NODE_HOOKS = ("before_agent", "before_model", "after_model", "after_agent")
TALK: tuple[Step, ...] = (
    UserTurn(),
    UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall())), ToolRound())),
    Continue(),
    UserTurn(rounds=(ToolRound(),), stop="after_calls"),
    Continue(),
    Continue(),
    Restart(),
    UserTurn(stop="before_answer"),
    UserTurn(rounds=(ToolRound(),), stop="after_results"),
    EditMessage(),
    UserTurn(rounds=(ToolRound(),)),
    Rewind(turns_ago=1),
    UserTurn(),
    Continue(),
    Rewind(turns_ago=6),
    UserTurn(rounds=(ToolRound(),)),
    Continue(),
)
#: A turn whose questions are left open.
LEFT = UserTurn(stop="after_results")
Hook = Callable[..., Any]


def note(text: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, **fields)]}


def _asynchronous(hook: Hook) -> Hook:
    async def ahook(*arguments: Any) -> Any:
        return hook(*arguments)

    return ahook


def _middleware(name: str, body: dict[str, Any]) -> type[AgentMiddleware[Any, Any, Any]]:
    for hook in NODE_HOOKS:
        if hook in body:
            twin = _asynchronous(body[hook])
            if hasattr(body[hook], "__can_jump_to__"):
                twin.__can_jump_to__ = body[hook].__can_jump_to__  # type: ignore[attr-defined]
            body[f"a{hook}"] = twin
    return type(name, (AgentMiddleware,), body)


def stack(*members: dict[str, Any]) -> Candidate:
    """Return a candidate of middleware with these hooks, each in both forms; other keys are attributes."""

    types = [_middleware(f"Member{number}", dict(member)) for number, member in enumerate(members)]
    return Candidate(name="featured", build=lambda environment: [made() for made in types])


def histories(candidate: Candidate, *steps: Step, run_async: bool) -> tuple[History, History]:
    scenario = Scenario((Configure(run_async=run_async), *steps))
    reducer = play(build_agent(candidate, direct=True), scenario).history
    graph = play(build_agent(candidate, direct=False), scenario, lane="graph").history
    return reducer, graph


def agreed(candidate: Candidate, *steps: Step, run_async: bool) -> History:
    """Play the steps in both lanes, see that they agree, and return the history."""
    reducer, graph = histories(candidate, *(steps or TALK), run_async=run_async)
    difference = compare_lanes(reducer, graph)
    assert difference is None, str(difference)
    assert len([r for r in reducer.records if isinstance(r, TurnEnded)]) >= 1
    return reducer


def written_by(history: History, by: str) -> list[str]:
    return [view.text for r in history.records if isinstance(r, Fold) and r.by == by for view in r.update]


def endings(history: History) -> list[TurnEnded]:
    return [record for record in history.records if isinstance(record, TurnEnded)]


# langgraph._internal._constants
CONFIG_KEY_READ = "__pregel_read"
CONFIG_KEY_SEND = "__pregel_send"

both = pytest.mark.parametrize("run_async", [False, True], ids=["sync", "async"])


def each(table: Iterable[Any], hooks: tuple[str, ...] = NODE_HOOKS) -> pytest.MarkDecorator:
    """Run each entry at every hook, in both modes; all but one combination only when slow tests run."""
    params = []
    for number, entry in enumerate(table):
        for place, (hook, run_async) in enumerate(itertools.product(hooks, (False, True))):
            chosen = place == (3 * number) % (2 * len(hooks))
            mode = "async" if run_async else "sync"
            marks = () if chosen else (pytest.mark.slow,)
            params.append(pytest.param(entry, hook, run_async, marks=marks, id=f"{entry}-{hook}-{mode}"))
    return pytest.mark.parametrize(("what", "hook", "run_async"), params)


# -- what a hook finds around it ------------------------------------------------------------------


def _around(hook: str) -> Hook:
    def look(self: Any, state: Any, runtime: Any) -> Any:
        config = get_config()
        own = config["configurable"]
        metadata = {k: v for k, v in config["metadata"].items() if k != "langgraph_checkpoint_ns"}
        seen = {
            "config": sorted(key for key in config if not key.startswith("__")),
            "metadata": sorted(metadata.items(), key=str),
            "limits": (config["recursion_limit"], config["max_concurrency"]),
            "thread": own["thread_id"],
            "checkpoint": own["checkpoint_id"],
            "namespace": own["checkpoint_ns"].split(":")[0],
            "same": config["metadata"]["langgraph_checkpoint_ns"] == own["checkpoint_ns"],
            "store": (get_store() if hook == "before_agent" else None, runtime.store, runtime.context),
            "previous": runtime.previous,
            "writer": (get_stream_writer()({"x": 1}), runtime.stream_writer("y")),
            "info": getattr(getattr(runtime, "execution_info", None), "thread_id", None),
            "callbacks": type(config["callbacks"]).__name__,
            "state": sorted(state),
        }
        return note(repr(seen))

    return look


@both
def test_config_and_runtime_are_the_same(run_async: bool) -> None:
    history = agreed(stack({hook: _around(hook) for hook in NODE_HOOKS}), run_async=run_async)
    texts = written_by(history, "Member0.before_agent")
    assert "'thread': 'history-1'" in texts[0]
    assert "'history-2'" in texts[-1]
    assert "('langgraph_step', 1)" in texts[0]


@both
def test_config_and_runtime_are_the_same_around_model_and_tools(run_async: bool) -> None:
    def seen(runtime: Any) -> str:
        config = get_config()
        keys = ("langgraph_node", "langgraph_step", "langgraph_path")
        return repr(([config["metadata"][key] for key in keys], runtime.store, type(runtime).__name__))

    def wrap_model_call(self: Any, request: Any, handler: Any) -> Any:
        return handler(request.override(messages=[*request.messages, HumanMessage(seen(request.runtime))]))

    async def awrap_model_call(self: Any, request: Any, handler: Any) -> Any:
        shown = HumanMessage(seen(request.runtime))
        return await handler(request.override(messages=[*request.messages, shown]))

    def wrap_tool_call(self: Any, request: Any, handler: Any) -> Any:
        answer = handler(request)
        answer.content += (
            seen(request.runtime) + repr(sorted(request.state)) + str(len(request.state["messages"]))
        )
        return answer

    async def awrap_tool_call(self: Any, request: Any, handler: Any) -> Any:
        answer = await handler(request)
        answer.content += (
            seen(request.runtime) + repr(sorted(request.state)) + str(len(request.state["messages"]))
        )
        return answer

    members = {
        "wrap_model_call": wrap_model_call,
        "awrap_model_call": awrap_model_call,
        "wrap_tool_call": wrap_tool_call,
        "awrap_tool_call": awrap_tool_call,
    }
    history = agreed(stack(members), run_async=run_async)
    assert any("ToolRuntime" in view.text for r in history.records if isinstance(r, Fold) for view in r.state)


# -- where a hook sends the graph -----------------------------------------------------------------


GOTO = {
    "model": "model",
    "end": "__end__",
    "tools": "tools",
    "unknown": "nowhere",
    "itself": "Member0.{hook}",
    "two": ["model", "Member1.after_model"],
    "send": [Send("model", {"messages": [HumanMessage("sent")]})],
    "mixed": [Send("Member1.before_model", {"messages": [HumanMessage("sent")]}), "model"],
    "send tools": [Send("tools", [{"name": "nothing", "args": {}, "id": "c9", "type": "tool_call"}])],
    "send nowhere": [Send("nowhere", {})],
}


@each(GOTO)
def test_goto_is_followed_beside_the_edges(what: str, hook: str, run_async: bool) -> None:
    def go(self: Any, state: Any, runtime: Any) -> Any:
        if sum("gone" in str(m.content) for m in state["messages"]) >= 3:
            return None
        where = GOTO[what]
        return Command(goto=where.format(hook=hook) if isinstance(where, str) else where, update=note("gone"))

    quiet = {name: lambda self, state, runtime: note("here") for name in ("before_model", "after_model")}
    agreed(stack({hook: go}, quiet), *TALK[:4], run_async=run_async)


@both
@pytest.mark.parametrize("graph", [Command.PARENT, "Member0.before_model", "elsewhere"])
def test_commands_to_other_graphs(graph: str, run_async: bool) -> None:
    def go(self: Any, state: Any, runtime: Any) -> Any:
        return Command(graph=graph, update=note("gone"))

    agreed(stack({"before_model": go}), *TALK[:4], run_async=run_async)


JUMPS = ("tools", "model", "end", "nowhere", 7)


@each([*JUMPS, *(f"undeclared {to}" for to in JUMPS)])
def test_jumps(what: Any, hook: str, run_async: bool) -> None:
    declared = not str(what).startswith("undeclared")
    to = what if declared else what.removeprefix("undeclared ")

    def jump(self: Any, state: Any, runtime: Any) -> Any:
        if sum("jumped" in str(m.content) for m in state["messages"]) >= 4:
            return None
        return {"jump_to": to, **note("jumped")}

    if declared:
        jump = hook_config(can_jump_to=["tools", "model", "end"])(jump)
    other = {"before_model": lambda self, state, runtime: note("here")}
    agreed(stack({hook: jump}, other), *TALK[:6], run_async=run_async)


@both
def test_loop_without_a_model_call_ends_alike(run_async: bool) -> None:
    jump = hook_config(can_jump_to=["model"])(lambda self, state, runtime: {"jump_to": "model"})
    other = {"before_model": lambda self, state, runtime: None}
    history = agreed(stack(other, {"before_model": jump}), UserTurn(), run_async=run_async)
    assert "Recursion limit of 500" in str(endings(history)[0].error)


# -- tool calls -----------------------------------------------------------------------------------


def _rewrite(change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return a middleware that rewrites the calls of the model's last answer."""

    def after_model(self: Any, state: Any, runtime: Any) -> Any:
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or not last.tool_calls:
            return None
        calls = [change(dict(call)) for call in last.tool_calls]
        return {"messages": [last.model_copy(update={"tool_calls": calls})]}

    return {"after_model": after_model}


@tool
def shout(token: str) -> str:
    """Say it loud."""
    return token.upper()


@tool
def count(number: int) -> str:
    """Count."""
    return str(number + 1)


@tool
def command(token: str) -> Any:
    """Write to state."""
    return Command(update={"messages": [ToolMessage("done", tool_call_id="c1")]})


@tool(return_direct=True)
def finish(token: str) -> str:
    """End it."""
    return "the end"


REWRITES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "arguments": lambda call: {**call, "args": {"token": "t9.9.9"}},
    "more arguments": lambda call: {**call, "args": {**call["args"], "more": 1}},
    "no arguments": lambda call: {**call, "args": {}},
    "wrong arguments": lambda call: {**call, "args": {"token": ["a"]}},
    "unknown tool": lambda call: {**call, "name": "nothing"},
    "own tool": lambda call: {**call, "name": "shout"},
    "own tool, wrong arguments": lambda call: {**call, "name": "count"},
    "own tool that returns a command": lambda call: {**call, "name": "command"},
    "own tool that ends the turn": lambda call: {**call, "name": "finish"},
    "id": lambda call: {**call, "id": "c1"},
    "no id": lambda call: {**call, "id": None},
}


@each(REWRITES, ("after_model",))
def test_rewritten_calls(what: str, hook: str, run_async: bool) -> None:
    member = {**_rewrite(REWRITES[what]), "tools": [shout, count, command, finish]}
    agreed(stack(member), *TALK, run_async=run_async)


class WrapError(Exception):
    """What the wrapping hook raises."""


def _message(request: Any, text: str = "short") -> ToolMessage:
    return ToolMessage(text, tool_call_id=request.tool_call["id"], name=request.tool_call["name"])


def _wraps(how: str) -> dict[str, Any]:
    def before(request: Any) -> Any:
        if how == "raises":
            raise WrapError("no")
        if how == "short-circuits":
            return _message(request)
        if how == "returns a command":
            return Command(update={"messages": [_message(request), HumanMessage("from the wrap")]})
        if how == "goes to the model":
            return Command(update={"messages": [_message(request)]}, goto="model")
        if how == "writes no message":
            return Command(update={"structured_response": {"a": 1}})
        if how == "removes the call":
            asked = next(m for m in reversed(request.state["messages"]) if isinstance(m, AIMessage))
            return Command(update={"messages": [RemoveMessage(id=asked.id)]})
        if how == "returns text":
            return "text"
        if how == "returns nothing":
            return "nothing"
        if how == "rewrites the call":
            return request.override(tool_call={**request.tool_call, "args": {"token": "t9.9.9"}})
        if how == "calls its own tool":
            return request.override(tool_call={**request.tool_call, "name": "shout"}, tool=shout)
        if how == "asks":
            return _message(request, str(interrupt("May I?")))
        return None

    def wrap_tool_call(self: Any, request: Any, handler: Any) -> Any:
        made = before(request)
        if made == "nothing":
            return None
        if made is not None and not hasattr(made, "tool_call"):
            return made
        if how == "calls twice":
            handler(request)
        return handler(request if made is None else made)

    async def awrap_tool_call(self: Any, request: Any, handler: Any) -> Any:
        made = before(request)
        if made == "nothing":
            return None
        if made is not None and not hasattr(made, "tool_call"):
            return made
        if how == "calls twice":
            await handler(request)
        return await handler(request if made is None else made)

    return {"wrap_tool_call": wrap_tool_call, "awrap_tool_call": awrap_tool_call}


WRAPS = (
    "passes",
    "raises",
    "short-circuits",
    "returns a command",
    "goes to the model",
    "writes no message",
    "removes the call",
    "returns text",
    "returns nothing",
    "rewrites the call",
    "calls its own tool",
    "calls twice",
    "asks",
)


@each(WRAPS, ("wrap_tool_call",))
def test_wrapped_tool_calls(what: str, hook: str, run_async: bool) -> None:
    agreed(stack(_wraps(what)), *TALK, run_async=run_async)


# -- what a hook returns --------------------------------------------------------------------------


class Scratch(AgentState[Any]):
    """State with a key of the middleware's own."""

    secret: NotRequired[Annotated[Any, PrivateStateAttr]]
    shared: NotRequired[Any]


RETURNS: dict[str, Callable[[], Any]] = {
    "messages": lambda: [HumanMessage("bare")],
    "empty list": list,
    "text": lambda: "text",
    "number": lambda: 7,
    "false": lambda: False,
    "command in a list": lambda: [Command(update=note("one")), Command(update=note("two"))],
    "command and dict": lambda: [Command(update=note("one")), note("two")],
    "command with pairs": lambda: Command(update=[("messages", [HumanMessage("pair")])]),
    "empty command": Command,
    "command that resumes": lambda: Command(resume=1),
    "a message": lambda: HumanMessage("alone"),
    "unknown key": lambda: {"nothing": 1, **note("known")},
    "private key": lambda: {"secret": {"a": (1, 2), "b": {3}}, **note("known")},
    "shared key": lambda: {"shared": [1, "x"]},
    "structured response": lambda: {"structured_response": {"a": 1}},
    "messages of a wrong type": lambda: {"messages": 5},
    "message in another form": lambda: {"messages": [("user", "pair"), {"role": "user", "content": "dict"}]},
    "one message": lambda: {"messages": HumanMessage("one")},
    "overwrite": lambda: {"messages": Overwrite([HumanMessage("all")])},
    "removes what is not there": lambda: {"messages": [RemoveMessage(id="nobody")], "shared": 1},
    "lone surrogate": lambda: note("a\ud800b", id="s1"),
    "function in the extras": lambda: note("f", additional_kwargs={"f": len}),
    "lock in the extras": lambda: note("l", additional_kwargs={"l": threading.Lock()}),
    "tuple in the extras": lambda: note("t", id="t", additional_kwargs={"t": (1, (2,)), "s": {1}, "b": b"x"}),
    "huge number in the extras": lambda: note("n", additional_kwargs={"n": 2**80}),
    "lock in the state": lambda: {"shared": threading.Lock()},
    "lock in the response": lambda: {"structured_response": threading.Lock()},
}


@each(RETURNS)
def test_returned_values(what: str, hook: str, run_async: bool) -> None:
    def give(self: Any, state: Any, runtime: Any) -> Any:
        return RETURNS[what]()

    def tell(self: Any, state: Any, runtime: Any) -> Any:
        own = {key: type(value).__name__ for key, value in state.items() if key != "messages"}
        return note(repr((own, state.get("secret"))), id="told")

    agreed(stack({hook: give, "state_schema": Scratch}, {"before_model": tell}), run_async=run_async)


@both
def test_what_cannot_be_stored_fails_where_it_is_written(run_async: bool) -> None:
    def give(self: Any, state: Any, runtime: Any) -> Any:
        return note("f", additional_kwargs={"f": len})

    history = agreed(stack({"before_model": give}), UserTurn(), Restart(), UserTurn(), run_async=run_async)
    first, second = endings(history)
    assert first.how == second.how == "aborted"
    assert str(first.error).startswith("TypeError: Type is not msgpack serializable")
    assert "Member0.before_model" not in {r.by for r in history.records if isinstance(r, Fold)}


@both
def test_what_was_changed_in_place_and_cannot_be_stored_is_recorded(run_async: bool) -> None:
    def spoil(self: Any, state: Any, runtime: Any) -> None:
        state["messages"][0].additional_kwargs["lock"] = threading.Lock()

    history = agreed(stack({"before_model": spoil}), UserTurn(), Restart(), UserTurn(), run_async=run_async)
    [kept] = [r.detail for r in history.records if isinstance(r, Happened) and r.what == "not stored"]
    assert "TypeError: Type is not msgpack serializable" in kept


@both
@pytest.mark.parametrize("stored", ["json", "dicts"])
def test_what_an_earlier_format_cannot_hold_is_recorded(stored: Stored, run_async: bool) -> None:
    def give(self: Any, state: Any, runtime: Any) -> Any:
        return note("f", id="f", additional_kwargs={"f": {1}, 2: "two"})

    steps = (UserTurn(), Restart(stored=stored), UserTurn(), Rewind(turns_ago=1), UserTurn())
    history = agreed(stack({"before_agent": give}), *steps, run_async=run_async)
    kept = [r.detail for r in history.records if isinstance(r, Happened) and r.what == "not stored"]
    assert len(kept) == (stored == "json")
    assert {end.how for end in endings(history)} == {"answered"}


# -- interrupts -----------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("hook", NODE_HOOKS)
def test_interrupt_stops_the_turn_and_continue_answers_it(hook: str, run_async: bool) -> None:
    def ask(self: Any, state: Any, runtime: Any) -> Any:
        return note(f"{interrupt('one')} and {interrupt({'two': 2})}")

    candidate = stack({hook: ask})
    history = agreed(candidate, LEFT, Continue(), Continue(), run_async=run_async)
    assert [end.how for end in endings(history)] == ["stopped", "stopped", "answered"]
    assert written_by(history, f"Member0.{hook}") == ["True and True"]
    agreed(candidate, run_async=run_async)


@both
@pytest.mark.parametrize("hook", NODE_HOOKS)
def test_a_turn_that_is_not_to_stop_is_answered_until_it_is_over(hook: str, run_async: bool) -> None:
    def ask(self: Any, state: Any, runtime: Any) -> Any:
        return note(f"{interrupt('one')} and {interrupt({'two': 2})}")

    history = agreed(stack({hook: ask}), UserTurn(), OtherThread(), run_async=run_async)
    assert [end.how for end in endings(history)] == ["answered"]
    assert written_by(history, f"Member0.{hook}") == ["True and True"]
    assert [r.detail for r in history.records if isinstance(r, Happened) and r.what == "other_thread"] == [
        "answered"
    ]


@both
def test_who_asks_for_ever_is_answered_no_more(run_async: bool) -> None:
    def ask(self: Any, state: Any, runtime: Any) -> Any:
        while True:
            interrupt("Are you sure?")

    history = agreed(stack({"before_model": ask}), UserTurn(), run_async=run_async)
    assert [end.how for end in endings(history)] == ["stopped"]


@both
def test_what_was_asked_is_asked_again_after_going_back(run_async: bool) -> None:
    def ask(self: Any, state: Any, runtime: Any) -> Any:
        return note(f"{interrupt('one')}")

    steps = (LEFT, LEFT, Rewind(pending=True), Continue(), Continue())
    history = agreed(stack({"before_model": ask}), *steps, run_async=run_async)
    assert [end.how for end in endings(history)] == ["stopped", "stopped", "stopped", "answered"]


@both
@pytest.mark.parametrize("times", [1, 2, 3])
def test_going_back_to_the_same_open_call_again_and_again(times: int, run_async: bool) -> None:
    asks = UserTurn(rounds=(ToolRound(),), stop="after_calls")
    back = (UserTurn(), Rewind(pending=True)) * times
    history = agreed(stack({}), asks, *back, Continue(), run_async=run_async)
    assert [end.how for end in endings(history)] == ["stopped", *["answered"] * times, "answered"]
    after_tools = [
        record.state for record in history.records if isinstance(record, Fold) and record.by == "tools"
    ]
    assert [[view.says for view in state] for state in after_tools] == [["u1", "a1.1", "t1.1.0"]]


@both
def test_going_back_to_what_a_withdrawn_turn_left_open(run_async: bool) -> None:
    fails = Continue(faults=(Fault("raise", "model"),))
    back = (Rewind(pending=True), fails, UserTurn(), Rewind(pending=True))
    scenario = Scenario((Configure(run_async=run_async, system_in_state=True), UserTurn(), *back, Continue()))
    for direct, lane in ((True, "reducer"), (False, "graph")):
        history = play(build_agent(stack({}), direct=direct), scenario, lane=lane).history
        assert [end.how for end in endings(history)] == ["answered", "aborted", "answered", "answered"]


@both
def test_interrupt_of_one_of_several_calls(run_async: bool) -> None:
    asked = []

    def before(request: Any) -> Any:
        asked.append(request.tool_call["id"])
        return interrupt(request.tool_call["id"]) if ".1" in request.tool_call["args"]["token"] else None

    def wrap_tool_call(self: Any, request: Any, handler: Any) -> Any:
        before(request)
        return handler(request)

    async def awrap_tool_call(self: Any, request: Any, handler: Any) -> Any:
        before(request)
        return await handler(request)

    candidate = stack({"wrap_tool_call": wrap_tool_call, "awrap_tool_call": awrap_tool_call})
    three = UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall(), ToolCall())),), stop="after_results")
    history = agreed(candidate, three, Continue(), UserTurn(), run_async=run_async)
    assert endings(history)[0].how == "stopped"
    assert len(asked) > 3
    agreed(candidate, run_async=run_async)


def asking(mode: str, *decisions: str) -> Candidate:
    """Return a candidate that asks about each lookup, once an answer or once a call."""
    options = {} if mode == "batched" else {"interrupt_mode": mode}
    if options and "interrupt_mode" not in inspect.signature(HumanInTheLoopMiddleware).parameters:
        pytest.skip("this LangChain has one mode only")
    on: Any = {"lookup": {"allowed_decisions": list(decisions)}}
    return Candidate(name=mode, build=lambda _: [HumanInTheLoopMiddleware(interrupt_on=on, **options)])


FOUR_CALLS = UserTurn(rounds=(ToolRound(calls=(ToolCall(),) * 4),))

#: How a result begins after each decision of a reviewer.
BEGINS = {
    "approve": "⟦t1.1.",
    "edit": "Note: a human reviewer replaced this tool call",
    "reject": "User rejected the tool call",
    "respond": "Not this time.",
}


@both
@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("decisions", [*((name,) for name in BEGINS), tuple(BEGINS)], ids="+".join)
def test_reviewers_take_every_decision(decisions: tuple[str, ...], mode: str, run_async: bool) -> None:
    loop = asking(mode, *decisions)
    history = agreed(loop, FOUR_CALLS, UserTurn(), run_async=run_async)
    assert [end.how for end in endings(history)] == ["answered", "answered"]
    folds = [record for record in history.records if isinstance(record, Fold)]
    results = [view.text for view in folds[-1].state if view.role == "tool"]
    for name, words in BEGINS.items():
        those = [text for text in results if text.startswith(words)]
        assert len(those) == (4 // len(decisions) if name in decisions else 0), results
    agreed(loop, run_async=run_async)


# -- errors and bad manners -----------------------------------------------------------------------


class Stubborn(KeyboardInterrupt):
    """Looks like the user's Ctrl-C and is not."""


class Quit(SystemExit):
    """An exit with another name."""


def _forever(depth: int) -> int:
    return _forever(depth + 1) + 1


RAISES: dict[str, Callable[[], Any]] = {
    "exit": lambda: (_ for _ in ()).throw(SystemExit(3)),
    "own exit": lambda: (_ for _ in ()).throw(Quit("bye")),
    "own interrupt": lambda: (_ for _ in ()).throw(Stubborn("no")),
    "generator exit": lambda: (_ for _ in ()).throw(GeneratorExit("gone")),
    "stop iteration": lambda: next(iter(())),
    "recursion": lambda: _forever(0),
}


@each(RAISES)
def test_raised_in_a_hook(what: str, hook: str, run_async: bool) -> None:
    def fail(self: Any, state: Any, runtime: Any) -> Any:
        return RAISES[what]()

    history = agreed(stack({hook: fail}), *TALK[:7], run_async=run_async)
    assert any(isinstance(r, HookRan) and r.outcome == "raised" for r in history.records)


@both
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_patched_clocks_and_dice_are_put_back(run_async: bool) -> None:
    clock, dice = time.perf_counter, random.random

    def patch(self: Any, state: Any, runtime: Any) -> Any:
        time.perf_counter = time.time = time.monotonic = lambda: "late"  # type: ignore[assignment,return-value]
        random.random = lambda: "four"  # type: ignore[assignment,return-value]
        return None

    agreed(stack({"before_agent": patch}), *TALK[:2], run_async=run_async)
    assert time.perf_counter is clock
    assert random.random is dice


# -- what a backend reads and writes through the config --------------------------------------------


def _through_config(self: Any, state: Any, runtime: Any) -> Any:
    own = get_config()["configurable"]
    seen = len(own[CONFIG_KEY_READ]("messages"))
    own[CONFIG_KEY_SEND]([("messages", [HumanMessage(f"sent after {seen}", name="note")])])
    fresh = len(own[CONFIG_KEY_READ]("messages", fresh=True))
    return note(f"there were {seen}, and {fresh} with what was sent")


@both
@pytest.mark.parametrize("hook", NODE_HOOKS)
def test_a_hook_may_read_and_write_through_its_config(hook: str, run_async: bool) -> None:
    history = agreed(stack({hook: _through_config}), UserTurn(), UserTurn(), run_async=run_async)
    texts = [view.text for r in history.records if isinstance(r, Fold) for view in r.state]
    assert any(text.startswith("sent after") for text in texts)
    assert any("there were" in text for text in texts)


@both
def test_a_wrapper_of_the_model_may_read_through_its_config(run_async: bool) -> None:
    def look(request: Any) -> Any:
        count = len(get_config()["configurable"][CONFIG_KEY_READ]("messages"))
        return request.override(system_message=SystemMessage(f"{count} messages are stored"))

    def wrap_model_call(self: Any, request: Any, handler: Any) -> Any:
        return handler(look(request))

    async def awrap_model_call(self: Any, request: Any, handler: Any) -> Any:
        return await handler(look(request))

    wraps = {"wrap_model_call": wrap_model_call, "awrap_model_call": awrap_model_call}
    history = agreed(stack(wraps), UserTurn(), UserTurn(), run_async=run_async)
    prompts = [record.system for record in history.records if isinstance(record, Requested)]
    assert prompts == ["1 messages are stored", "3 messages are stored"]
