"""Interposers: stand-ins that wrap each middleware from outside, the same in every lane.

An interposer has exactly the hooks of the middleware it stands for, synchronous and asynchronous. It
injects planned faults, reports what happened to the session, and lets the middleware instance be
replaced between histories, so that an agent graph is built once per candidate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.types import Command, Overwrite

from .candidate import Middleware
from .dependencies import fail
from .faults import Fault, FaultPlace
from .hook_arguments import beside, taken_by
from .loop import run_sync
from .session import Session
from .tool_wrap import run_tool_wrap

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    Request = ModelRequest

NODE_HOOKS: tuple[FaultPlace, ...] = ("before_agent", "before_model", "after_model", "after_agent")

Struck = tuple[int, Fault] | None


class Interposer(Middleware):
    """Stands for one member of a stack. Subclasses made by `interpose` carry its hooks."""

    def __init__(self, prototype: Middleware, member: int) -> None:
        self.inner = prototype
        self.member = member
        self.session: Session | None = None
        self.state_schema = prototype.state_schema
        self.tools = list(getattr(prototype, "tools", None) or [])
        self.label = prototype.name
        #: What hooks take beside state and runtime, by method.
        self.taken: dict[str, tuple[str, ...]] = {}

    @property
    def name(self) -> str:
        """The name of the member, so that graph nodes are called as they would be without us."""
        return self.label

    def running(self) -> Session:
        """Return the session that is being played. Raises `RuntimeError` outside of one."""
        if self.session is None:
            raise RuntimeError("an interposer was called outside of a session")
        return self.session

    async def run_node_hook(self, hook: FaultPlace, method: str, state: Any, runtime: Any) -> Any:
        """Run a node-style hook of the member under the fault planned for it, and report."""
        session = self.running()
        by = f"{self.label}.{hook}"
        struck = session.strike(hook, self.member)
        kind = None if struck is None else struck[1].kind
        if struck is not None and kind == "skip":
            session.fired(struck, by)
            session.hook_ran(by, "skipped")
            return None
        messages = state.get("messages", [])
        before = list(messages)
        session.book.meet(before)
        call: Callable[..., Any] = getattr(self.inner, method)
        more = self.taken.get(method)
        if more:
            call = partial(call, **beside(more, runtime))
        outer = session.enter(by)
        try:
            with _UNPRESSED if struck is None else _pressed(session, struck, by):
                update = call(state, runtime)
                if update is not None and isawaitable(update):
                    update = await update
                if struck is not None and kind == "twice":
                    session.fired(struck, by)
                    update = call(state, runtime)
                    if isawaitable(update):
                        update = await update
        except BaseException as error:
            session.failed(by)
            session.hook_ran(by, "raised", error)
            raise
        finally:
            session.leave(outer)
        return self._report(by, before, messages, update, struck)

    def _report(self, by: str, before: list[Any], messages: list[Any], update: Any, struck: Struck) -> Any:
        session = self.running()
        written = messages_of(update)
        if written:
            mine = {id(message) for message in written}
            before = [m for m in before if id(m) not in mine]
            messages = [m for m in messages if id(m) not in mine]
        session.notice_mutation(by, before, messages)
        if struck is not None and update is not None:
            if struck[1].kind == "lose":
                session.fired(struck, by)
                session.hook_ran(by, "lost")
                return None
            if struck[1].kind == "partial_compaction" and len(written) > struck[1].keep:
                session.fired(struck, by)
                written = written[: struck[1].keep]
                update = {**update, "messages": written}
        session.hook_ran(by, "update" if _changes(update) else "nothing")
        if written:
            session.wrote(by, written)
        return update

    async def run_wrap(self, request: Request, handler: Callable[[Request], Any], method: str) -> Any:
        """Run the member's `wrap_model_call` under the fault planned for it, and report."""
        session = self.running()
        by = f"{self.label}.wrap_model_call"
        struck = session.strike("wrap_model_call", self.member)
        if struck is not None and struck[1].kind == "skip":
            session.fired(struck, by)
            session.hook_ran(by, "skipped")
            passed = handler(request)
            return await passed if isawaitable(passed) else passed
        before = list(request.messages)
        seen = session.book.views(before)
        prompt = _prompt_of(request)
        calls, changed = 0, False

        def watched(inner_request: Request) -> Any:
            nonlocal calls, changed
            calls += 1
            edited = session.book.views(inner_request.messages) != seen or _prompt_of(inner_request) != prompt
            if edited:
                changed = True
                session.edited_by = by
            return handler(inner_request)

        async def awatched(inner_request: Request) -> Any:
            answer = watched(inner_request)
            return await answer if isawaitable(answer) else answer

        call = getattr(self.inner, method)
        outer = session.enter(by)
        try:
            with _UNPRESSED if struck is None else _pressed(session, struck, by):
                result = call(request, awatched if method.startswith("a") else watched)
                if isawaitable(result):
                    result = await result
        except BaseException as error:
            session.failed(by)
            session.hook_ran(by, "raised", error)
            raise
        finally:
            session.leave(outer)
        shared = request.messages is request.state.get("messages")
        session.notice_mutation(by, before, request.messages if shared else before)
        session.wrote("model", [])
        # Calling the model again, or not at all, is a change as well.
        session.hook_ran(by, "update" if changed or calls != 1 else "nothing")
        return result


