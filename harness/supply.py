"""Supply: constructor arguments of a middleware class, by name or annotation, from the environment.

A class whose constructor takes known arguments needs no adapter. Thresholds are lowered so that
they are met in short histories.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from langchain.agents.middleware import ClearToolUsesEdit
from langgraph.store.memory import InMemoryStore

from .environment import Environment
from .errors import TargetError
from .plain import is_from_a_file


class Supply(NamedTuple):
    """How an argument is made, how it is written down, and the imports that this takes."""

    make: Callable[[Environment], Any]
    shown: str
    imports: tuple[str, ...] = ()


def _value(value: Any) -> Supply:
    return Supply(lambda _environment: value, repr(value))


_MODEL = Supply(lambda environment: environment.model, "environment.model")
_STORE = Supply(
    lambda _environment: InMemoryStore(),
    "InMemoryStore()",
    ("from langgraph.store.memory import InMemoryStore",),
)
_CLOCK = Supply(lambda environment: environment.clock, "environment.clock")
_COUNTER = Supply(lambda environment: environment.token_counter, "environment.token_counter")


def _state_backend() -> Any:
    """Return deepagents' backend that keeps files in the agent's state; who asks for it has it installed."""
    return import_module("deepagents.backends").StateBackend()


#: What is supplied for an argument of this name.
SUPPLIES: dict[str, Supply] = {
    "model": _MODEL,
    "llm": _MODEL,
    "first_model": _MODEL,
    "summarization_model": _MODEL,
    "summary_model": _MODEL,
    "environment": Supply(lambda environment: environment, "environment"),
    "clock": _CLOCK,
    "store": _STORE,
    "token_counter": _COUNTER,
    "trigger": _value(("messages", 5)),
    "keep": _value(("messages", 2)),
    "run_limit": _value(2),
    "pii_type": _value("email"),
    "edits": Supply(
        lambda _environment: [ClearToolUsesEdit(trigger=40, keep=1)],
        "[ClearToolUsesEdit(trigger=40, keep=1)]",
        ("from langchain.agents.middleware import ClearToolUsesEdit",),
    ),
    "sources": _value(["/AGENTS.md"]),
    "output_messages_key": _value("llm_input_messages"),
}

#: What is supplied for an argument of this name that takes a number of messages, and no pair.
_COUNTS = {"trigger": 5, "keep": 2}

#: What is supplied for an argument whose annotation names one of these classes.
BY_ANNOTATION: dict[str, Supply] = {
    "BaseChatModel": _MODEL,
    "LanguageModelLike": _MODEL,
    "BaseLanguageModel": _MODEL,
    "BaseStore": _STORE,
    "VirtualClock": _CLOCK,
    "TokenCounter": _COUNTER,
    "BackendProtocol": Supply(
        lambda _environment: _state_backend(),
        "StateBackend()",
        ("from deepagents.backends import StateBackend",),
    ),
}

#: Names of sizes that have a default made for long conversations, and what short ones get.
_SIZES: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"max_summary_tokens"), 20),
    (
        re.compile(
            r"(max|trigger|threshold|limit|budget).*tokens?|tokens?.*(limit|threshold|trigger|budget)"
        ),
        40,
    ),
    # A size without a unit, or in characters: a long text of the drawn ones is more, a usual one less.
    (
        re.compile(
            r"^(max_)?(limit|threshold|budget|size|length|chars|characters)$"
            r"|(max|limit|threshold|budget).*(chars|characters|length)"
            r"|(chars|characters|length).*(max|limit|threshold|budget)"
        ),
        80,
    ),
    (re.compile(r"(keep|last|recent).*(messages|turns)|(messages|turns)_to_keep"), 2),
    (re.compile(r"(max|trigger|threshold).*(messages|turns)|(messages|turns).*(max|threshold|limit)"), 5),
)


def _named(parameter: inspect.Parameter) -> Supply | None:
    """Return what is supplied for the parameter's name; a number where it takes one."""
    supply = SUPPLIES.get(parameter.name)
    if parameter.name in _COUNTS and (type(parameter.default) is int or _words(parameter) == {"int"}):
        return _value(_COUNTS[parameter.name])
    return supply


def _words(parameter: inspect.Parameter) -> set[str]:
    """Return the names in the parameter's annotation, written out or not."""
    annotation = parameter.annotation
    text = annotation.__name__ if type(annotation) is type else str(annotation)
    return set() if annotation is parameter.empty else set(re.findall(r"\w+", text))


