"""Copies of messages and of their fields, which share nothing that a candidate could change.

Validating a message costs more than all that the harness does with it: these copies are not validated.
"""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

#: The fields of messages that hold lists and dicts as a rule.
_NESTED = ("content", "additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls")

_PLAIN = frozenset({str, type(None)})

#: What an empty field is compared with; nobody changes these.
_EMPTY: dict[type, Any] = {list: [], dict: {}}

_new, _set = object.__new__, object.__setattr__

M = TypeVar("M", bound=BaseMessage)


def copied(value: Any) -> Any:
    """Return a copy of a field that later changes of the message do not reach."""
    if isinstance(value, list):
        return [item if item.__class__ in _PLAIN else copied(item) for item in value]
    if isinstance(value, dict):
        return (
            {key: item if item.__class__ in _PLAIN else copied(item) for key, item in value.items()}
            if value
            else {}
        )
    return value


def fields_of(message: BaseMessage) -> dict[str, Any]:
    """Return the fields of `message` as they are now, to be compared with later."""
    fields = message.__dict__.copy()
    for name in _NESTED:
        value = fields.get(name)
        kind = value.__class__
        if kind not in _PLAIN:
            fields[name] = _EMPTY[kind] if not value and kind in _EMPTY else copied(value)
    return fields


def with_fields(prototype: M, fields: dict[str, Any]) -> M:
    """Return a message of the kind of `prototype` that has exactly these fields."""
    message = _new(prototype.__class__)
    _set(message, "__dict__", fields)
    _set(message, "__pydantic_fields_set__", prototype.__pydantic_fields_set__.copy())
    _set(message, "__pydantic_extra__", {})
    _set(message, "__pydantic_private__", None)
    return message


def give_back(message: BaseMessage, fields: dict[str, Any]) -> None:
    """Let `message` have exactly these fields again, and share nothing with them."""
    _set(message, "__dict__", {name: copied(value) for name, value in fields.items()})
    _set(message, "__pydantic_extra__", {})


def nested_in(message: BaseMessage) -> tuple[str, ...]:
    """Return the names of the fields that hold lists and dicts."""
    return tuple(name for name, value in message.__dict__.items() if isinstance(value, list | dict))


def parted(fields: dict[str, Any], nested: tuple[str, ...]) -> dict[str, Any]:
    """Return a copy of the fields of a message; `nested` are the names of those that hold lists and dicts."""
    fields = fields.copy()
    for name in nested:
        fields[name] = copied(fields[name]) if fields[name] else type(fields[name])()
    return fields


def copy_of(message: M, nested: tuple[str, ...] | None = None) -> M:
    """Return a copy of `message` as it is; `nested` are its fields that hold lists and dicts, where known."""
    return with_fields(message, parted(message.__dict__, nested_in(message) if nested is None else nested))
