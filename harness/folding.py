"""`fold`: the net effect of middleware on a message history, by LangChain's own agent and channels.

For tests of one's own: the update that a hook returns is a proposal, and what the reducer makes of it is
what the model reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from .errors import TargetError
from .faults import HOOKS
from .folded import Folded
from .views import text_of

_CONFIG: Any = {"configurable": {"thread_id": "fold"}}


class _Listener(BaseChatModel):
    """A chat model that keeps what it is shown and answers in one word."""

    heard: list[list[BaseMessage]] = Field(default_factory=list, exclude=True, repr=False)

    @property
    def _llm_type(self) -> str:
        return "sixfold-listener"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> _Listener:
        """Return the model itself: it never calls a tool."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.heard.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])


def fold(
    middleware: AgentMiddleware[Any, Any, Any] | Sequence[AgentMiddleware[Any, Any, Any]],
    history: Sequence[Any] | Mapping[str, Any],
    *,
    update: Mapping[str, Any] | None = None,
    tools: Sequence[Any] = (),
    context: Any = None,
) -> Folded:
    """Return what the model is shown of `history` behind the middleware, and what is in state then.

    `history` are messages, or a whole state with a key `messages`. The hooks of the middleware run in a real
    agent up to the first model call. With `update`, which a hook has returned, no hook is run: the update is
    folded into the history by the channels of the middleware's schema.

    `middleware` is one instance or several, in order; `tools` are the agent's own; `context` is the context
    of the run. Errors of the middleware are raised as they are. Raises `TargetError` when the update writes
    what the schema has no channel for.
    """
    members = [middleware] if isinstance(middleware, AgentMiddleware) else list(middleware)
    given = dict(history) if isinstance(history, Mapping) else {"messages": list(history)}
    model = _Listener()
    graph: Any = create_agent(model, list(tools), middleware=members, checkpointer=InMemorySaver())
    before = _fold_into(graph, {}, given)
    if update is not None:
        after = _fold_into(graph, before, update)
        return Folded(tuple(before["messages"]), tuple(after["messages"]))
    # With the ids that the reducer gave, so that what becomes of each message can be told.
    state = _run(graph, {**given, "messages": before["messages"]}, context, only_async=_only_async(members))
    if not model.heard:
        return Folded(tuple(before["messages"]), tuple(state["messages"]))
    asked = model.heard[0]
    system = (
        asked[0] if asked and isinstance(asked[0], SystemMessage) and not _stored(asked[0], state) else None
    )
    return Folded(
        tuple(before["messages"]),
        tuple(state["messages"]),
        tuple(asked if system is None else asked[1:]),
        "" if system is None else text_of(system.content),
    )


def _stored(message: BaseMessage, state: Mapping[str, Any]) -> bool:
    """Tell whether the system message of a request is one of the state, not the agent's prompt."""
    return any(message is each or message.id == each.id is not None for each in state["messages"])


def _fold_into(graph: Any, state: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state after an update, folded by the channels of the compiled graph."""
    unknown = sorted(set(update) - set(graph.channels))
    if unknown:
        raise TargetError(
            f"the update writes {', '.join(map(repr, unknown))}, and the schema has no such channel",
            place="fold",
            remedy="Declare it in the middleware's state_schema; LangGraph would refuse the update, too.",
        )
    folded = dict(state)
    for name, value in {"messages": [], **update}.items():
        channel = graph.channels[name]
        channel = channel.from_checkpoint(state[name]) if name in state else channel.copy()
        channel.update([value])
        if channel.is_available():
            folded[name] = channel.get()
    return folded


def _run(graph: Any, given: dict[str, Any], context: Any, *, only_async: bool) -> Mapping[str, Any]:
    """Run the agent through its first model call; return the state as that call found it."""
    options = {} if context is None else {"context": context}
    stop = ["model"]

    async def run() -> Mapping[str, Any]:
        await graph.ainvoke(given, _CONFIG, interrupt_before=stop, **options)
        found = await graph.aget_state(_CONFIG)
        if found.next:
            await graph.ainvoke(None, _CONFIG, interrupt_after=stop, **options)
        values: Mapping[str, Any] = found.values
        return values

    if only_async:
        return asyncio.run(run())
    graph.invoke(given, _CONFIG, interrupt_before=stop, **options)
    found = graph.get_state(_CONFIG)
    if found.next:
        graph.invoke(None, _CONFIG, interrupt_after=stop, **options)
    values: Mapping[str, Any] = found.values
    return values


def _only_async(members: Sequence[AgentMiddleware[Any, Any, Any]]) -> bool:
    """Tell whether a hook has no synchronous form."""

    def has(member: object, name: str) -> bool:
        return getattr(type(member), name) is not getattr(AgentMiddleware, name)

    names = (*HOOKS, "wrap_tool_call")
    return any(has(m, f"a{name}") and not has(m, name) for m in members for name in names)
