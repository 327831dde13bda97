"""The reducer lane: the agent's own nodes, edges and channels, without LangGraph's scheduler.

Node functions, routing functions and channels are the very objects that `create_agent` built, so
hook order, wrapping and folding are the library's; only the loop around them is ours. It is written
once, as coroutines that never suspend in a synchronous run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import ToolMessage, convert_to_messages
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.constants import END, START
from langgraph.errors import ErrorCode, GraphRecursionError, InvalidUpdateError, create_error_message
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from ..agent import Agent
from ..loop import run_sync
from ..session import Session
from ..steps import Stored
from ..stored import written
from .stopping import Base, StopPoint

#: Supersteps a turn may take, as the graph lane's recursion limit.
MAX_SUPERSTEPS = 500

_RUNTIME: Runtime[Any] = Runtime()

Write = tuple[str, Any]
Target = str | list[Any]


def _writes(update: Any, known: Iterable[str]) -> list[Write]:
    """Return the channel writes of a node's return value, as LangGraph reads it."""
    if update is None:
        return []
    if isinstance(update, dict):
        return [(key, update[key]) for key in update if key in known]
    if isinstance(update, Command):
        pairs = update.update
        if isinstance(pairs, (list, tuple)) and all(isinstance(pair, tuple) for pair in pairs):
            return [(key, value) for key, value in pairs if key in known]
        return _writes(pairs, known)
    if isinstance(update, (list, tuple)):
        return [write for item in update for write in _writes(item, known)]
    raise InvalidUpdateError(
        create_error_message(
            message=f"Expected dict, got {update}", error_code=ErrorCode.INVALID_GRAPH_NODE_RETURN_VALUE
        )
    )


def _goto(update: Any) -> str | None:
    """Return where a node's return value says to go next, if it does."""
    for command in update if isinstance(update, (list, tuple)) else (update,):
        if isinstance(command, Command) and isinstance(command.goto, str) and command.goto:
            return command.goto
    return None


def _calls_of(send: Send) -> list[Any]:
    """Return the tool calls that a `Send` to the tool node carries; before LangChain 1.2 in a dict."""
    return [send.arg["tool_call"]] if isinstance(send.arg, dict) else list(send.arg)


