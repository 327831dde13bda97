"""The core: what a history is, how it is played, and how it is judged.

Scenarios go in and verdicts come out. Nothing here knows how scenarios are generated, which systems
there are to run, or who reads the result, so this folder imports none of its siblings. What test suites
need of it can be imported from here, and is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .candidate import CONTROL, Candidate, Contract
    from .checking import check
    from .environment import Environment
    from .errors import ScenarioFileError, SixfoldError, TargetError
    from .faults import Fault
    from .folded import Folded
    from .folding import fold
    from .scenario import Scenario, load
    from .steps import (
        AdvanceClock,
        ChangeState,
        Configure,
        Continue,
        DeleteTurn,
        EditMessage,
        LateResults,
        LoadTurn,
        OtherThread,
        Restart,
        Rewind,
        ToolCall,
        ToolRound,
        TrimState,
        UserMessage,
        UserTurn,
    )
    from .targets import as_candidate
    from .violation import InvariantViolation

#: Where each public name is defined.
_MODULES = {
    "AdvanceClock": "steps",
    "CONTROL": "candidate",
    "Candidate": "candidate",
    "ChangeState": "steps",
    "Configure": "steps",
    "Continue": "steps",
    "Contract": "candidate",
    "DeleteTurn": "steps",
    "EditMessage": "steps",
    "Environment": "environment",
    "Fault": "faults",
    "Folded": "folded",
    "InvariantViolation": "violation",
    "LateResults": "steps",
    "LoadTurn": "steps",
    "OtherThread": "steps",
    "Restart": "steps",
    "Rewind": "steps",
    "Scenario": "scenario",
    "ScenarioFileError": "errors",
    "SixfoldError": "errors",
    "TargetError": "errors",
    "ToolCall": "steps",
    "ToolRound": "steps",
    "TrimState": "steps",
    "UserMessage": "steps",
    "UserTurn": "steps",
    "as_candidate": "targets",
    "check": "checking",
    "fold": "folding",
    "load": "scenario",
}

__all__ = [
    "CONTROL",
    "AdvanceClock",
    "Candidate",
    "ChangeState",
    "Configure",
    "Continue",
    "Contract",
    "DeleteTurn",
    "EditMessage",
    "Environment",
    "Fault",
    "Folded",
    "InvariantViolation",
    "LateResults",
    "LoadTurn",
    "OtherThread",
    "Restart",
    "Rewind",
    "Scenario",
    "ScenarioFileError",
    "SixfoldError",
    "TargetError",
    "ToolCall",
    "ToolRound",
    "TrimState",
    "UserMessage",
    "UserTurn",
    "as_candidate",
    "check",
    "fold",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
