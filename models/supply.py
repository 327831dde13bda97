"""Supply: constructor arguments of a middleware class, by name, from the environment.

A class whose constructor takes known arguments needs no adapter. Thresholds are lowered so that
they are met in short histories.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..harness.candidate import Middleware
from ..harness.environment import Environment
from ..harness.errors import TargetError

#: What is supplied for an argument of this name.
SUPPLIES: dict[str, Callable[[Environment], Any]] = {
    "model": lambda environment: environment.model,
    "llm": lambda environment: environment.model,
    "environment": lambda environment: environment,
    "clock": lambda environment: environment.clock,
    "token_counter": lambda environment: environment.token_counter,
    "trigger": lambda environment: ("messages", 5),
    "keep": lambda environment: ("messages", 2),
}


def arguments(cls: type[Middleware], target: str) -> dict[str, str]:
    """Return the names of the constructor arguments to supply, in order.

    Arguments with a default are supplied when their name is known, and left alone otherwise. Raises
    `TargetError`, with the factory to write, when a required argument is unknown.
    """
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError) as error:
        raise TargetError(
            f"the constructor of {cls.__name__} cannot be inspected: {error}",
            place=target,
            remedy=factory_remedy(cls),
        ) from error
    supplied: dict[str, str] = {}
    missing: list[str] = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in SUPPLIES:
            supplied[parameter.name] = parameter.kind.name
        elif parameter.default is parameter.empty:
            missing.append(parameter.name)
    if missing:
        raise TargetError(
            f"cannot supply the constructor argument{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)} of {cls.__name__}",
            place=target,
            remedy=factory_remedy(cls),
        )
    return supplied


def factory_remedy(cls: type[Any]) -> str:
    """Return the advice that shows the factory to write for `cls`."""
    module = cls.__module__
    where = f"    from {module} import {cls.__name__}\n\n"
    if module.startswith("_sixfold_target_"):
        where = f"    # in the file of {cls.__name__}\n"
    return (
        "Write a factory in a file and name it as the target (my_candidate.py:build):\n\n"
        f"{where}"
        "    def build(environment):\n"
        f"        return {cls.__name__}(...)  # environment.model, .clock, .state, .token_counter"
    )


def construct(cls: type[Middleware], names: dict[str, str], environment: Environment) -> Middleware:
    """Construct `cls` with the supplied arguments, by keyword where possible."""
    positional = [SUPPLIES[n](environment) for n, kind in names.items() if kind == "POSITIONAL_ONLY"]
    keywords = {n: SUPPLIES[n](environment) for n, kind in names.items() if kind != "POSITIONAL_ONLY"}
    return cls(*positional, **keywords)
