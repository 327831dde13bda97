"""Factories of whole agents: functions `(model, checkpointer) -> compiled graph`, run as they are.

The arguments are told by name or annotation, as those of constructors are; what a factory makes of them is
looked at when it is called, so one that takes a model may return middleware as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from ..harness.environment import Environment
from ..harness.errors import TargetError
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

#: What a factory that takes a model may return.
RETURNS = (
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


def builds_with_a_model(factory: Any) -> bool:
    """Tell whether the factory takes a model or a checkpointer, and not just the environment."""
    return any(
        parameter.name in _NAMES_OF_MODELS
        or _supplied(parameter) in (_CHECKPOINTER, BY_ANNOTATION["BaseChatModel"])
        for parameter in _parameters(factory)
    )


def given_to(factory: Any, target: str) -> tuple[Given, ...]:
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
            place=target,
            remedy=_REMEDY,
        )
    return tuple(given)


def calling(factory: Callable[..., Any], given: tuple[Given, ...]) -> Callable[[Environment], Any]:
    """Return the factory as a function of the environment."""

    def call(environment: Environment) -> Any:
        positional = [each.supply.make(environment) for each in given if each.positional]
        named = {each.name: each.supply.make(environment) for each in given if not each.positional}
        return factory(*positional, **named)

    return call


def shown(factory: Any, given: tuple[Given, ...]) -> str:
    """Return the call as a reader would write it."""
    name = getattr(factory, "__qualname__", type(factory).__qualname__)
    return f"{name}({', '.join(f'{each.name}={each.supply.shown}' for each in given)})"
