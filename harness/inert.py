"""Inert decoding: what LangChain and LangGraph wrote, as plain data, without running any of it.

Their own readers import modules and call constructors that the stored bytes name. Here a constructor
is data: one of a message class becomes the dict of its fields, any other an `Inert` marker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ormsgpack

#: The message classes that are read, and the `type` that LangChain gives their dicts.
MESSAGE_TYPES: Mapping[str, str] = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "ToolMessage": "tool",
    "SystemMessage": "system",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
    "HumanMessageChunk": "HumanMessageChunk",
    "AIMessageChunk": "AIMessageChunk",
    "ToolMessageChunk": "ToolMessageChunk",
    "SystemMessageChunk": "SystemMessageChunk",
    "FunctionMessageChunk": "FunctionMessageChunk",
    "ChatMessageChunk": "ChatMessageChunk",
}

#: Levels of nesting that are read; deeper data is refused.
MAX_DEPTH = 100

#: The codes of LangGraph's msgpack extensions: constructors by single, positional and keyword arguments,
#: a method, and pydantic models; the last is a channel's whole value, kept as a snapshot.
_CONSTRUCTORS = range(6)
_MODELS = (4, 5)
_SNAPSHOT = 7
_LC_ROOTS = (("langchain", "schema", "messages"), ("langchain_core", "messages"))


@dataclass(frozen=True, slots=True)
class Inert:
    """What stands in the place of an object that is not read; `what` names its class or kind."""

    what: str


class DecodeError(ValueError):
    """The bytes are no data of the format that they claim to be."""


def from_msgpack(data: bytes) -> Any:
    """Return the plain data in msgpack bytes of LangGraph. Raises `DecodeError`."""
    try:
        return without_constructors(_unpacked(data, 0))
    except (ValueError, TypeError, RecursionError) as error:
        raise DecodeError(f"not valid msgpack: {error}") from error


def from_json(text: str | bytes) -> Any:
    """Return the plain data in JSON, LangChain's constructors as data, too. Raises `DecodeError`."""
    try:
        return without_constructors(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"not valid JSON: {error}") from error


def without_constructors(value: Any, depth: int = 0) -> Any:
    """Return JSON data in which each `lc` constructor is a message's dict or a marker."""
    if depth > MAX_DEPTH:
        raise DecodeError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list):
        return [without_constructors(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if "lc" in value and "id" in value:
        return _constructor(value, depth)
    return {key: without_constructors(item, depth + 1) for key, item in value.items()}


def _constructor(value: dict[str, Any], depth: int) -> Any:
    path = value["id"] if isinstance(value["id"], list) else [value["id"]]
    names = tuple(str(part) for part in path)
    kwargs = value.get("kwargs")
    known = any(names[: len(root)] == root for root in _LC_ROOTS) and names[-1] in MESSAGE_TYPES
    if not known or value.get("type") != "constructor" or not isinstance(kwargs, dict):
        return Inert(".".join(names))
    return {**without_constructors(kwargs, depth + 1), "type": MESSAGE_TYPES[names[-1]]}


def _unpacked(data: bytes, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise DecodeError(f"nested deeper than {MAX_DEPTH} levels")
    return ormsgpack.unpackb(data, ext_hook=_hook(depth), option=ormsgpack.OPT_NON_STR_KEYS)


def _hook(depth: int) -> Callable[[int, bytes], Any]:
    def hook(code: int, data: bytes) -> Any:
        if code == _SNAPSHOT:
            return _unpacked(data, depth + 1)
        if code not in _CONSTRUCTORS:
            return Inert(f"msgpack extension {code}")
        # A message holds messages at no level, so what is inside another constructor needs no reading.
        named = _unpacked(data, depth + 1)
        match named:
            case [str(module), str(name), fields, *_]:
                pass
            case _:
                return Inert(f"msgpack extension {code}")
        ours = module == "langchain_core.messages" or module.startswith("langchain_core.messages.")
        if code in _MODELS and ours and name in MESSAGE_TYPES and isinstance(fields, dict):
            return {**fields, "type": MESSAGE_TYPES[name]}
        return Inert(f"{module}.{name}")

    return hook