class ReducerLane:
    """Drives one history by calling nodes and folding their writes, superstep by superstep."""

    def __init__(self, agent: Agent, session: Session, *, thread: str = "history") -> None:
        self._agent = agent
        self._session = session
        self._wiring = agent.wiring
        self._channels = {name: channel.copy() for name, channel in self._wiring.channels.items()}
        self._runtime: Runtime[Any] = _RUNTIME
        supply = {
            "runtime": self._runtime,
            "config": {"configurable": {"thread_id": f"{thread}-1"}},
            "store": None,
        }
        self._supplied = {
            name: {key: supply[key] for key in node.wanted} for name, node in self._wiring.nodes.items()
        }
        self._values: dict[str, Any] = {}
        self._pending: Target | None = None
        self._resumable = False
        self._marks: dict[int, tuple[dict[str, Any], Target | None]] = {}
        self._look_at_channels()

    def submit(self, messages: list[Any], stop: StopPoint | None = None) -> bool:
        """Run the agent on new messages; lets errors escape. Returns whether it was stopped."""
        self._pending = None
        self._resumable = False
        self._forget_untracked()
        self._load_messages()
        self._commit([("messages", list(messages))])
        return self._run(self._after(START), stop)

    def resume(self) -> None:
        """Go on from where the turn was stopped or failed; from the start when it was finished."""
        if self._resumable and self._pending is not None:
            self._resumable = False
            self._forget_untracked()
            self._run(self._pending, None)
        else:
            self.submit([])

    def fail(self, *, resumable: bool) -> None:
        """Remember that a turn was aborted, and whether it may be resumed."""
        self._resumable = resumable

    def update(self, value: Any) -> None:
        """Fold a client's write to `messages` into state."""
        self._pending = None
        self._resumable = False
        self._commit([("messages", value)])

    def restart(self, stored: Stored = "now") -> None:
        """Renew the middleware and send every channel through the checkpoint serialiser."""
        serde = JsonPlusSerializer()
        self._forget_untracked()
        for name, channel in self._channels.items():
            if channel.is_available():
                value = serde.dumps_typed(channel.get())
                if name == "messages" and not self._resumable:
                    value = written(stored, channel.get())
                self._channels[name] = channel.from_checkpoint(serde.loads_typed(value))
        self._look_at_channels()
        self._agent.renew(self._session)

    def mark(self, turn: int) -> None:
        """Remember the state before `turn`."""
        channels = {name: channel.copy() for name, channel in self._channels.items()}
        self._marks[turn] = channels, self._pending if self._resumable else None

    def rewind(self, turn: int, *, pending: bool) -> Base:
        """Go back to the state before `turn`, with what was still to be done there if `pending`."""
        channels, to_do = self._marks[turn]
        self._pending = to_do if pending else None
        self._resumable = self._pending is not None
        self._channels = {name: channel.copy() for name, channel in channels.items()}
        self._look_at_channels()
        return Base(convert_to_messages(self._values["messages"]), self._resumable)

    def _forget_untracked(self) -> None:
        """Empty the channels that no checkpoint keeps, as every new invocation of a graph does."""
        for name in self._wiring.untracked:
            self._channels[name] = self._wiring.channels[name].copy()
            self._values.pop(name, None)

    def _load_messages(self) -> None:
        """Part the stored messages from the objects that hooks hold, as loading a checkpoint does."""
        messages = self._values.get("messages", [])
        loaded = self._session.stored(messages)
        if loaded is not messages:
            self._channels["messages"] = self._channels["messages"].from_checkpoint(loaded)
            self._values["messages"] = loaded

    def _look_at_channels(self) -> None:
        self._values = {name: c.get() for name, c in self._channels.items() if c.is_available()}

    def _run(self, current: Target, stop: StopPoint | None) -> bool:
        loop = self._session.loop
        if loop is None:
            return run_sync(self._walk(current, stop))
        return loop.run(self._walk(current, stop))

    async def _walk(self, current: Target, stop: StopPoint | None) -> bool:
        was_tools = False
        for _ in range(MAX_SUPERSTEPS):
            if stop is not None and self._stops(current, was_tools, stop):
                self._pending = current
                self._resumable = True
                return True
            if current == END:
                self._pending = None
                return False
            self._pending = current
            was_tools = isinstance(current, list)
            current = await self._superstep(current)
        raise GraphRecursionError(f"Recursion limit of {MAX_SUPERSTEPS} reached")

    def _stops(self, current: Target, was_tools: bool, stop: StopPoint) -> bool:
        here = {
            "before_answer": current == "model",
            "after_calls": isinstance(current, list),
            "after_results": was_tools and current != END,
        }
        return here[stop.where] and stop.reached(self._session)

    async def _superstep(self, current: Target) -> Target:
        if isinstance(current, list):
            self._commit(await self._tool_writes(current))
            return self._after("tools")
        node = self._wiring.nodes[current]
        values = self._values
        state = {name: values[name] for name in node.fields if name in values}
        supplied = self._supplied[current]
        if self._session.loop is not None and node.afunc is not None:
            update = await node.afunc(state, **supplied)
        elif node.func is not None:
            update = node.func(state, **supplied)
        else:
            update = node.runnable.invoke(state, {})
        self._commit(_writes(update, self._channels))
        return _goto(update) or self._after(current)

    async def _tool_writes(self, calls: list[Any]) -> list[Write]:
        """Run the tools that were called; return the writes of their results."""
        wiring = self._wiring
        if wiring.wrap_tool_call is None and wiring.awrap_tool_call is None:
            said = self._session.tool_result
            results = [said(str(call["args"]["token"]), str(call["id"])) for call in calls]
            if wiring.folds_together:
                return [("messages", results)]
            return [("messages", [result]) for result in results]
        writes: list[Write] = []
        wrapped = [await self._run_tool(call) for call in calls]
        for result in wrapped:
            writes += (
                _writes(result, self._channels) if isinstance(result, Command) else [("messages", [result])]
            )
        return writes

    def _commit(self, writes: list[Write]) -> None:
        wiring, values = self._wiring, self._values
        if wiring.stamp_ids is not None:
            wiring.stamp_ids(wiring.channels, writes)
        by_channel: dict[str, list[Any]] = {name: [] for name in wiring.transient}
        for name in wiring.ephemeral:
            if name in values:
                by_channel[name] = []
        wrote_messages = False
        for name, value in writes:
            by_channel.setdefault(name, []).append(value)
            wrote_messages = wrote_messages or name == "messages"
        # Channels are updated in their own order: an error in one leaves those behind it as they were.
        for name, channel in self._channels.items():
            if name not in by_channel:
                continue
            channel.update(by_channel[name])
            if channel.is_available():
                values[name] = channel.get()
            else:
                values.pop(name, None)
        if wrote_messages:
            self._session.folded(values["messages"])

    def _after(self, node: str) -> Target:
        branch = self._wiring.branches.get(node)
        if branch is None:
            return self._wiring.next[node]
        path, ends = branch
        chosen: Any = path(self._values)
        if isinstance(chosen, list) and chosen and isinstance(chosen[0], Send):
            return [call for send in chosen for call in _calls_of(send)]
        if isinstance(chosen, list):
            chosen = chosen[0]
        target: str = ends[chosen] if ends else chosen
        return target

    async def _run_tool(self, call: dict[str, Any]) -> ToolMessage | Any:
        def execute(request: ToolCallRequest) -> ToolMessage:
            made = request.tool_call
            return self._session.tool_result(str(made["args"]["token"]), str(made["id"]))

        async def aexecute(request: ToolCallRequest) -> ToolMessage:
            return execute(request)

        tool = self._wiring.tool_node.tools_by_name.get(call["name"])
        state = dict(self._values)
        request = ToolCallRequest(call, tool, state, self._runtime)  # type: ignore[arg-type]
        if self._session.loop is not None and self._wiring.awrap_tool_call is not None:
            return await self._wiring.awrap_tool_call(request, aexecute)
        if self._wiring.wrap_tool_call is not None:
            return self._wiring.wrap_tool_call(request, execute)
        return execute(request)
