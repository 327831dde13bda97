"""What a checkpointer does to the values that it stores: nothing to plain ones, as a rule."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_SERDE = JsonPlusSerializer()
_INTEGERS = range(-(2**63), 2**63)


def _encodes(text: str) -> bool:
    """Tell whether `text` is free of lone surrogates, which come back as question marks."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def stays_as_it_is(value: Any) -> bool:
    """Tell whether a checkpointer surely can store `value`, and gives it back as it was."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _encodes(value)
    if value is None or kind is bool or kind is float:
        return True
    if kind is int:
        return value in _INTEGERS
    if kind is dict:
        return all(
            type(key) is str and stays_as_it_is(key) and stays_as_it_is(item) for key, item in value.items()
        )
    if kind is list:
        return all(map(stays_as_it_is, value))
    return isinstance(value, BaseMessage) and not value.__pydantic_extra__ and stays_as_it_is(value.__dict__)


def through_storage(value: Any) -> Any:
    """Return `value` as a checkpointer gives it back. Raises the serialiser's error when it cannot."""
    return loaded(_SERDE.dumps_typed(value))


def loaded(stored: tuple[str, bytes]) -> Any:
    """Return what a checkpointer makes of stored bytes and the name of their encoding."""
    return _SERDE.loads_typed(stored)
