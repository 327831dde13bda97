"""What is generated: message shapes, turns, faults, and the state machine that draws them.

All of it ends in scenarios, which are plain data. Of the folders below `cli` this is the only one that
may import Hypothesis.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not on demand, as the rest: once the module of the same name is loaded, the name would be the module's.
from .scenarios import explore, scenarios

if TYPE_CHECKING:
    from .machine import ContextMachine, InvariantViolation, Side, machine_for

__all__ = ["ContextMachine", "InvariantViolation", "Side", "explore", "machine_for", "scenarios"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(".machine", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
