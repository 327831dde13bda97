"""What is plain about most supersteps: told here, so that the reducer lane can do them fast."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langgraph.types import Command, Send

from .surroundings import Writes


def _plain_command(command: Any) -> bool:
    return (
        isinstance(command, Command)
        and not command.goto
        and command.graph is None
        and isinstance(command.update, dict | None)
    )


def plain_writes(update: Any, known: Iterable[str]) -> Writes | None:
    """Return the channel writes of a node's return value; None when only its writers can tell."""
    if update is None:
        return []
    if isinstance(update, dict):
        return [(key, update[key]) for key in update if key in known]
    commands = update if type(update) is list and update else [update]
    if not all(map(_plain_command, commands)):
        return None
    return [
        (key, value) for command in commands for key, value in (command.update or {}).items() if key in known
    ]


def calls_of(send: Send) -> list[Any]:
    """Return the tool calls that a `Send` to the tool node carries; before LangChain 1.2 in a dict."""
    return [send.arg["tool_call"]] if isinstance(send.arg, dict) else list(send.arg)


def is_scripted(call: dict[str, Any]) -> bool:
    """Tell whether a tool call is one that the script may have made: then its result is known."""
    arguments = call["args"]
    return (
        call["name"] == "lookup"
        and type(call["id"]) is str
        and len(arguments) == 1
        and type(arguments.get("token")) is str
    )
