"""Text of stand-alone files: Python literals that nothing can break out of, and comments."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ..harness.harmless import harmless

#: Longer lists and dicts are written with a line for each item.
WIDTH = 88

_INDENT = "    "

#: The fields of messages that are written down when they are not empty, in this order.
_FIELDS = ("id", "name", "additional_kwargs", "response_metadata")
_CALL_FIELDS = ("tool_calls", "invalid_tool_calls", "usage_metadata")


def literal(value: Any) -> str:
    """Return plain data as a Python literal on one line.

    Control, bidirectional and surrogate characters are escaped, as `repr` escapes all that cannot be
    printed. Raises `TypeError` for what is no plain data.
    """
    if isinstance(value, str):
        text = repr(value)
        plain = text[0] == "'" and '"' not in value
        return f'"{text[1:-1]}"' if plain else text
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    raise TypeError(f"a {type(value).__name__} is no plain data")


def message_literal(message: Any) -> str:
    """Return a message, or the dict or tuple that stands for one, as the expression that makes it."""
    if not isinstance(message, BaseMessage):
        return literal(message)
    content = literal(message.content)
    given = [f"content={content}" if type(message).__name__.endswith("Chunk") else content]
    fields = message.__dict__
    given += [
        f"{name}={_field(fields[name])}"
        for name in (*_FIELDS, *(_CALL_FIELDS if isinstance(message, AIMessage) else ()))
        if fields.get(name) not in (None, {}, [])
    ]
    if isinstance(message, ToolMessage):
        given.append(f"tool_call_id={literal(message.tool_call_id)}")
    line = f"{type(message).__name__}({', '.join(given)})"
    if len(line) <= WIDTH or len(given) == 1:
        return line
    return f"{type(message).__name__}(\n{_lines(given)})"


def _field(value: Any) -> str:
    """Return a field; a list of tool calls without what they have by default, a line for each."""
    return listed([literal(_short(call)) for call in value]) if isinstance(value, list) else literal(value)


def _short(call: Any) -> Any:
    return {k: v for k, v in call.items() if (k, v) != ("type", "tool_call")}


def _lines(items: list[str]) -> str:
    """Return expressions, which may take several lines, one below the other."""
    return "".join(f"{line}\n" for item in items for line in indented(f"{item},".split("\n")))


def listed(items: list[str]) -> str:
    """Return expressions as a list: on one line when they are short, else with a line for each."""
    line = f"[{', '.join(items)}]"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return f"[\n{_lines(items)}]"


def indented(lines: list[str], indent: int = 1) -> list[str]:
    """Return lines of code, moved to the right."""
    return [f"{_INDENT * indent}{line}" if line else "" for line in lines]


def comment(text: str) -> str:
    """Return `text` as a comment on one line."""
    return f"# {prose(text, 100)}"


def prose(text: str, limit: int = 400) -> str:
    """Return `text` on one line, fit for a comment or a docstring: nothing in it ends either."""
    clean = harmless(text, limit).replace("\u2028", " ").replace("\u2029", " ")
    return clean.replace("\\", "/").replace('"', "'").strip()
