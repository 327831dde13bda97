"""Plain nodes and `pre_model_hook`s as middleware: `state -> update`, before each model call.

A node may write `messages`, which are folded into history, and `llm_input_messages`, which the model is
shown instead of the history, as LangGraph's `create_react_agent` has it. It may keep data of its own in
`context`.

Source: langgraph, `langgraph.prebuilt.create_react_agent`, argument `pre_model_hook`; langmem,
`langmem.short_term.SummarizationNode`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
from langchain_core.runnables import Runnable
from langgraph.config import get_config
from typing_extensions import NotRequired

from .candidate import Middleware

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: What the first parameter of a node is called, which tells it from a factory.
_STATE_NAMES = ("state", "messages_state", "agent_state", "inputs")


class NodeState(AgentState[Any]):
    """The agent's state with what a `pre_model_hook` may write beside messages."""

    llm_input_messages: NotRequired[list[Any]]
    context: NotRequired[dict[str, Any]]


def is_node(thing: object) -> bool:
    """Tell whether `thing` is a node: a runnable, or a function whose first parameter is the state."""
    if isinstance(thing, Runnable):
        return not hasattr(thing, "get_graph") or not hasattr(thing, "checkpointer")
    if isinstance(thing, type) or not callable(thing):
        return False
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return False
    return bool(parameters) and parameters[0].name in _STATE_NAMES


class NodeAsMiddleware(Middleware):
    """Runs a node before each model call, and shows the model what the node says it should see."""

    state_schema = NodeState

    def __init__(self, node: Any) -> None:
        self._node = node

    @property
    def name(self) -> str:
        """The name of the node's function or class."""
        return str(getattr(self._node, "__name__", type(self._node).__name__))

    def _call(self, state: Any, runtime: Any) -> Any:
        if isinstance(self._node, Runnable):
            return self._node.invoke(state)
        more, named = _beside_state(self._node, runtime)
        return self._node(state, *more, **named)

    def before_model(self, state: Any, runtime: Any) -> Any:
        """Run the node."""
        return self._call(state, runtime)

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Show the model the node's `llm_input_messages`, if it wrote any."""
        return handler(_shown(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Show the model the node's `llm_input_messages`, if it wrote any."""
        return await handler(_shown(request))


class AsyncNodeAsMiddleware(NodeAsMiddleware):
    """The same for a node that is a coroutine function: it has no synchronous form."""

    before_model = AgentMiddleware.before_model

    async def abefore_model(self, state: Any, runtime: Any) -> Any:
        """Run the node."""
        return await self._call(state, runtime)


def _beside_state(node: Callable[..., Any], runtime: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what the node wants beside the state: by name as in LangGraph, and else the runtime."""
    known: dict[str, Callable[[], Any]] = {
        "config": get_config,
        "writer": lambda: runtime.stream_writer,
        "store": lambda: runtime.store,
    }
    named: dict[str, Any] = {}
    for parameter in [*inspect.signature(node).parameters.values()][1:]:
        by_keyword = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if by_keyword and parameter.name in known:
            named[parameter.name] = known[parameter.name]()
        elif by_keyword and parameter.name == "runtime":
            named["runtime"] = runtime
        elif parameter.default is parameter.empty and parameter.kind in (
            parameter.POSITIONAL_ONLY,
            parameter.POSITIONAL_OR_KEYWORD,
        ):
            return (runtime,), named
    return (), named


def _shown(request: Request) -> Request:
    shown: Any = request.state.get("llm_input_messages")
    return request.override(messages=list(shown)) if shown else request


def as_middleware(node: Any) -> NodeAsMiddleware:
    """Return middleware that runs `node` before each model call."""
    if inspect.iscoroutinefunction(node):
        return AsyncNodeAsMiddleware(node)
    return NodeAsMiddleware(node)
