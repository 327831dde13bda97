"""Things as candidates: the one place that tells what can be played, and makes a `Candidate` of it.

A thing is an `AgentMiddleware` class, an instance, a node (`state -> update`, a `pre_model_hook`, a
`Runnable` or a class of them), a factory, or a list of these. Tests hand it over (`as_candidate`); on the
command line it has been found by its name before it comes here (`candidate_of`).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables import Runnable
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from .candidate import Candidate, Middleware
from .environment import Environment
from .errors import TargetError
from .factories import described, factory_of
from .nodes import as_middleware, is_node
from .plain import PlainTarget, is_from_a_file
from .supply import arguments, construct, shown_arguments, wiring_of

#: What can be made a candidate, for remedies.
FORMS = (
    "an AgentMiddleware class or instance, a node (a function of the state, a Runnable), a factory that "
    "takes the Environment, a factory (model, checkpointer) -> compiled graph, a list of them, or a Candidate"
)

#: What was made of things that were handed over, by identity; the thing is kept, so that it keeps its own.
_made: dict[int, tuple[object, Candidate]] = {}
_MOST = 256


def as_candidate(thing: object) -> Candidate:
    """Return `thing` as a candidate; the same thing gives the same candidate.

    It may be whatever `sixfold run` takes by its name: an `AgentMiddleware` class, whose constructor
    arguments are supplied by name or annotation, an instance, which is copied for each history, a function of
    the state or a `Runnable`, a factory that takes the `Environment` or a model and a checkpointer, a list of
    these, or a `Candidate`. Raises `TargetError` for anything else, and for arguments that nothing supplies.
    """
    if isinstance(thing, Candidate):
        return thing
    known = _made.get(id(thing))
    if known is not None:
        return known[1]
    candidate = candidate_of(thing, _target(thing), name=_name(thing))
    if len(_made) >= _MOST:
        _made.pop(next(iter(_made)))
    _made[id(thing)] = thing, candidate
    return candidate


def candidate_of(thing: Any, target: str, *, name: str = "") -> Candidate:
    """Return `thing`, which `target` names on the command line, as a candidate.

    `target` is empty where nothing names it; `name` is what the candidate is called, `target` if empty.
    Raises `TargetError` as `as_candidate` does.
    """
    name = name or target
    if isinstance(thing, Candidate):
        return replace(thing, target=target)
    several = isinstance(thing, (list, tuple))
    if several and not thing:
        raise TargetError("the list of middleware is empty", place=target or name, remedy=f"List {FORMS}.")
    alone = not several
    parts = [_part(each, target, target or name, alone=alone) for each in ([thing] if alone else thing)]

    def build(environment: Environment) -> Sequence[Middleware]:
        return [member for part in parts for member in part.build(environment)]

    return Candidate(
        name=name,
        build=build,
        source=", ".join(part.source for part in parts),
        target=target,
        wiring=_wiring(parts, alone=alone),
        plain=_plain(target, parts, alone=alone),
    )


class _Part(NamedTuple):
    """A thing that is part of a stack, or all of it.

    `instance` tells whether it was ready; `given` are the constructor arguments of a middleware class.
    """

    build: Callable[[Environment], Sequence[Any]]
    source: str
    wiring: str = ""
    instance: bool = False
    given: tuple[tuple[str, str], ...] | None = None


def _part(thing: Any, target: str, place: str, *, alone: bool) -> _Part:
    """Return `thing` as a part. Raises `TargetError` for what can be none."""
    source = _source(thing, target)
    if isinstance(thing, type) and issubclass(thing, (AgentMiddleware, Runnable)):
        given = arguments(thing, target if alone else "")
        return _Part(
            lambda environment: [_member(construct(thing, given, environment))],
            source,
            wiring_of(thing, given),
            given=shown_arguments(given) if issubclass(thing, AgentMiddleware) else None,
        )
    if isinstance(thing, AgentMiddleware):
        source = _source(type(thing), target)
        return _Part(lambda _environment: [_copied(thing, place)], source, instance=True)
    if is_node(thing):
        wiring = f"{_name(thing)}(state) before each model call"
        return _Part(lambda _environment: [as_middleware(thing)], source, wiring)
    if isinstance(thing, (Pregel, StateGraph)):
        raise TargetError(
            "the graph is built already, so it cannot be given a scripted model",
            place=place,
            remedy="Take a function that builds it: def make_agent(model, checkpointer): return "
            "builder.compile(checkpointer=checkpointer)",
        )
    if callable(thing) and not isinstance(thing, type):
        factory = factory_of(thing, place)
        return _Part(factory.build, source, factory.wiring)
    raise TargetError(f"{described(thing)} is not middleware", place=place, remedy=f"Take {FORMS}.")


def _member(thing: Any) -> Middleware:
    """Return `thing` as a member of a stack: a node is run before each model call."""
    member: Middleware = as_middleware(thing) if is_node(thing) else thing
    return member


def _copied(instance: Middleware, place: str) -> Middleware:
    try:
        return copy.deepcopy(instance)
    except Exception as error:
        raise TargetError(
            f"a middleware instance cannot be copied for each history: {type(error).__name__}: {error}",
            place=place,
            remedy="Take its class, or write a factory that takes the Environment and builds it anew.",
        ) from error


def _wiring(parts: Sequence[_Part], *, alone: bool) -> str:
    """Return how what was not ready is made, as a reader would write it."""
    wired = [part.wiring or part.source for part in parts]
    if not any(part.wiring for part in parts):
        return ""
    return wired[0] if alone else f"[{', '.join(wired)}]"


def _plain(target: str, parts: Sequence[_Part], *, alone: bool) -> PlainTarget | None:
    """Return how a program without Sixfold makes the middleware, None when it cannot."""
    place, _, name = target.rpartition(":")
    if not target:
        return None
    if all(part.instance for part in parts):
        return PlainTarget(place, name)
    given = parts[0].given if alone else None
    return None if given is None else PlainTarget(place, name, given)


def _name(thing: object) -> str:
    if isinstance(thing, (list, tuple)):
        return " + ".join(_name(part) for part in thing) or "nothing"
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return str(named.__qualname__)


def _source(thing: Any, target: str) -> str:
    """Return where a class or function is defined: its module, or the file that a target names."""
    name, module = _name(thing), str(getattr(thing, "__module__", "?"))
    return f"{name} in {target.rpartition(':')[0]}" if is_from_a_file(module) else f"{module}.{name}"


def _target(thing: object) -> str:
    """Return what `sixfold replay` can find `thing` by; empty where no import path names it."""
    name = getattr(thing, "__qualname__", "")
    if inspect.ismethod(thing) and not isinstance(thing.__self__, type):
        return ""  # the name finds the function, and not the object that it is bound to
    if not all(part.isidentifier() for part in name.split(".")):
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
