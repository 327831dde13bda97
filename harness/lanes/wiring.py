"""The parts of a compiled agent graph that the reducer lane calls, looked up once per agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Wiring:
    """Nodes, edges, routing functions and channels of the graph that `create_agent` compiled."""

    def __init__(self, graph: Any) -> None:
        builder = graph.builder
        self.channels: dict[str, Any] = dict(builder.channels)
        self.nodes: dict[str, tuple[Callable[..., Any], tuple[str, ...], list[str]]] = {}
        for name, spec in builder.nodes.items():
            if name == "tools":
                self.tool_node = spec.runnable
                continue
            wanted = tuple(k for k in ("config", "runtime", "store") if k in spec.runnable.func_accepts)
            fields = [f for f in builder.schemas[spec.input_schema] if f in self.channels]
            self.nodes[name] = (spec.runnable.func, wanted, fields)
        self.next: dict[str, str] = dict(builder.edges)
        self.branches = {
            name: (branch.path.func, branch.ends)
            for name, branches in builder.branches.items()
            for branch in branches.values()
        }
        self.wrap_tool_call = getattr(self.tool_node, "_wrap_tool_call", None)
        self.all_fields = list(self.channels)
