"""Tools of somebody else's agent: what a model is offered, and which of them the script may call.

A scripted call runs the real tool. So only a tool that looks as if it reads is called, and it must have
answered once before it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from langchain_core.utils.function_calling import convert_to_openai_tool

from ..script import LOOKUP, CalledTool
from ..tokens import bare
from .schemas import first_text, value_for

#: What tools do that are safe to run, by a word of their names, and what those do that are not.
_READS = frozenset(
    [
        "search",
        "lookup",
        "look",
        "get",
        "read",
        "find",
        "fetch",
        "list",
        "ls",
        "query",
        "retrieve",
        "weather",
        "info",
        "check",
        "grep",
        "glob",
        "show",
        "count",
        "recall",
        "browse",
        "calculate",
        "add",
        "multiply",
    ]
)
_ACTS = frozenset(
    [
        "write",
        "delete",
        "remove",
        "rm",
        "send",
        "create",
        "update",
        "edit",
        "execute",
        "exec",
        "run",
        "shell",
        "bash",
        "python",
        "post",
        "put",
        "pay",
        "buy",
        "book",
        "order",
        "cancel",
        "transfer",
        "handoff",
        "deploy",
        "install",
        "kill",
        "drop",
        "insert",
        "save",
        "upload",
        "task",
        "set",
        "move",
        "approve",
        "email",
        "mail",
        "message",
        "notify",
        "publish",
        "schedule",
        "start",
        "stop",
        "todos",
    ]
)

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

#: So many tools are tried before an agent is said to have none that can be called.
MOST_TRIED = 4


class Offered(NamedTuple):
    """A tool as a model is offered it; `ours` is the lookup tool that Sixfold supplied."""

    name: str
    schema: dict[str, Any]
    ours: bool = False


def offered(tools: Iterable[Any], ours: Any) -> tuple[Offered, ...]:
    """Return what a model learns of `tools`; those that only a provider can run are left out."""
    found = []
    for tool in tools:
        try:
            function = convert_to_openai_tool(tool).get("function")
        except Exception:  # noqa: BLE001  what cannot be described to a model is not offered to it
            function = None
        if function is not None:
            schema = function.get("parameters") or {}
            found.append(Offered(function["name"], schema, tool is ours))
    return tuple(found)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


def worth_trying(tools: Iterable[Offered]) -> list[Offered]:
    """Return the tools that the script may call, the best first: ours, those that read, the others.

    A tool whose name says that it acts is never called, nor one that takes no text.
    """
    rated = []
    for tool in tools:
        words = _words(tool.name)
        if tool.ours or (first_text(tool.schema) is not None and not words & _ACTS):
            rated.append((0 if tool.ours else 1 if words & _READS else 2, tool))
    return [tool for _, tool in sorted(rated, key=lambda each: each[0])][:MOST_TRIED]


def _arguments(schema: dict[str, Any], token: str) -> dict[str, Any]:
    given = value_for({**schema, "type": "object"}, "sixfold")
    name = first_text(schema)
    return given if name is None else {**given, name: bare(token)}


def called(tool: Offered) -> CalledTool:
    """Return how the script calls `tool`: the token of the result it asks for is in its first text."""
    return LOOKUP if tool.ours else CalledTool(tool.name, partial(_arguments, tool.schema))
