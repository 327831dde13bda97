"""Watching a test suite: do the updates of middleware hooks go through a reducer before they are judged?

A hook's update is a proposal. What the model reads is what a reducer makes of it, so a test that looks at
the update alone cannot see a message that is moved, doubled or kept. While a test runs, this module notes
which updates the hooks return, whether anybody looks at them, and whether they are folded: by
`add_messages`, by a channel, or in a running compiled graph.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Literal

import langgraph.channels  # so that its channels are there to be watched
import langgraph.graph.message
from langchain.agents.middleware import AgentMiddleware
from langgraph.channels.base import BaseChannel

#: What a test does with the updates that its hooks return; `no update`: the hooks returned nothing.
Verdict = Literal["folded", "shape-only", "result ignored", "no update"]

NODE_HOOKS = ("before_agent", "before_model", "after_model", "after_agent")

#: Sixfold's own stand-ins around the middleware of others: their inner hooks are what is watched.
_OURS = "sixfold.harness."

_MARK = "__sixfold_audited__"

#: Whether a hook is running: what it calls of itself and its parents is no call of the test.
_inside: ContextVar[bool] = ContextVar("inside a hook", default=False)


@dataclass(slots=True)
class Seen:
    """What became of one update."""

    looked_at: bool = False
    parts: tuple[object, ...] = ()


class Update(dict[str, Any]):
    """An update that notes when somebody looks at what is in it."""

    __slots__ = ("_seen",)

    def __init__(self, values: Mapping[str, Any], seen: Seen) -> None:
        super().__init__(values)
        self._seen = seen

    def __reduce__(self) -> Any:
        """Make copies plain dicts."""
        return dict, (dict(super().items()),)


def _noting(name: str) -> Callable[..., Any]:
    plain = getattr(dict, name)

    @functools.wraps(plain)
    def method(self: Update, *arguments: Any) -> Any:
        self._seen.looked_at = True
        return plain(self, *arguments)

    return method


_LOOKING = ("__getitem__", "__contains__", "__iter__", "__len__", "__eq__", "__ne__", "__or__", "__ror__")
for _name in (*_LOOKING, "get", "items", "keys", "values", "pop", "copy"):
    setattr(Update, _name, _noting(_name))


@dataclass(slots=True)
class Told:
    """What one test did: its calls of each hook, and how many updates came of them, folded or looked at."""

    calls: dict[str, int] = field(default_factory=dict)
    updates: int = 0
    folded: int = 0
    looked_at: int = 0

    @property
    def verdict(self) -> Verdict | None:
        """What is to be said of the test; None when it called no hook."""
        if not self.calls:
            return None
        if not self.updates:
            return "no update"
        if self.folded:
            return "folded"
        return "shape-only" if self.looked_at else "result ignored"


class Watch:
    """Watches the hooks of all middleware classes, and all reducers, of this process."""

    def __init__(self) -> None:
        self._told = Told()
        self._open: dict[int, Seen] = {}
        self._by_part: dict[int, Seen] = {}
        self._modules = 0
        self._wrap_reducer()
        self._watch_new_classes()
        self.look_around()

    def begin(self) -> None:
        """Begin with a test."""
        self.look_around()
        self._told = Told()
        self._forget()

    def end(self) -> Told:
        """Return what the test did."""
        told = self._told
        told.looked_at += sum(seen.looked_at for seen in self._open.values())
        self._forget()
        return told

    def _forget(self) -> None:
        self._open = {}
        self._by_part = {}

    # -- what is put in place ----------------------------------------------------------------------

    def look_around(self) -> None:
        """Watch the classes and the names of the reducer that were defined since the last time."""
        for cls in _subclasses(AgentMiddleware):
            self._wrap_hooks(cls)
        for cls in _subclasses(BaseChannel):
            self._wrap_channel(cls)
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._rebind()

    def _wrap_hooks(self, cls: type[Any]) -> None:
        if cls.__module__.startswith(_OURS):
            return
        for name in (*NODE_HOOKS, *(f"a{hook}" for hook in NODE_HOOKS)):
            hook = cls.__dict__.get(name)
            if inspect.isfunction(hook) and not hasattr(hook, _MARK):
                wrapped = self._async_hook(hook) if inspect.iscoroutinefunction(hook) else self._hook(hook)
                setattr(wrapped, _MARK, True)
                setattr(cls, name, wrapped)

    def _hook(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(hook)
        def watched(*arguments: Any, **named: Any) -> Any:
            if _inside.get():
                return hook(*arguments, **named)
            in_graph = _in_a_graph()
            token = _inside.set(True)
            try:
                made = hook(*arguments, **named)
            finally:
                _inside.reset(token)
            return self._returned(hook, arguments, made, in_graph=in_graph)

        return watched

    def _async_hook(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(hook)
        async def watched(*arguments: Any, **named: Any) -> Any:
            if _inside.get():
                return await hook(*arguments, **named)
            in_graph = _in_a_graph()
            token = _inside.set(True)
            try:
                made = await hook(*arguments, **named)
            finally:
                _inside.reset(token)
            return self._returned(hook, arguments, made, in_graph=in_graph)

        return watched

    def _watch_new_classes(self) -> None:
        """Watch classes of middleware as soon as they are defined, such as in a test."""
        wrap = self._wrap_hooks

        def init_subclass(cls: Any, /, **options: Any) -> None:
            super(AgentMiddleware, cls).__init_subclass__(**options)  # type: ignore[misc]
            wrap(cls)

        hook: Any = classmethod(init_subclass)
        AgentMiddleware.__init_subclass__ = hook  # type: ignore[method-assign]

    def _wrap_channel(self, cls: type[Any]) -> None:
        update = cls.__dict__.get("update")
        if not inspect.isfunction(update) or hasattr(update, _MARK):
            return

        @functools.wraps(update)
        def watched(channel: Any, values: Any) -> Any:
            for value in values:
                self._fold(value)
            return update(channel, values)

        setattr(watched, _MARK, True)
        cls.update = watched

    def _wrap_reducer(self) -> None:
        self._plain = langgraph.graph.message.add_messages
        plain: Callable[..., Any] = self._plain

        @functools.wraps(plain)
        def add_messages(*arguments: Any, **named: Any) -> Any:
            for value in (*arguments[1:2], named.get("right")):
                self._fold(value)
            return plain(*arguments, **named)

        self._watched = add_messages

    def _rebind(self) -> None:
        """Put the watched reducer wherever a loaded module has the plain one, under whatever name."""
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if not isinstance(names, dict) or module.__name__ == __name__:
                continue
            for name in [key for key, value in names.items() if value is self._plain]:
                names[name] = self._watched

    # -- what happens ------------------------------------------------------------------------------

    def _returned(
        self, hook: Callable[..., Any], arguments: tuple[Any, ...], made: Any, *, in_graph: bool
    ) -> Any:
        told = self._told
        name = f"{type(arguments[0]).__name__}.{hook.__name__}" if arguments else hook.__name__
        told.calls[name] = told.calls.get(name, 0) + 1
        if made is None:
            return None
        told.updates += 1
        if in_graph:
            told.folded += 1  # the graph folds it, whatever the test looks at
            return made
        # A message that was in state already is known from elsewhere: it does not tell of this update.
        old = {id(part) for part in _parts(arguments[1] if len(arguments) > 1 else None)}
        update = made if isinstance(made, dict) else getattr(made, "update", None)
        seen = Seen(parts=tuple(part for part in _parts(update) if id(part) not in old))
        self._open[id(seen)] = seen
        self._by_part.update((id(part), seen) for part in seen.parts)
        if type(made) is dict:
            return Update(made, seen)
        seen.looked_at = True  # nothing can be known of it
        return made

    def _fold(self, value: Any) -> None:
        """Note that a reducer was given `value`."""
        if not self._by_part:
            return
        for part in _parts(value):
            seen = self._by_part.get(id(part))
            if seen is not None and self._open.pop(id(seen), None) is not None:
                self._told.folded += 1
                self._told.looked_at += seen.looked_at
                for known in seen.parts:
                    self._by_part.pop(id(known), None)


def _parts(value: Any) -> Iterator[object]:
    """Yield the objects by which an update is known again: its values, and the messages in them."""
    if isinstance(value, dict):
        for each in dict.values(value):
            yield from _parts(each)
        return
    inner = getattr(value, "value", value) if type(value).__name__ == "Overwrite" else value
    if isinstance(inner, (list, tuple)):
        yield inner
        yield from inner
    elif not isinstance(inner, (str, int, float, bool, type(None))):
        yield inner  # small values are the same objects everywhere


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


def _in_a_graph() -> bool:
    """Tell whether the caller's caller is a node of a running graph: LangGraph's own code is on the stack."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("langgraph.pregel"):
            return True
        frame = frame.f_back
    return False
