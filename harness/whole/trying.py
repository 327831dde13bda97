"""Trying an agent before it is fuzzed: a turn or two in its own graph, to learn how it works.

What is learned: in which nodes the model speaks to the user, which tool can be called, in which nodes
tools run, and whether there is a synchronous and an asynchronous form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from ..clock import START, VirtualClock
from ..environment import Environment
from ..errors import TargetError
from ..interposer import messages_of
from ..interrupts import is_the_users
from ..lanes.surroundings import MAX_SUPERSTEPS
from ..loop import DeterministicLoop
from ..script import CalledTool
from ..tokens import token_text
from ..undisturbed import undisturbed
from ..views import text_of
from .model import Learned, Trial, WholeAgentModel
from .tools import called, worth_trying

Build = Callable[[Environment], Any]

#: Called before each turn in which an agent is tried. A worker tells its watchdog that the time runs anew.
before_trial: list[Callable[[], None]] = []

#: The widest window that is tried, in tokens; a window need not be narrower than to this many tokens.
_WIDEST, _NEAR_ENOUGH = 1_000_000, 32

#: The part of its window that an agent fills before it compacts: the default of deepagents, and usual.
_USUAL_TRIGGER = 0.85

#: Tokens that a history may hold, behind a long prompt, until it is compacted: the longest turns that are
#: drawn have twice as many, and must still fit into the window.
_ROOM = 360


class Nodes(NamedTuple):
    """The nodes in which the model answers the user, and those in which tools run."""

    model: list[str]
    tools: list[str]


class Tried(NamedTuple):
    """What was learned of an agent."""

    learned: Learned
    nodes: Nodes
    tool: CalledTool | None
    runs_sync: bool
    runs_async: bool


class _Outcome(NamedTuple):
    """One turn: what the model saw, the messages at its end, who wrote results of tools, and its error.

    `slept` are the seconds of virtual time that it took.
    """

    trial: Trial
    messages: list[BaseMessage]
    tool_nodes: list[str]
    error: BaseException | None
    halted: bool
    slept: float


@contextmanager
def _trying(model: WholeAgentModel, trial: Trial) -> Iterator[None]:
    model.trial = trial
    try:
        yield
    finally:
        model.trial = None


def _turn(build: Build, model: WholeAgentModel, trial: Trial, *, run_async: bool = False) -> _Outcome:
    for call in before_trial:
        call()
    clock = VirtualClock()
    environment = Environment(model=model, clock=clock, checkpointer=InMemorySaver(), tools=(model.lookup,))
    given = {"messages": [HumanMessage(token_text("u1", 2), id="u1")]}
    config: Any = {
        "configurable": {"thread_id": "trial"},
        "recursion_limit": MAX_SUPERSTEPS,
        "max_concurrency": 1,
    }
    tool_nodes: dict[str, None] = {}
    error: BaseException | None = None
    with undisturbed(), clock.running(), _trying(model, trial):
        graph = build(environment).copy(update={"checkpointer": environment.checkpointer})

        def note(update: dict[str, Any]) -> None:
            for node, written in update.items():
                several = written if isinstance(written, (list, tuple)) else [written]
                if any(isinstance(m, ToolMessage) for each in several for m in messages_of(each)):
                    tool_nodes[node] = None

        async def arun() -> None:
            async for update in graph.astream(given, config, stream_mode="updates"):
                note(update)

        try:
            if run_async:
                DeterministicLoop(clock).run(arun())
            else:
                for update in graph.stream(given, config, stream_mode="updates"):
                    note(update)
        except BaseException as raised:  # histories will show what the agent raises
            if is_the_users(raised):
                raise
            error = raised
        state = graph.get_state(config)
    messages = list(state.values.get("messages", []))
    slept = (clock.now() - START).total_seconds()
    return _Outcome(trial, messages, list(tool_nodes), error, bool(state.next), slept)


def _has_no_such_form(error: BaseException | None) -> bool:
    """Tell whether the turn failed because code of the agent has the other form only."""
    return isinstance(error, NotImplementedError) or (
        isinstance(error, TypeError) and "No synchronous function" in str(error)
    )


def try_agent(build: Build, model: WholeAgentModel, place: str) -> Tried:
    """Try the agent that `build` compiles. Raises `TargetError` when it does not use its model.

    The window that the model announces is widened when the agent's own prompt does not fit into it.
    """
    first = _turn(build, model, Trial())
    if first.error is not None:
        first = _in_a_wider_window(build, model, first)
    other = _turn(build, model, Trial(), run_async=True)
    runs_sync, runs_async = not _has_no_such_form(first.error), not _has_no_such_form(other.error)
    seen = first if runs_sync or not runs_async else other
    said = "\n".join(text_of(message.content) + str(message.id) for message in seen.messages)
    speaks = {place for place, mark in seen.trial.answers if mark in said}
    _check(seen, bool(speaks), place)
    learned = Learned(frozenset(speaks), frozenset(place for place, _ in seen.trial.answers) - speaks)
    tool, tool_nodes = _tool_of(build, model, seen, run_async=not runs_sync)
    top = sorted({place.node.partition("|")[0] for place in speaks})
    return Tried(learned, Nodes(top, tool_nodes), tool, runs_sync or not runs_async, runs_async)


def _in_a_wider_window(build: Build, model: WholeAgentModel, small: _Outcome) -> _Outcome:
    """Return a turn in the smallest window in which it succeeds, with room for a short history.

    Where it fails in any window, the window stays as it is.
    """
    narrow, wide = model.window(), _WIDEST

    def fails_in(window: int) -> bool:
        model.announce(window)
        return _turn(build, model, Trial()).error is not None

    if fails_in(wide):
        model.announce(narrow)
        return small
    too_narrow = narrow
    while wide - too_narrow > _NEAR_ENOUGH:
        middle = (too_narrow + wide) // 2
        if fails_in(middle):
            too_narrow = middle
        else:
            wide = middle
    model.announce(int((wide + _ROOM) / _USUAL_TRIGGER))
    return _turn(build, model, Trial())


def _check(seen: _Outcome, speaks: bool, place: str) -> None:
    if seen.error is not None or seen.halted or speaks:
        return
    if not seen.trial.answers:
        slept = f" after {seen.slept:,.0f} s of virtual time, which pass at once," if seen.slept else ""
        raise TargetError(
            f"the agent ended a turn{slept} and did not call the model it was given",
            place=place,
            remedy="Use the factory's argument model wherever the agent calls a model.",
        )
    raise TargetError(
        "what the model answered is not in the agent's messages at the end of a turn",
        place=place,
        remedy="Sixfold judges the state key messages: let the node that calls the model write there.",
    )


def _tool_of(
    build: Build, model: WholeAgentModel, seen: _Outcome, *, run_async: bool
) -> tuple[CalledTool | None, list[str]]:
    """Return the first tool that answers when it is called, and the nodes in which tools run."""
    if seen.error is not None:
        return None, []
    for tool in worth_trying(seen.trial.tools.values()):
        how = called(tool)
        if tool.ours:
            return how, ["tools"]
        trial = Trial((tool.name, how.arguments("t0.0.0")))
        outcome = _turn(build, model, trial, run_async=run_async)
        results = [m for m in outcome.messages if isinstance(m, ToolMessage) and m.tool_call_id == "c0"]
        if outcome.error is None and len(results) == 1 and results[0].status != "error":
            return how, outcome.tool_nodes
    return None, []
