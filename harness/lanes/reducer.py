"""The reducer lane: the agent's own nodes, edges and channels, without LangGraph's scheduler.

Node functions, routing functions and channels are the very objects that `create_agent` built, so
hook order, wrapping and folding are the library's; only the loop around them is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.constants import END, START
from langgraph.errors import GraphRecursionError, InvalidUpdateError
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from ..agent import Agent
from ..session import Session

#: Supersteps a turn may take, as the graph lane's recursion limit.
MAX_SUPERSTEPS = 500

Write = tuple[str, Any]
Target = str | list[Any]


def _writes(update: Any, known: Iterable[str]) -> list[Write]:
    """Return the channel writes of a node's return value, as LangGraph reads it."""
    if update is None:
        return []
    if isinstance(update, dict):
        return [(key, value) for key, value in update.items() if key in known]
    if isinstance(update, Command):
        return _writes(update.update, known)
    if isinstance(update, (list, tuple)):
        return [write for item in update for write in _writes(item, known)]
    raise InvalidUpdateError(f"Expected dict, got {update!r}")


class ReducerLane:
    """Drives one history by calling nodes and folding their writes, superstep by superstep."""

    def __init__(self, agent: Agent, session: Session) -> None:
        self._agent = agent
        self._session = session
        self._wiring = agent.wiring
        self._channels = {name: channel.copy() for name, channel in self._wiring.channels.items()}
        self._runtime: Runtime[Any] = Runtime()
        self._supply = {
            "runtime": self._runtime,
            "config": {"configurable": {"thread_id": "history"}},
            "store": None,
        }

    def submit(self, messages: list[HumanMessage]) -> None:
        """Run the agent on new user messages; lets errors of the agent escape."""
        self._commit([("messages", list(messages))])
        current: Target = self._after(START)
        for _ in range(MAX_SUPERSTEPS):
            if current == END:
                return
            current = self._superstep(current)
        raise GraphRecursionError(f"Recursion limit of {MAX_SUPERSTEPS} reached")

    def edit(self, message: HumanMessage) -> None:
        """Fold an edited message into state."""
        self._commit([("messages", [message])])

    def restart(self) -> None:
        """Renew the middleware and send every channel through the checkpoint serialiser."""
        serde = JsonPlusSerializer()
        for name, channel in self._channels.items():
            if channel.is_available():
                stored = serde.loads_typed(serde.dumps_typed(channel.checkpoint()))
                self._channels[name] = channel.from_checkpoint(stored)
        self._agent.renew(self._session)

    def _superstep(self, current: Target) -> Target:
        if isinstance(current, list):
            self._commit([("messages", [result]) for result in map(self._run_tool, current)])
            return self._after("tools")
        function, wanted, fields = self._wiring.nodes[current]
        update = function(self._read(fields), **{name: self._supply[name] for name in wanted})
        self._commit(_writes(update, self._channels))
        goto = self._goto(update)
        return goto or self._after(current)

    def _goto(self, update: Any) -> str | None:
        commands = update if isinstance(update, (list, tuple)) else [update]
        for command in commands:
            if isinstance(command, Command) and isinstance(command.goto, str) and command.goto:
                return command.goto
        return None

    def _read(self, fields: Sequence[str]) -> dict[str, Any]:
        channels = self._channels
        return {name: channels[name].get() for name in fields if channels[name].is_available()}

    def _commit(self, writes: list[Write]) -> None:
        by_channel: dict[str, list[Any]] = {}
        for name, value in writes:
            by_channel.setdefault(name, []).append(value)
        for name, channel in self._channels.items():
            channel.update(by_channel.get(name, ()))
        if "messages" in by_channel:
            self._session.folded(self._channels["messages"].get())

    def _after(self, node: str) -> Target:
        branch = self._wiring.branches.get(node)
        if branch is None:
            return self._wiring.next[node]
        path, ends = branch
        chosen: Any = path(self._read(self._wiring.all_fields))
        if isinstance(chosen, list) and chosen and isinstance(chosen[0], Send):
            return [call for send in chosen for call in send.arg]
        if isinstance(chosen, list):
            chosen = chosen[0]
        target: str = ends[chosen] if ends else chosen
        return target

    def _run_tool(self, call: dict[str, Any]) -> ToolMessage | Any:
        def execute(request: ToolCallRequest) -> ToolMessage:
            made = request.tool_call
            return self._session.tool_result(str(made["args"]["token"]), str(made["id"]))

        tool = self._wiring.tool_node.tools_by_name.get(call["name"])
        state = self._read(self._wiring.all_fields)
        request = ToolCallRequest(call, tool, state, self._runtime)  # type: ignore[arg-type]
        if self._wiring.wrap_tool_call is None:
            return execute(request)
        return self._wiring.wrap_tool_call(request, execute)
