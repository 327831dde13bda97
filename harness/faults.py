"""The fault vocabulary: what can go wrong around a middleware, as explicit data.

A fault belongs to one user turn and names the place where it strikes. It is planned in the
scenario, and counts only when the interposer reports that it fired.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field

HookName = Literal["before_agent", "before_model", "wrap_model_call", "after_model", "after_agent"]
DependencyName = Literal["source", "summariser", "token_counter", "model", "tool"]
FaultKind = Literal[
    "skip",
    "lose",
    "twice",
    "timeout",
    "late",
    "cancel",
    "raise",
    "bad_summary",
    "crash",
    "partial_compaction",
]
FaultPlace = Literal[
    "before_agent",
    "before_model",
    "wrap_model_call",
    "after_model",
    "after_agent",
    "source",
    "summariser",
    "token_counter",
    "model",
    "tool",
]

#: What a bad summary looks like: nothing, blanks, an error in words, an echoed tool call, a text that
#: forgets everything, one full of dates and reminder tags, one that was cut short.
BadSummary = Literal["empty", "blank", "error_text", "tool_echo", "forgets", "tags", "cut_short"]

#: How files are validated: no unknown keys, no coercion.
PLAIN_DATA = ConfigDict(extra="forbid", strict=True)

HOOKS: tuple[HookName, ...] = get_args(HookName)
DEPENDENCIES: tuple[DependencyName, ...] = get_args(DependencyName)
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One planned fault of a user turn.

    `at` is the hook or dependency it strikes; `member` the index of the middleware in a stack (for
    hooks); `nth` the zero-based call of that place within the turn, counted per member; `for_good`
    makes a dependency fail for the rest of the turn, not only once; `keep` is the number of message
    writes that a partial compaction still applies; `summary` what a bad summary looks like.
    """

    kind: FaultKind
    at: FaultPlace
    member: Annotated[int, Field(ge=0, le=100)] = 0
    nth: Annotated[int, Field(ge=0, le=1000)] = 0
    for_good: bool = False
    keep: Annotated[int, Field(ge=0, le=1000)] = 1
    summary: BadSummary = "empty"


Fault.__pydantic_config__ = PLAIN_DATA  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class FaultPackage:
    """What reports and strategies need to know of a fault kind: where, what it means, its colour."""

    kind: FaultKind
    places: tuple[FaultPlace, ...]
    meaning: str
    colour: str


_NODE_HOOKS: tuple[FaultPlace, ...] = ("before_agent", "before_model", "after_model", "after_agent")

#: Every fault kind, by name.
PACKAGES: dict[FaultKind, FaultPackage] = {
    package.kind: package
    for package in (
        FaultPackage("skip", HOOKS, "the hook did not run this time (degraded path)", "yellow"),
        FaultPackage("lose", _NODE_HOOKS, "the hook ran, its update was never committed", "magenta"),
        FaultPackage(
            "twice", _NODE_HOOKS, "the hook ran twice on the same state; the second update counts", "cyan"
        ),
        FaultPackage(
            "timeout",
            (*HOOKS, "source", "summariser"),
            "timers expired first; the work was lost",
            "blue",
        ),
        FaultPackage("late", HOOKS, "timers expired first; the work came back late", "bright_blue"),
        FaultPackage("cancel", HOOKS, "the run was cancelled while the hook worked", "bright_magenta"),
        FaultPackage("raise", DEPENDENCIES, "the dependency failed", "red"),
        FaultPackage("bad_summary", ("summariser",), "the summariser answered badly", "bright_yellow"),
        FaultPackage(
            "crash",
            (*HOOKS, "model", "tool"),
            "the process died between supersteps and started again from the last checkpoint",
            "bright_red",
        ),
        FaultPackage(
            "partial_compaction",
            _NODE_HOOKS,
            "only the first message writes of the update were applied",
            "bright_cyan",
        ),
    )
}

#: Faults that any LangGraph middleware can suffer; a node's update is committed atomically, so a
#: partial compaction is drawn only for candidates that declare it.
DEFAULT_WORLD: frozenset[FaultKind] = frozenset(FAULT_KINDS) - {"partial_compaction"}


class InjectedFault(Exception):
    """Raised by a dependency of the harness on behalf of a planned `raise` fault."""


class InjectedTimeout(InjectedFault, TimeoutError):
    """Raised by a dependency of the harness on behalf of a planned `timeout` fault."""


class CrashError(InjectedFault):
    """Raised in place of a superstep when the process is to die before it."""


def is_injected(error: BaseException) -> bool:
    """Tell whether `error` is, was caused by, or happened while handling an injected fault."""
    seen: set[int] = set()
    queue: list[BaseException | None] = [error]
    while queue:
        current = queue.pop()
        if current is None or id(current) in seen:
            continue
        if isinstance(current, InjectedFault):
            return True
        seen.add(id(current))
        queue += [current.__cause__, current.__context__]
    return False


class FaultPlan:
    """The faults of one turn, looked up by place and call number while the turn runs.

    Faults are numbered in the scenario's order, from `first` on. Faults outside `world` (the kinds
    that the candidate can suffer) never strike.
    """

    def __init__(self, faults: Iterable[Fault], world: frozenset[FaultKind], *, first: int = 0) -> None:
        self._by_place: dict[tuple[str, int], list[tuple[int, Fault]]] = {}
        for number, fault in enumerate(faults, first):
            if fault.kind in world and fault.at in PACKAGES[fault.kind].places:
                self._by_place.setdefault((fault.at, fault.member), []).append((number, fault))
        self._calls: dict[tuple[str, int], int] = {}

    def strike(self, at: FaultPlace, member: int = 0) -> tuple[int, Fault] | None:
        """Count a call of the place; return number and fault of the one that strikes it, if any."""
        if not self._by_place:
            return None
        key = (at, member)
        call = self._calls.get(key, 0)
        self._calls[key] = call + 1
        for number, fault in self._by_place.get(key, ()):
            if fault.nth == call or (fault.for_good and call > fault.nth):
                return number, fault
        return None
