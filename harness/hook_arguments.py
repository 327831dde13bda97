"""What hooks take beside state and runtime: LangGraph gives it to a node by the names of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from langgraph.config import get_config

_NAMES = ("config", "store", "writer")


def beside(names: tuple[str, ...], runtime: Any) -> dict[str, Any]:
    """Return what LangGraph gives a node by the names of its parameters."""
    known: dict[str, Callable[[], Any]] = {
        "config": get_config,
        "store": lambda: runtime.store,
        "writer": lambda: runtime.stream_writer,
    }
    return {name: known[name]() for name in names}


def taken_by(hook: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a hook that LangGraph fills by their names, state and runtime left out."""
    return tuple(name for name in signature(hook).parameters if name in _NAMES)