def _annotated(parameter: inspect.Parameter) -> Supply | None:
    """Return the supply for the first class that the annotation names."""
    words = _words(parameter)
    return next((supply for name, supply in BY_ANNOTATION.items() if name in words), None)


def _lowered(parameter: inspect.Parameter) -> Supply | None:
    """Return a lower size for a number whose default is too high for short histories."""
    default = parameter.default
    required = default is parameter.empty
    if not required and (isinstance(default, bool) or not isinstance(default, int)):
        return None
    words = _words(parameter)
    if required and words and words.isdisjoint({"int", "float"}):
        return None
    for pattern, size in _SIZES:
        if pattern.search(parameter.name) and (required or default > size):
            return _value(size)
    return None


def supply_of(parameter: inspect.Parameter) -> Supply | None:
    """Return what is supplied for `parameter`, None when it is left alone or unknown."""
    named = _named(parameter)
    if named is not None:
        return named
    lowered = _lowered(parameter)
    if lowered is not None or parameter.default is not parameter.empty:
        return lowered
    return _annotated(parameter)


class Argument(NamedTuple):
    """A constructor argument that is supplied."""

    name: str
    positional: bool
    supply: Supply


class Call(NamedTuple):
    """What a constructor takes: `supplied` in order, `missing` and required, `left` to their defaults."""

    supplied: tuple[Argument, ...]
    missing: tuple[inspect.Parameter, ...]
    left: tuple[inspect.Parameter, ...]


def arguments(cls: type[Any], target: str) -> tuple[Argument, ...]:
    """Return the constructor arguments to supply, in order.

    `target` is what names the class on the command line, empty when nothing does. Raises `TargetError`, with
    the factory to write, when a required argument is unknown.
    """
    call = call_of(cls, target)
    if call.missing:
        raise TargetError(
            f"cannot supply the constructor argument{'s' * (len(call.missing) > 1)} "
            f"{', '.join(parameter.name for parameter in call.missing)} of {cls.__name__}",
            place=target or cls.__name__,
            remedy=factory_remedy(cls, target),
        )
    return call.supplied


def call_of(cls: type[Any], target: str) -> Call:
    """Return how to call the constructor of `cls`.

    Arguments with a default are supplied when their name is known or a size too high, and left alone
    otherwise. Raises `TargetError` when the constructor cannot be inspected.
    """
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError) as error:
        raise TargetError(
            f"the constructor of {cls.__name__} cannot be inspected: {error}",
            place=target or cls.__name__,
            remedy=factory_remedy(cls, target),
        ) from error
    supplied: list[Argument] = []
    missing: list[inspect.Parameter] = []
    left: list[inspect.Parameter] = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        supply = supply_of(parameter)
        if supply is not None:
            positional = parameter.kind is parameter.POSITIONAL_ONLY
            supplied.append(Argument(parameter.name, positional, supply))
        elif parameter.default is parameter.empty:
            missing.append(parameter)
        else:
            left.append(parameter)
    return Call(tuple(supplied), tuple(missing), tuple(left))


def factory_remedy(cls: type[Any], target: str) -> str:
    """Return the advice that shows the factory to write for `cls`."""
    module = cls.__module__
    where = f"    from {module} import {cls.__name__}\n\n"
    if is_from_a_file(module):
        where = f"    # in the file of {cls.__name__}\n"
    written = f"`sixfold init {target}` writes a file in which only these are to be filled in. Or write"
    return (
        f"{written if target else 'Write'} a factory, and name it as the target (my_candidate.py:build) or "
        "hand it over in a test:\n\n"
        f"{where}"
        "    def build(environment):\n"
        f"        return {cls.__name__}(...)  # environment.model, .clock, .state, .token_counter"
    )


def construct(cls: type[Any], given: tuple[Argument, ...], environment: Environment) -> Any:
    """Construct `cls` with the supplied arguments, by keyword where possible."""
    positional = [a.supply.make(environment) for a in given if a.positional]
    keywords = {a.name: a.supply.make(environment) for a in given if not a.positional}
    return cls(*positional, **keywords)


def shown_arguments(given: tuple[Argument, ...]) -> tuple[tuple[str, str], ...]:
    """Return the name (empty: by position) of each supplied argument, and how the wiring shows it."""
    return tuple(("" if a.positional else a.name, a.supply.shown) for a in given)


def wiring_of(cls: type[Any], given: tuple[Argument, ...]) -> str:
    """Return the constructor call as a reader would write it."""
    return f"{cls.__name__}({', '.join(f'{a.name}={a.supply.shown}' for a in given)})"
