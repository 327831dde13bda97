"""The call of a middleware's `wrap_tool_call`, with a report of whether it changed anything."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import Any

from langchain_core.messages import ToolMessage

from .history import HookRan
from .session import Session


class _Watched:
    """Stands for the tool: notes how it is called and what it returned, as it was then."""

    def __init__(self, session: Session, request: Any, handler: Callable[[Any], Any]) -> None:
        self._session = session
        self._handler = handler
        self._asked = _call_of(request)
        self._calls = 0
        self._edited = False
        self._last: Any = None
        self._seen: Any = None
        self.error: BaseException | None = None

    def _begin(self, request: Any) -> Any:
        self._calls += 1
        failed = self._session.failed_tool
        if self._calls > 1 and failed is not None and not failed.for_good:
            self._session.failed_tool = None  # called once more, it answers
        self._edited |= _call_of(request) != self._asked
        try:
            return self._handler(request)
        except BaseException as error:
            self.error = error
            raise

    def _end(self, result: Any) -> Any:
        self._last, self._seen = result, self._view(result)
        return result

    def _view(self, result: Any) -> Any:
        return self._session.book.view(result) if isinstance(result, ToolMessage) else None

    def call(self, request: Any) -> Any:
        """Run the tool."""
        return self._end(self._begin(request))

    async def acall(self, request: Any) -> Any:
        """Run the tool."""
        result = self._begin(request)
        if isawaitable(result):
            try:
                result = await result
            except BaseException as error:
                self.error = error
                raise
        return self._end(result)

    def changed(self, result: Any) -> bool:
        """Tell whether `result` is not simply what the tool returned when it was called once."""
        return (
            self._calls != 1 or self._edited or result is not self._last or self._view(result) != self._seen
        )


def _call_of(request: Any) -> Any:
    call = request.tool_call
    return {**call, "args": dict(call["args"])}


async def run_tool_wrap(
    session: Session, by: str, wrap: Any, request: Any, handler: Any, *, asynchronous: bool
) -> Any:
    """Run `wrap`, a member's `wrap_tool_call` in one of its forms, and report.

    A tool that is asked again, or not at all, is a change as well.
    """
    watched = _Watched(session, request, handler)
    outer = session.enter(by)
    try:
        result = wrap(request, watched.acall if asynchronous else watched.call)
        if isawaitable(result):
            result = await result
    except BaseException as error:
        if error is not watched.error:
            session.failed(by)
        raise
    finally:
        session.leave(outer)
    session.wrapped.append(HookRan(session.turn, by, "update" if watched.changed(result) else "nothing"))
    session.wrote("tools", [])
    return result