def _prompt_of(request: Request) -> Any:
    """Return the system prompt, which LangChain before 1.1 keeps as text."""
    return getattr(request, "system_message", None) or getattr(request, "system_prompt", None)


def messages_of(update: object) -> list[BaseMessage]:
    """Return the messages that a hook's update writes, in order; empty when it writes none."""
    if isinstance(update, Command):
        update = update.update
    value = update.get("messages") if isinstance(update, dict) else None
    if isinstance(value, Overwrite):
        value = value.value
    if value is None:
        return []
    return list(convert_to_messages(value if isinstance(value, list) else [value]))


def _changes(update: Any) -> bool:
    """Tell whether an update writes anything at all; an empty list of messages does not."""
    if isinstance(update, dict):
        return any(value != [] for value in update.values())
    return update is not None


#: No fault strikes while a hook works.
_UNPRESSED = nullcontext()


@contextmanager
def _pressed(session: Session, struck: tuple[int, Fault], by: str) -> Iterator[None]:
    """Let faults of timing strike while a hook works: timers first, cancellation, a crash before it."""
    if struck[1].kind not in ("timeout", "late", "cancel", "crash"):
        yield
        return
    if struck[1].kind == "crash":
        session.fired(struck, by)
        fail(struck[1], struck[1].at)
    if session.loop is None:
        yield
        return
    if struck[1].kind == "cancel":
        session.fired(struck, by)
        raise asyncio.CancelledError
    session.loop.hold(struck[1].kind == "late", lambda: session.fired(struck, by))
    try:
        yield
    finally:
        session.loop.release()


def _node_methods(hook: FaultPlace, cls: type[Middleware]) -> Iterator[tuple[str, Any]]:
    name = str(hook)
    if getattr(cls, name) is not getattr(AgentMiddleware, name):

        def method(self: Interposer, state: Any, runtime: Any) -> Any:
            return run_sync(self.run_node_hook(hook, name, state, runtime))

        yield name, _with_jumps(method, getattr(cls, name))
    asynchronous = f"a{name}"
    if getattr(cls, asynchronous) is not getattr(AgentMiddleware, asynchronous):

        async def amethod(self: Interposer, state: Any, runtime: Any) -> Any:
            return await self.run_node_hook(hook, asynchronous, state, runtime)

        yield asynchronous, _with_jumps(amethod, getattr(cls, asynchronous))


def _with_jumps(method: Any, original: Any) -> Any:
    jumps = getattr(original, "__can_jump_to__", None)
    if jumps is not None:
        method.__can_jump_to__ = jumps
    return method


def _wrap(self: Interposer, request: Any, handler: Any) -> Any:
    return run_sync(self.run_wrap(request, handler, "wrap_model_call"))


async def _awrap(self: Interposer, request: Any, handler: Any) -> Any:
    return await self.run_wrap(request, handler, "awrap_model_call")


def _wrap_tool(self: Interposer, request: Any, handler: Any) -> Any:
    by, wrap = f"{self.label}.wrap_tool_call", self.inner.wrap_tool_call
    return run_sync(run_tool_wrap(self.running(), by, wrap, request, handler, asynchronous=False))


async def _awrap_tool(self: Interposer, request: Any, handler: Any) -> Any:
    by, wrap = f"{self.label}.wrap_tool_call", self.inner.awrap_tool_call
    return await run_tool_wrap(self.running(), by, wrap, request, handler, asynchronous=True)


_WRAPS: dict[str, Any] = {
    "wrap_model_call": _wrap,
    "awrap_model_call": _awrap,
    "wrap_tool_call": _wrap_tool,
    "awrap_tool_call": _awrap_tool,
}


def interpose(prototype: Middleware, member: int) -> Interposer:
    """Return an interposer with exactly the hooks that the class of `prototype` overrides."""
    cls = type(prototype)
    methods: dict[str, Any] = {}
    for hook in NODE_HOOKS:
        methods.update(_node_methods(hook, cls))
    methods.update(
        (name, method)
        for name, method in _WRAPS.items()
        if getattr(cls, name) is not getattr(AgentMiddleware, name)
    )
    made: Interposer = type(f"Interposed{cls.__name__}", (Interposer,), methods)(prototype, member)
    made.taken = {name: taken_by(getattr(cls, name)) for name in methods if name not in _WRAPS}
    return made
