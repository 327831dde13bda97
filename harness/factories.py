"""Factories: functions of the `Environment`, or of a model and a checkpointer.

A function `(model, checkpointer) -> compiled graph` makes a whole agent, run as it is. Its arguments are told
by name or annotation, as those of constructors are; what a factory makes of them is looked at when it is
called, so one that takes a model may return middleware as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from langchain.agents.middleware import AgentMiddleware
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from .environment import Environment
from .errors import TargetError
from .nodes import as_middleware, is_node
from .supply import BY_ANNOTATION, Supply, supply_of

_CHECKPOINTER = Supply(lambda environment: environment.checkpointer, "environment.checkpointer")
_MODEL = Supply(lambda environment: environment.model, "environment.model")
_TOOLS = Supply(lambda environment: list(environment.tools), "[lookup]")

#: What is supplied to a factory, beside what constructors are supplied, by the argument's name.
_BY_NAME: dict[str, Supply] = {
    "checkpointer": _CHECKPOINTER,
    "saver": _CHECKPOINTER,
    "chat_model": _MODEL,
    "tools": _TOOLS,
}

#: The same by a class that the annotation names.
_BY_CLASS: dict[str, Supply] = {
    "BaseCheckpointSaver": _CHECKPOINTER,
    "Checkpointer": _CHECKPOINTER,
    "InMemorySaver": _CHECKPOINTER,
    "MemorySaver": _CHECKPOINTER,
    "Environment": Supply(lambda environment: environment, "environment"),
}

_NAMES_OF_MODELS = frozenset({"model", "llm", "chat_model"})

_REMEDY = (
    "Write def make_agent(model, checkpointer): return create_agent(model, tools, ..., "
    "checkpointer=checkpointer), or a factory of middleware: "
    "def build(environment): return YourMiddleware(...)"
)

#: What a factory of the environment may return, and one that takes a model.
_RETURNS = "Return YourMiddleware(...), or a list of them in the order of create_agent."
_RETURNS_OF_A_MODEL = (
    "Return the compiled graph, such as create_agent(model, tools, ..., checkpointer=checkpointer) or "
    "builder.compile(checkpointer=checkpointer); or middleware that is given the model."
)


class Given(NamedTuple):
    """An argument of a factory that is supplied."""

    name: str
    positional: bool
    supply: Supply


def _classes_in(parameter: inspect.Parameter) -> list[str]:
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return []
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return [name for name in (*_BY_CLASS, *BY_ANNOTATION) if name in text]


def _supplied(parameter: inspect.Parameter) -> Supply | None:
    if parameter.name in _BY_NAME:
        return _BY_NAME[parameter.name]
    known = next((_BY_CLASS[name] for name in _classes_in(parameter) if name in _BY_CLASS), None)
    return known or supply_of(parameter)


def _parameters(factory: Any) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _builds_with_a_model(factory: Any) -> bool:
    """Tell whether the factory takes a model or a checkpointer, and not just the environment."""
    return any(
        parameter.name in _NAMES_OF_MODELS
        or _supplied(parameter) in (_CHECKPOINTER, BY_ANNOTATION["BaseChatModel"])
        for parameter in _parameters(factory)
    )


def _given_to(factory: Any, place: str) -> tuple[Given, ...]:
    """Return the arguments to supply, in order. Raises `TargetError` for a required one that is unknown."""
    given: list[Given] = []
    missing: list[str] = []
    for parameter in _parameters(factory):
        supply = _supplied(parameter)
        if supply is not None:
            given.append(Given(parameter.name, parameter.kind is parameter.POSITIONAL_ONLY, supply))
        elif parameter.default is parameter.empty:
            missing.append(parameter.name)
    if missing:
        raise TargetError(
            f"cannot supply the argument{'s' * (len(missing) > 1)} {', '.join(missing)} of the factory",
            place=place,
            remedy=_REMEDY,
        )
    return tuple(given)


def _calling(factory: Callable[..., Any], given: tuple[Given, ...]) -> Callable[[Environment], Any]:
    """Return the factory as a function of the environment."""

    def call(environment: Environment) -> Any:
        positional = [each.supply.make(environment) for each in given if each.positional]
        named = {each.name: each.supply.make(environment) for each in given if not each.positional}
        return factory(*positional, **named)

    return call


def _shown(factory: Any, given: tuple[Given, ...]) -> str:
    """Return the call as a reader would write it."""
    name = getattr(factory, "__qualname__", type(factory).__qualname__)
    return f"{name}({', '.join(f'{each.name}={each.supply.shown}' for each in given)})"


class Factory(NamedTuple):
    """A factory that can be called: what it makes of an environment, and how the call is written down.

    The wiring is empty where the factory takes the environment, as its author wrote it.
    """

    build: Callable[[Environment], list[Any]]
    wiring: str


def factory_of(function: Callable[..., Any], place: str) -> Factory:
    """Return a function of the environment, or of a model, as a factory.

    What it makes is checked when it is made: middleware, nodes, a list of them, or one compiled graph. Raises
    `TargetError` at `place` for a function that cannot be called, and later for what it makes.
    """
    if inspect.iscoroutinefunction(function):
        raise TargetError(
            "the factory is a coroutine function",
            place=place,
            remedy="Build what it returns in a plain def.",
        )
    wiring, remedy = "", _RETURNS
    if _builds_with_a_model(function):
        remedy = _RETURNS_OF_A_MODEL
        given = _given_to(function, place)
        make, wiring = _calling(function, given), _shown(function, given)
    else:
        make = _of_the_environment(function, place)

    def build(environment: Environment) -> list[Any]:
        made = make(environment)
        members = made if isinstance(made, (list, tuple)) else [made]
        return [_made(member, place, remedy) for member in members]

    return Factory(build, wiring)


def _of_the_environment(factory: Any, place: str) -> Callable[[Environment], Any]:
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
            place=place,
            remedy="Write def build(environment): return YourMiddleware(...), or "
            "def make_agent(model, checkpointer): return a compiled graph",
        )
    made: Callable[[Environment], Any] = factory
    return made


def _made(thing: Any, place: str, remedy: str) -> Any:
    """Return what a factory made: a whole agent as it is, all else as a member of a stack."""
    if isinstance(thing, StateGraph):
        raise TargetError(
            "the factory returned a graph that is not compiled",
            place=place,
            remedy="Return builder.compile(checkpointer=checkpointer).",
        )
    if isinstance(thing, Pregel):
        return thing
    member: Any = as_middleware(thing) if is_node(thing) else thing
    if not isinstance(member, AgentMiddleware):
        what = "nothing" if thing is None else described(thing)
        raise TargetError(
            f"the factory returned {what}, which is neither middleware nor a node nor a compiled graph",
            place=place,
            remedy=remedy,
        )
    return member


def described(thing: Any) -> str:
    """Return what `thing` is, in words: `the class Flask`, `an int`."""
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    name = type(thing).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
