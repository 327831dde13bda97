"""What tests hand over, as candidates: a candidate, middleware in one of its forms, or a factory of it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from .candidate import Candidate, Middleware
from .environment import Environment
from .errors import TargetError

_REMEDY = (
    "Hand over an AgentMiddleware class without required arguments, an instance, a factory that takes the "
    "Environment, a list of them, or a Candidate."
)

#: What was made of things that were handed over, by identity; the thing is kept, so that it keeps its own.
_made: dict[int, tuple[object, Candidate]] = {}
_MOST = 256


def as_candidate(thing: object) -> Candidate:
    """Return `thing` as a candidate; the same thing gives the same candidate.

    Raises `TargetError` for what cannot be middleware.
    """
    if isinstance(thing, Candidate):
        return thing
    known = _made.get(id(thing))
    if known is not None:
        return known[1]
    candidate = _candidate(thing)
    if len(_made) >= _MOST:
        _made.pop(next(iter(_made)))
    _made[id(thing)] = thing, candidate
    return candidate


def _candidate(thing: object) -> Candidate:
    target = _target(thing)
    name = _name(thing)
    parts = list(thing) if isinstance(thing, (list, tuple)) else [thing]
    if not parts:
        raise TargetError("the list of middleware is empty", place=name, remedy=_REMEDY)
    for part in parts:
        _check(part, name)

    def build(environment: Environment) -> Sequence[Middleware]:
        return [member for part in parts for member in _members(part, environment, name)]

    return Candidate(name=name, build=build, source=_source(thing), target=target)


def _check(part: object, name: str) -> None:
    """Raise `TargetError` for a part that cannot be middleware."""
    if isinstance(part, AgentMiddleware):
        return
    required = _required(part) if callable(part) else None
    if isinstance(part, type) and issubclass(part, AgentMiddleware):
        if required:
            raise TargetError(
                f"the constructor of {part.__name__} takes {', '.join(required)}",
                place=name,
                remedy=f"Hand over a factory: lambda environment: {part.__name__}(…).",
            )
    elif isinstance(part, type) or required is None or len(required) != 1:
        shown = f"the class {part.__name__}" if isinstance(part, type) else f"a {type(part).__name__}"
        raise TargetError(f"{shown} is not middleware", place=name, remedy=_REMEDY)


def _required(thing: Any) -> list[str] | None:
    """Return the names of the required arguments, None when nothing can be known of them."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in optional]


def _members(part: Any, environment: Environment, name: str) -> Sequence[Middleware]:
    """Return the middleware of one part, anew."""
    if isinstance(part, type):
        return [part()]
    if not isinstance(part, AgentMiddleware):
        made = part(environment)
        return list(made) if isinstance(made, (list, tuple)) else [made]
    try:
        return [copy.deepcopy(part)]
    except Exception as error:
        raise TargetError(
            f"a middleware instance cannot be copied for each history: {type(error).__name__}: {error}",
            place=name,
            remedy="Hand over its class, or a factory that takes the Environment and builds it anew.",
        ) from error


def _name(thing: object) -> str:
    if isinstance(thing, (list, tuple)):
        return " + ".join(_name(part) for part in thing) or "nothing"
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return str(named.__qualname__)


def _source(thing: object) -> str:
    if isinstance(thing, (list, tuple)):
        return ", ".join(_source(part) for part in thing)
    named: Any = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{named.__module__}.{named.__qualname__}"


def _target(thing: object) -> str:
    """Return what `sixfold replay` can find `thing` by; empty where no import path names it."""
    name = getattr(thing, "__qualname__", "")
    if not name.isidentifier():
        return ""
    module: str = getattr(thing, "__module__", "") or ""
    if "." in module:
        return f"{module}:{name}"
    try:
        path = Path(inspect.getfile(thing)).resolve()  # type: ignore[arg-type]
    except (TypeError, OSError):
        return f"{module}:{name}"
    folder = Path.cwd()
    return f"{path.relative_to(folder)}:{name}" if path.is_relative_to(folder) else f"{module}:{name}"
