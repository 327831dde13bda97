"""The target in a stand-alone file: imported and constructed as Sixfold constructs it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from keyword import iskeyword

from ..harness.plain import PlainTarget
from .standalone_text import literal

#: Arguments that are no literals: how the wiring shows them, what the file writes, and what it imports.
_KNOWN: dict[str, tuple[str, str]] = {
    "environment.model": ("summary_model", ""),
    "environment.token_counter": ("count_tokens", ""),
    "InMemoryStore()": ("InMemoryStore()", "from langgraph.store.memory import InMemoryStore"),
    "StateBackend()": ("StateBackend()", "from deepagents.backends import StateBackend"),
    "[ClearToolUsesEdit(trigger=40, keep=1)]": (
        "[ClearToolUsesEdit(trigger=40, keep=1)]",
        "from langchain.agents.middleware import ClearToolUsesEdit",
    ),
}


@dataclass(frozen=True, slots=True)
class TargetCode:
    """How a file gets its middleware: import lines, lines at the top, and lines that make `middleware`.

    `parts` are the parts of the file that these lines use; `needs_sixfold` tells whether the target exists
    only with Sixfold.
    """

    make: list[str]
    imports: list[str] = field(default_factory=list)
    top: list[str] = field(default_factory=list)
    parts: frozenset[str] = frozenset()
    needs_sixfold: bool = False


def with_sixfold(target: str) -> TargetCode:
    """Return the code for a target that is part of Sixfold, or that needs its environment."""
    return TargetCode(
        ["middleware = list(resolve(TARGET).build(environment))"],
        ["from sixfold.harness.environment import Environment", "from sixfold.models.resolve import resolve"],
        [f"TARGET = {literal(target)}"],
        frozenset({"summary_model"}),
        needs_sixfold=True,
    )


def plain(target: PlainTarget) -> TargetCode | None:
    """Return the code for a target that needs no Sixfold; None when an argument of it does."""
    parts: set[str] = set()
    imports, top, name = _imported(target, parts)
    if target.arguments is None:
        make = [f"middleware = copy.deepcopy({name})"]
        make.append(
            "middleware = list(middleware) if isinstance(middleware, (list, tuple)) else [middleware]"
        )
        return TargetCode(make, [*imports, "import copy"], top, frozenset(parts))
    given: list[str] = []
    for argument, shown in target.arguments:
        code = _argument(shown, imports, parts)
        if code is None or (argument and not _is_name(argument)):
            return None
        given.append(f"{argument}={code}" if argument else code)
    return TargetCode([f"middleware = [{name}({', '.join(given)})]"], imports, top, frozenset(parts))


def _argument(shown: str, imports: list[str], parts: set[str]) -> str | None:
    """Return an argument as code: a known one, or a literal; nothing else is taken from a run folder."""
    if shown in _KNOWN:
        code, imported = _KNOWN[shown]
        imports += [imported] * bool(imported)
        parts |= {code} & {"summary_model", "count_tokens"}
        return code
    try:
        return literal(ast.literal_eval(shown))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _imported(target: PlainTarget, parts: set[str]) -> tuple[list[str], list[str], str]:
    """Return import lines, lines at the top, and the expression for the target."""
    names = target.name.split(".")
    if target.place.endswith(".py"):
        parts.add("load")
        path = f"load({literal(target.place)})"
        return [], [f"TARGET = {_attribute(path, names)}"], "TARGET"
    if all(map(_is_name, (*target.place.split("."), *names))):
        return [f"from {target.place} import {names[0]}"], [], target.name
    module = f"importlib.import_module({literal(target.place)})"
    return ["import importlib"], [f"TARGET = {_attribute(module, names)}"], "TARGET"


def _attribute(start: str, names: list[str]) -> str:
    for name in names:
        start = f"{start}.{name}" if _is_name(name) else f"getattr({start}, {literal(name)})"
    return start
