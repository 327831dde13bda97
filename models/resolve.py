"""Targets: from what a user types to a candidate.

A target is a catalogue name, an import path (`pkg.module:Name`) or a file (`path/to/file.py:name`)
of a middleware class, an instance, a list of them, a node (`state -> update`, a `pre_model_hook`), a
factory that takes the `Environment`, a factory of a whole agent (`(model, checkpointer) -> compiled
graph`), or a `Candidate`.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables import Runnable
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from ..harness.errors import TargetError, TargetInterruptedError
from ..harness.interrupts import is_the_users
from ..harness.plain import PlainTarget
from .agents import RETURNS, builds_with_a_model, calling, given_to, shown
from .catalogue import CATALOGUE, MISSING
from .nodes import as_middleware, is_node
from .supply import arguments, construct, shown_arguments, wiring_of

_FORMS = (
    "A target is a catalogue name (see `sixfold list`), pkg.module:Name or path/to/file.py:name of an "
    "AgentMiddleware class or instance, a list of them, a node (a function of the state), a factory that "
    "takes the Environment, a factory (model, checkpointer) -> compiled graph, or a Candidate."
)


#: How modules are called that are loaded from files.
_LOADED = "_sixfold_target_"


def resolve(target: str) -> Candidate:
    """Return the candidate that `target` names. Raises `TargetError` with cause, place and remedy."""
    if target in CATALOGUE:
        return CATALOGUE[target]()
    if target in MISSING:
        return MISSING[target]()
    return _candidate(find(target), target)


def find(target: str) -> Any:
    """Return the object that an import path or a file names. Raises `TargetError` as `resolve` does."""
    path, colon, name = target.rpartition(":")
    if not colon or not path or not name:
        close = get_close_matches(target, CATALOGUE, n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise TargetError(f"unknown target {target!r}", place="command line", remedy=hint + _FORMS)
    module = _load_file(Path(path), target) if path.endswith(".py") else _load_module(path, target)
    thing: Any = module
    for part in name.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError as error:
            close = get_close_matches(part, dir(thing), n=1)
            hint = f"Did you mean {close[0]}?" if close else "Check the spelling."
            raise TargetError(f"{path} has no {part!r}", place=target, remedy=hint) from error
    return thing


def _load_module(path: str, target: str) -> Any:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
            raise TargetError(
                f"there is no module {error.name!r}",
                place=target,
                remedy="Install the package beside sixfold, or name the file: path/to/file.py:name.",
            ) from error
        raise _import_failed(error, target) from error
    except BaseException as error:
        if is_the_users(error):
            raise
        raise _import_failed(error, target) from error


def _load_file(path: Path, target: str) -> Any:
    if not path.is_file():
        raise TargetError(f"there is no file {path}", place=target, remedy="Check the path.")
    name = f"{_LOADED}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} cannot be loaded as Python", place=target, remedy="Name a .py file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if is_the_users(error):
            raise
        raise _import_failed(error, target) from error
    return module


def _import_failed(error: BaseException, target: str) -> TargetError:
    trace = error.__traceback__
    place = target
    if isinstance(error, SyntaxError) and error.filename is not None:
        trace, place = None, f"{error.filename}:{error.lineno}"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = TargetInterruptedError if isinstance(error, KeyboardInterrupt) else TargetError
    return kind(
        f"importing the target raised {type(error).__name__}: {error}",
        place=place,
        remedy="Make the module importable on its own: python -c 'import …' shows the full traceback.",
    )


def _candidate(thing: Any, target: str) -> Candidate:
    if isinstance(thing, Candidate):
        return replace(thing, target=target)
    if isinstance(thing, type) and issubclass(thing, (AgentMiddleware, Runnable)):
        given = arguments(thing, target)
        return Candidate(
            name=target,
            build=lambda environment: [_member(construct(thing, given, environment))],
            source=_source(thing, target),
            target=target,
            wiring=wiring_of(thing, given),
            plain=_plain(target, shown_arguments(given)) if issubclass(thing, AgentMiddleware) else None,
        )
    if isinstance(thing, AgentMiddleware):
        return _stack([thing], target)
    if isinstance(thing, (list, tuple)) and thing and all(isinstance(m, AgentMiddleware) for m in thing):
        return _stack(list(thing), target)
    if is_node(thing):
        name = str(getattr(thing, "__qualname__", type(thing).__qualname__))
        return Candidate(
            name=target,
            build=lambda _environment: [as_middleware(thing)],
            source=_source(thing, target),
            target=target,
            wiring=f"{name}(state) before each model call",
        )
    if isinstance(thing, (Pregel, StateGraph)):
        raise TargetError(
            f"{target} is a graph that is built already, so it cannot be given a scripted model",
            place=target,
            remedy="Name a function that builds it: def make_agent(model, checkpointer): return "
            "builder.compile(checkpointer=checkpointer)",
        )
    if callable(thing) and not isinstance(thing, type):
        return _factory(thing, target)
    raise TargetError(
        f"{target} is {_described(thing)}, which is not middleware", place=target, remedy=_FORMS
    )


def _member(thing: Any) -> Middleware:
    """Return `thing` as a member of a stack: a node is run before each model call."""
    member: Middleware = as_middleware(thing) if is_node(thing) else thing
    return member


def _described(thing: Any) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    name = type(thing).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _stack(members: Sequence[Middleware], target: str) -> Candidate:
    """Return a candidate of ready instances; each history gets its own copies."""

    def build(_environment: Environment) -> Sequence[Middleware]:
        try:
            return [copy.deepcopy(member) for member in members]
        except Exception as error:
            raise TargetError(
                f"a middleware instance cannot be copied for each history: {type(error).__name__}: {error}",
                place=target,
                remedy="Name its class, or write a factory that takes the Environment and builds it anew.",
            ) from error

    source = ", ".join(_source(type(member), target) for member in members)
    return Candidate(name=target, build=build, source=source, target=target, plain=_plain(target))


def _source(thing: Any, target: str) -> str:
    """Return where a class or function is defined: its module, or the file that a target names."""
    name = str(getattr(thing, "__qualname__", type(thing).__qualname__))
    module = str(getattr(thing, "__module__", "?"))
    return f"{name} in {target.rpartition(':')[0]}" if module.startswith(_LOADED) else f"{module}.{name}"


def _plain(target: str, given: tuple[tuple[str, str], ...] | None = None) -> PlainTarget:
    place, _, name = target.rpartition(":")
    return PlainTarget(place, name, given)


def _factory(factory: Any, target: str) -> Candidate:
    """Return a candidate of what a function of the environment, or of a model, makes."""
    if inspect.iscoroutinefunction(factory):
        raise TargetError(
            "the factory is a coroutine function",
            place=target,
            remedy="Build what it returns in a plain def.",
        )
    wiring, remedy = "", "Return YourMiddleware(...), or a list of them in the order of create_agent."
    if builds_with_a_model(factory):
        remedy = RETURNS
        given = given_to(factory, target)
        make, wiring = calling(factory, given), shown(factory, given)
    else:
        make = _of_the_environment(factory, target)

    def build(environment: Environment) -> Sequence[Any]:
        made = make(environment)
        members = made if isinstance(made, (list, tuple)) else [made]
        return [_made(member, target, remedy) for member in members]

    return Candidate(
        name=target,
        build=build,
        source=_source(factory, target),
        target=target,
        wiring=wiring,
    )


def _of_the_environment(factory: Any, target: str) -> Callable[[Environment], Any]:
    try:
        takes = [
            p
            for p in inspect.signature(factory).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        takes = []
    if len(takes) != 1:
        raise TargetError(
            f"the function takes {len(takes)} required arguments; a factory takes one, the Environment, or "
            "a model and a checkpointer by these names",
            place=target,
            remedy="Write def build(environment): return YourMiddleware(...), or "
            "def make_agent(model, checkpointer): return a compiled graph",
        )
    made: Callable[[Environment], Any] = factory
    return made


def _made(thing: Any, target: str, remedy: str) -> Any:
    """Return what a factory made: a whole agent as it is, all else as a member of a stack."""
    if isinstance(thing, StateGraph):
        raise TargetError(
            "the factory returned a graph that is not compiled",
            place=target,
            remedy="Return builder.compile(checkpointer=checkpointer).",
        )
    if isinstance(thing, Pregel):
        return thing
    member: Any = _member(thing)
    if not isinstance(member, AgentMiddleware):
        what = "nothing" if thing is None else _described(thing)
        raise TargetError(
            f"the factory returned {what}, which is neither middleware nor a node nor a compiled graph",
            place=target,
            remedy=remedy,
        )
    return member
