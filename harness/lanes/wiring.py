"""The parts of a compiled agent graph that the reducer lane calls, looked up once per agent."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from langgraph.channels import BinaryOperatorAggregate, EphemeralValue, LastValue, UntrackedValue
from langgraph.constants import START
from langgraph.graph import add_messages

from .plain_model import PlainModel
from .surroundings import Setting, setting_of

#: Channels that a superstep without writes to them leaves as they are.
_LASTING = (LastValue, BinaryOperatorAggregate, UntrackedValue)


class Deltas(NamedTuple):
    """LangGraph's `DeltaChannel`, the reducer of messages that belongs to it, and what gives them ids.

    Source: `langgraph.channels.delta`, `langgraph.graph.message`, `langgraph.pregel._messages`.
    """

    channel: Any
    reducer: Callable[..., Any]
    stamp_ids: Callable[[Any, Any], None]


def _find_deltas() -> Deltas | None:
    try:
        return Deltas(
            import_module("langgraph.channels.delta").DeltaChannel,
            import_module("langgraph.graph.message")._messages_delta_reducer,
            import_module("langgraph.pregel._messages").ensure_message_ids,
        )
    except (ImportError, AttributeError):
        return None


#: None when this LangGraph has no `DeltaChannel`, or one that leaves messages without ids.
DELTAS = _find_deltas()


class Node(NamedTuple):
    """A node's functions, the arguments it wants beside the state, and the channels it reads."""

    name: str
    runnable: Any
    func: Callable[..., Any] | None
    afunc: Callable[..., Any] | None
    wanted: tuple[str, ...]
    fields: list[str]


class Wiring:
    """Nodes, edges, routing functions and channels of the graph that `create_agent` compiled.

    `plain_model` is what the model node comes down to; None where it takes more than a call of the model.
    """

    def __init__(self, graph: Any, plain_model: PlainModel | None = None) -> None:
        builder = graph.builder
        self.plain_model = plain_model
        self.channels: dict[str, Any] = dict(builder.channels)
        self.untracked = [
            name for name, channel in self.channels.items() if isinstance(channel, UntrackedValue)
        ]
        #: Channels that a superstep without writes changes while they hold a value, or in any case.
        self.ephemeral = [
            name for name, channel in self.channels.items() if isinstance(channel, EphemeralValue)
        ]
        self.transient = [
            name
            for name, channel in self.channels.items()
            if name not in self.ephemeral and not isinstance(channel, _LASTING)
        ]
        #: Whether plain messages written one by one fold to the same as when they are written together.
        messages = self.channels["messages"]
        self.folds_together = type(messages) is BinaryOperatorAggregate and messages.operator is add_messages
        self.nodes: dict[str, Node] = {}
        for name, spec in builder.nodes.items():
            if name == "tools":
                self.tool_node = spec.runnable
                continue
            runnable = spec.runnable
            wanted = tuple(key for key in ("config", "runtime", "store") if key in runnable.func_accepts)
            fields = [field for field in builder.schemas[spec.input_schema] if field in self.channels]
            self.nodes[name] = Node(name, runnable, runnable.func, runnable.afunc, wanted, fields)
        self.next: dict[str, str] = dict(builder.edges)
        self.branches = {
            name: (branch.path.func, branch.ends)
            for name, branches in builder.branches.items()
            for branch in branches.values()
        }
        #: Whether a middleware stands between the graph and its tools.
        self.wraps_tools = any(
            getattr(self.tool_node, wrap, None) is not None
            for wrap in ("_wrap_tool_call", "_awrap_tool_call")
        )
        self._graph = graph
        self._settings: dict[tuple[str, bool], Setting] = {}
        #: Channels that a stream of values shows.
        self.outputs = frozenset(builder.schemas[builder.output_schema])
        #: Nodes that write nothing but what the script says, which can be stored; None is the client.
        self.trusted = frozenset(
            {None, START, "tools"} if plain_model is None else {None, START, "tools", "model"}
        )
        #: What gives ids to messages before a `DeltaChannel` stores them; LangGraph does it in its loop.
        self.stamp_ids: Callable[[Any, Any], None] | None = None
        if DELTAS is not None:
            for name, channel in self.channels.items():
                if isinstance(channel, DELTAS.channel):
                    self.channels[name] = channel.from_checkpoint(None)
                    self.stamp_ids = DELTAS.stamp_ids
        #: Channels that hold a value before anything is written to them, such as an empty list.
        self.filled = [name for name, channel in self.channels.items() if channel.is_available()]

    @property
    def keeps_deltas(self) -> bool:
        """Tell whether the messages are kept in a `DeltaChannel`."""
        return DELTAS is not None and isinstance(self.channels["messages"], DELTAS.channel)

    def setting(self, thread: str, *, run_async: bool) -> Setting:
        """Return what invocations in `thread` find around them; made once per agent."""
        key = (thread, run_async)
        if key not in self._settings:
            self._settings[key] = setting_of(self._graph, thread, run_async=run_async)
        return self._settings[key]

    def channels_with(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return fresh channels that hold `values`, and nothing else."""
        channels = {}
        for name, pristine in self.channels.items():
            channel = pristine.copy()
            if name in values:
                channel = channel.from_checkpoint(values[name])
            if name in values and name in self.untracked:
                channel.value = values[name]
            channels[name] = channel
        return channels
