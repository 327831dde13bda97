"""Differential and metamorphic checks: the same session, told in two ways, must come out the same.

Each comparison plays variants of a scenario on one candidate in one lane and compares what the model
was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from .agent import Agent
from .candidate import CONTROL
from .faults import HOOKS, Fault
from .history import Fold, History, Requested
from .invariants.checks import Rule, Violation
from .invariants.reading import wire
from .on_wire import rejected_on_wire
from .play import LaneName, Play, Player, play
from .scenario import Scenario
from .steps import Configure, Continue, Restart, Step, UserTurn
from .stored import unnamed
from .views import View

Compare = Callable[[Agent, Scenario, Play], str | Violation | None]


@dataclass(frozen=True, slots=True)
class Comparison(Rule):
    """A rule that needs two plays: `compare` returns what differs, None when nothing does.

    It returns a sentence, or the whole violation when a contract may refer to its facts.
    """

    place: str
    compare: Compare


def _shown(history: History) -> list[tuple[object, ...]]:
    """Return what the model was shown in each request: the prompt and every message, as on the wire."""
    return [
        (record.turn, record.system, *map(wire, record.messages))
        for record in history.records
        if isinstance(record, Requested)
    ]


def _difference(left: Player, right: Player, one: str, other: str) -> str | None:
    """Say in which request two plays first differ, None when they show the model the same."""
    shown, also = _shown(left.history), _shown(right.history)
    for number, (a, b) in enumerate(zip(shown, also, strict=False), 1):
        if a != b:
            return f"request {number} (turn {a[0]}) shows the model something else {one} than {other}"
    if len(shown) != len(also):
        return f"the model is called {len(shown)} times {one} and {len(also)} times {other}"
    return None


def _replayed(agent: Agent, scenario: Scenario, play: Play) -> str | None:
    """Requests differ from those of a twin that never restarted, or a load cannot give a message back."""
    steady = [step for step in scenario.steps if not isinstance(step, Restart)]
    restarted: list[Step] = []
    for step in steady:
        restarted += [step, Restart()]
    left = play(agent, Scenario(tuple(steady)))
    right = play(agent, Scenario(tuple(restarted)))
    return unnamed(left.history) or _difference(left, right, "in one process", "after restarts")


_TIMING = ("timeout", "late", "cancel")


def _untimed(step: Step) -> Step:
    if isinstance(step, (UserTurn, Continue)):
        return replace(step, faults=tuple(f for f in step.faults if f.kind not in _TIMING))
    if isinstance(step, Configure):
        return replace(step, run_async=False)
    return step


def _sync_and_async(agent: Agent, scenario: Scenario, play: Play) -> str | None:
    """Requests differ between a synchronous and an asynchronous run."""
    if not (agent.runs_sync and agent.runs_async):
        return None
    steps = tuple(_untimed(step) for step in scenario.steps)
    asynchronous = tuple(
        replace(step, run_async=True) if isinstance(step, Configure) else step for step in steps
    )
    left = play(agent, Scenario((Configure(), *steps)))
    right = play(agent, Scenario((Configure(run_async=True), *asynchronous)))
    return _difference(left, right, "synchronously", "asynchronously")


def _reducers(agent: Agent, scenario: Scenario, play: Play) -> str | None:
    """Requests differ between the `add_messages` reducer and a `DeltaChannel` of the same messages."""
    other = agent.with_delta_channel()
    if other is None:
        return None
    left, right = play(agent, scenario), play(other, scenario)
    return _difference(left, right, "with add_messages", "with a DeltaChannel")


def _idle_turn() -> UserTurn:
    return UserTurn(faults=tuple(Fault("skip", hook) for hook in HOOKS))


def _attached(history: History, after_turn: int) -> tuple[int, ...] | None:
    """Return how far from the tail the first attached messages after `after_turn` stand."""
    before: tuple[View, ...] = ()
    for record in history.records:
        if not isinstance(record, Fold):
            continue
        if record.turn > after_turn and "." in record.by:
            said_under = {view.id for view in before if view.says is not None}
            known = ({view.id for view in before} | {None}) - said_under
            new = [
                place for place, view in enumerate(record.state) if view.says is None and view.id not in known
            ]
            removed = any(view.role == "remove" for view in record.update)
            if new and not removed:
                return tuple(len(record.state) - place for place in new)
        before = record.state
    return None


def _head_dependent(agent: Agent, scenario: Scenario, play: Play) -> str | None:
    """Finished turns in front move the attach point relative to the tail."""
    alone = play(agent, scenario)
    later = play(agent, Scenario((_idle_turn(), _idle_turn(), *scenario.steps)))
    here, there = _attached(alone.history, 0), _attached(later.history, 2)
    if here is None or there is None or here == there:
        return None
    return (
        f"context is attached {_places(here)} the end of the history; {_places(there)} it "
        "when two finished turns come first"
    )


def _places(places: tuple[int, ...]) -> str:
    return f"{' and '.join(map(str, places))} messages before"


def _rejected(agent: Agent, scenario: Scenario, play: Play) -> Violation | None:
    """A provider rejects a request for what only its serialisation shows, and none of control's for that.

    Judged on what `langchain-openai` and `langchain-anthropic` would send, when they are installed (extra
    `providers`).
    """
    return rejected_on_wire(agent, scenario, play)


COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "3.head-dependent",
        "finished turns in front move the attach point",
        "Where context goes depends on how the conversation began, not on where it is now.",
        "attach point",
        _head_dependent,
    ),
    Comparison(
        "4.rejected-request",
        "a provider rejects the request for what only the wire shows",
        "The request looks valid as messages, and fails once it is serialised for a provider.",
        "wire",
        _rejected,
    ),
    Comparison(
        "5.replay-differs",
        "after a restart the model sees something else",
        "What the user was answered from cannot be told from what is stored.",
        "replay",
        _replayed,
    ),
    Comparison(
        "6.sync-async",
        "the synchronous and the asynchronous form disagree",
        "Tests run one form and production the other.",
        "sync and async",
        _sync_and_async,
    ),
    Comparison(
        "6.reducers",
        "the two message reducers disagree",
        "The same middleware does something else in an agent that stores its history as deltas.",
        "reducers",
        _reducers,
    ),
)

#: The codes that comparisons report.
COMPARED: frozenset[str] = frozenset(comparison.code for comparison in COMPARISONS)


def compare(
    agent: Agent, scenario: Scenario, *, lane: LaneName = "reducer", invariants: tuple[int, ...] = ()
) -> list[Violation]:
    """Return what the comparisons find in `lane`, all at record 0: it shows in no single history.

    Control has nothing to compare: it is the measure.
    """
    if agent.candidate.name == CONTROL.name:
        return []
    found = []
    for comparison in COMPARISONS:
        if invariants and comparison.invariant not in invariants:
            continue
        different = comparison.compare(agent, scenario, partial(play, lane=lane))
        if isinstance(different, Violation):
            found.append(different)
        elif different is not None:
            found.append(Violation(comparison.code, 0, comparison.place, different))
    return found
