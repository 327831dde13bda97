"""Interposers: stand-ins that wrap each middleware from outside, the same in every lane.

An interposer has exactly the hooks of the middleware it stands for. It injects planned faults,
reports what happened to the session, and lets the middleware instance be replaced between
histories, so that an agent graph is built once per candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest

from .candidate import Middleware
from .faults import FaultPlace
from .session import Session, messages_of

_NODE_HOOKS: tuple[FaultPlace, ...] = ("before_agent", "before_model", "after_model", "after_agent")


class Interposer(AgentMiddleware[Any, Any, Any]):
    """Stands for one member of a stack. Subclasses made by `interpose` carry its hooks."""

    def __init__(self, prototype: Middleware, member: int) -> None:
        self.inner = prototype
        self.member = member
        self.session: Session | None = None
        self.state_schema = prototype.state_schema
        self.tools = list(getattr(prototype, "tools", None) or [])
        self.label = prototype.name

    @property
    def name(self) -> str:
        """The name of the member, so that graph nodes are called as they would be without us."""
        return self.label

    def running(self) -> Session:
        """Return the session that is being played. Raises `RuntimeError` outside of one."""
        if self.session is None:
            raise RuntimeError("an interposer was called outside of a session")
        return self.session

    def run_node_hook(self, hook: FaultPlace, state: Any, runtime: Any) -> Any:
        """Run a node-style hook of the member under the fault planned for it, and report."""
        session = self.running()
        by = f"{self.label}.{hook}"
        struck = session.strike(hook, self.member)
        kind = None if struck is None else struck[1].kind
        if struck is not None and kind == "skip":
            session.fired(struck, by)
            session.hook_ran(by, "skipped")
            return None
        messages = state["messages"]
        before = list(messages)
        call: Callable[[Any, Any], Any] = getattr(self.inner, hook)
        try:
            with session.inside(by):
                update = call(state, runtime)
                if struck is not None and kind == "twice":
                    session.fired(struck, by)
                    update = call(state, runtime)
        except Exception as error:
            session.hook_ran(by, "raised", error)
            raise
        written = messages_of(update)
        mine = {id(message) for message in written}
        session.notice_mutation(
            by, [m for m in before if id(m) not in mine], [m for m in messages if id(m) not in mine]
        )
        if struck is not None and update is not None:
            if kind == "lose":
                session.fired(struck, by)
                session.hook_ran(by, "lost")
                return None
            if kind == "partial_compaction" and len(written) > struck[1].keep:
                session.fired(struck, by)
                written = written[: struck[1].keep]
                update = {**update, "messages": written}
        session.hook_ran(by, "nothing" if update is None else "update")
        if written:
            session.wrote(by, written)
        return update

    def run_wrap(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Run the member's `wrap_model_call` under the fault planned for it, and report."""
        session = self.running()
        by = f"{self.label}.wrap_model_call"
        struck = session.strike("wrap_model_call", self.member)
        if struck is not None:
            session.fired(struck, by)
            session.hook_ran(by, "skipped")
            return handler(request)
        before = list(request.messages)
        seen = session.book.views(before)
        prompt = request.system_message
        edited = False

        def watched(inner_request: ModelRequest[Any]) -> Any:
            nonlocal edited
            edited = (
                session.book.views(inner_request.messages) != seen or inner_request.system_message != prompt
            )
            return handler(inner_request)

        try:
            with session.inside(by):
                result = self.inner.wrap_model_call(request, watched)
        except Exception as error:
            session.hook_ran(by, "raised", error)
            raise
        session.notice_mutation(by, before, before)
        session.wrote("model", [])
        session.hook_ran(by, "update" if edited else "nothing")
        return result


def _node_method(hook: FaultPlace, prototype_method: Any) -> Callable[..., Any]:
    def method(self: Interposer, state: Any, runtime: Any) -> Any:
        return self.run_node_hook(hook, state, runtime)

    jumps = getattr(prototype_method, "__can_jump_to__", None)
    if jumps is not None:
        method.__can_jump_to__ = jumps  # type: ignore[attr-defined]
    return method


def _wrap_method(self: Interposer, request: Any, handler: Any) -> Any:
    return self.run_wrap(request, handler)


def _wrap_tool_method(self: Interposer, request: Any, handler: Any) -> Any:
    result = self.inner.wrap_tool_call(request, handler)
    self.running().wrote("tools", [])
    return result


def interpose(prototype: Middleware, member: int) -> Interposer:
    """Return an interposer with the sync hooks that the class of `prototype` overrides."""
    cls = type(prototype)
    methods: dict[str, Any] = {
        hook: _node_method(hook, getattr(cls, hook))
        for hook in _NODE_HOOKS
        if getattr(cls, hook) is not getattr(AgentMiddleware, hook)
    }
    if cls.wrap_model_call is not AgentMiddleware.wrap_model_call:
        methods["wrap_model_call"] = _wrap_method
    if cls.wrap_tool_call is not AgentMiddleware.wrap_tool_call:
        methods["wrap_tool_call"] = _wrap_tool_method
    made: Interposer = type(f"Interposed{cls.__name__}", (Interposer,), methods)(prototype, member)
    return made
