"""The parts of a compiled agent graph that the reducer lane calls, looked up once per agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from langgraph.channels import UntrackedValue


class Node(NamedTuple):
    """A node's functions, the arguments it wants beside the state, and the channels it reads."""

    runnable: Any
    func: Callable[..., Any] | None
    afunc: Callable[..., Any] | None
    wanted: tuple[str, ...]
    fields: list[str]


class Wiring:
    """Nodes, edges, routing functions and channels of the graph that `create_agent` compiled."""

    def __init__(self, graph: Any) -> None:
        builder = graph.builder
        self.channels: dict[str, Any] = dict(builder.channels)
        self.untracked = [
            name for name, channel in self.channels.items() if isinstance(channel, UntrackedValue)
        ]
        self.nodes: dict[str, Node] = {}
        for name, spec in builder.nodes.items():
            if name == "tools":
                self.tool_node = spec.runnable
                continue
            runnable = spec.runnable
            wanted = tuple(key for key in ("config", "runtime", "store") if key in runnable.func_accepts)
            fields = [field for field in builder.schemas[spec.input_schema] if field in self.channels]
            self.nodes[name] = Node(runnable, runnable.func, runnable.afunc, wanted, fields)
        self.next: dict[str, str] = dict(builder.edges)
        self.branches = {
            name: (branch.path.func, branch.ends)
            for name, branches in builder.branches.items()
            for branch in branches.values()
        }
        self.wrap_tool_call = getattr(self.tool_node, "_wrap_tool_call", None)
        self.awrap_tool_call = getattr(self.tool_node, "_awrap_tool_call", None)
        self.all_fields = list(self.channels)
