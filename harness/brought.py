"""Tools that a middleware brings: the running history's own, as each has middleware instances of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool

from .candidate import Middleware
from .session import Session


class BroughtTool:
    """Stands in the tool node for a tool of the middleware, and tells the session that it has run."""

    def __init__(self, tool: BaseTool, running: Callable[[], Session]) -> None:
        self._tool = tool
        self._running = running

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool."""
        result = self._tool.invoke(*args, **kwargs)
        self._running().wrote("tools", [])
        return result

    async def ainvoke(self, *args: Any, **kwargs: Any) -> Any:
        """Run the tool."""
        result = await self._tool.ainvoke(*args, **kwargs)
        self._running().wrote("tools", [])
        return result


def put_in_place(tool_node: Any, member: Middleware, running: Callable[[], Session]) -> None:
    """Let the tools of `member` take the places of those with which the tool node was built.

    `running` gives the session that is played when one of them is called.
    """
    places: dict[str, Any] = tool_node.tools_by_name
    for tool in getattr(member, "tools", None) or ():
        if isinstance(tool, BaseTool) and tool.name in places:
            places[tool.name] = BroughtTool(tool, running)
