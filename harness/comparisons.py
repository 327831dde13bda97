"""Differential and metamorphic checks: the same session, told in two ways, must come out the same.

Each comparison plays variants of a scenario on one candidate in one lane and compares what the model
was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from .agent import Agent
from .attach_point import attached, idle_turn, of_itself
from .candidate import CONTROL
from .history import Fold, Happened, History, Requested
from .invariants.checks import Rule, Violation
from .invariants.reading import wire
from .nameless import unnamed
from .on_wire import rejected_on_wire
from .play import LaneName
from .play import play as play_scenario
from .scenario import Scenario
from .steps import Configure, Continue, Restart, Step, UserTurn
from .views import View


class Plays:
    """Plays variants of a scenario in one lane, each once."""

    def __init__(self, lane: LaneName) -> None:
        self.lane: LaneName = lane
        self.histories: dict[tuple[int, Scenario], History] = {}

    def __call__(self, agent: Agent, scenario: Scenario) -> History:
        """Return the history of the scenario."""
        key = (id(agent), scenario)
        if key not in self.histories:
            self.histories[key] = play_scenario(agent, scenario, lane=self.lane).history
        return self.histories[key]


Compare = Callable[[Agent, Scenario, Plays], str | Violation | None]


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


def _difference(left: History, right: History, one: str, other: str) -> str | None:
    """Say in which request two plays first differ, None when they show the model the same."""
    shown, also = _shown(left), _shown(right)
    for number, (a, b) in enumerate(zip(shown, also, strict=False), 1):
        if a != b:
            return f"request {number} (turn {a[0]}) shows the model something else {one} than {other}"
    if len(shown) != len(also):
        return f"the model is called {len(shown)} times {one} and {len(also)} times {other}"
    return None


def _replayed(agent: Agent, scenario: Scenario, play: Plays) -> str | None:
    """Messages change when a checkpoint is loaded, or requests differ from those of a twin that never
    restarted.
    """
    steady = [step for step in scenario.steps if not isinstance(step, Restart)]
    restarted: list[Step] = []
    for step in steady:
        restarted += [step, Restart()]
    left = play(agent, Scenario(tuple(steady)))
    right = play(agent, Scenario(tuple(restarted)))
    return unnamed(left) or _reloaded(right) or _difference(left, right, "in one process", "after restarts")


def _reloaded(history: History) -> str | None:
    """Say which message is another one after a checkpoint was loaded, None when all are as they were.

    The state after every superstep is a checkpoint.
    """
    stored: tuple[View, ...] = ()
    restarted = False
    for record in history.records:
        if isinstance(record, Fold):
            changed = changed_unwritten(stored, record) if restarted else None
            if changed is not None:
                return f"in turn {record.turn} the message {changed} is not what it was before the restart"
            stored, restarted = record.state, False
        elif isinstance(record, Happened):
            restarted = restarted or record.what == "restart"
            # Going back, the state is another one, whatever was stored last.
            stored = () if record.what == "rewind" else stored
    return None


def changed_unwritten(stored: tuple[View, ...], fold: Fold) -> str | None:
    """Return the id of a stored message that differs in `fold`, which did not write it."""
    written = {view.id for view in fold.update}
    now = {view.id: view for view in fold.state}
    for view in stored:
        if view.id not in written and now.get(view.id, view) != view:
            return view.id
    return None


_TIMING = ("timeout", "late", "cancel")


def _untimed(step: Step) -> Step:
    if isinstance(step, (UserTurn, Continue)):
        return replace(step, faults=tuple(f for f in step.faults if f.kind not in _TIMING))
    if isinstance(step, Configure):
        return replace(step, run_async=False)
    return step


def _sync_and_async(agent: Agent, scenario: Scenario, play: Plays) -> str | None:
    """Requests differ between a synchronous and an asynchronous run."""
    if not (agent.runs_sync and agent.runs_async):
        return None
    steps = tuple(_untimed(step) for step in scenario.steps)
    asynchronous = tuple(
        replace(step, run_async=True) if isinstance(step, Configure) else step for step in steps
    )
    left = play(agent, Scenario(steps))
    right = play(agent, Scenario((Configure(run_async=True), *asynchronous)))
    return _difference(left, right, "synchronously", "asynchronously")


def _without_chunks(step: Step) -> Step:
    """`add_messages` makes messages of chunks and `DeltaChannel` does not: no doing of a candidate."""
    if not isinstance(step, UserTurn):
        return step
    sent = tuple(replace(m, form="message") if m.form == "chunk" else m for m in step.messages)
    return replace(step, messages=sent, chunks=False)


def _reducers(agent: Agent, scenario: Scenario, play: Plays) -> str | None:
    """Requests differ between the `add_messages` reducer and a `DeltaChannel` of the same messages."""
    other = agent.with_delta_channel()
    if other is None:
        return None
    whole = Scenario(tuple(map(_without_chunks, scenario.steps)))
    left, right = play(agent, whole), play(other, whole)
    return _difference(left, right, "with add_messages", "with a DeltaChannel")


def _head_dependent(agent: Agent, scenario: Scenario, play: Plays) -> str | None:
    """Finished turns in front move the attach point relative to the tail."""
    if "skip" not in agent.candidate.contract.suffers:
        return None
    steps = tuple(of_itself(scenario.steps))
    idle = idle_turn(len(agent.interposers))
    alone = play(agent, Scenario(steps))
    later = play(agent, Scenario((idle, idle, *steps)))
    here, there = attached(alone, 0), attached(later, 2)
    # Another moment is another occasion, and another number of messages is something else to attach.
    if here is None or there is None or here.moment != there.moment:
        return None
    if here.places == there.places or len(here.places) != len(there.places):
        return None
    return (
        f"context is attached {_places(here.places)} the end of the history; {_places(there.places)} it "
        "when two finished turns come first"
    )


def _places(places: tuple[int, ...]) -> str:
    return f"{' and '.join(map(str, places))} messages before"


def _rejected(agent: Agent, scenario: Scenario, play: Plays) -> Violation | None:
    """A provider rejects a request for what only its serialisation shows, and none of control's for that.

    Judged on what `langchain-openai` and `langchain-anthropic` would send, when they are installed (extra
    `providers`).
    """
    return rejected_on_wire(agent, scenario, partial(play_scenario, lane=play.lane))


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
        "after a restart the session is another one",
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
    agent: Agent,
    scenario: Scenario,
    *,
    lane: LaneName = "reducer",
    invariants: tuple[int, ...] = (),
    played: History | None = None,
) -> list[Violation]:
    """Return what the comparisons find in `lane`, all at record 0: it shows in no single history.

    `played` is the history of `scenario` itself, when there is one. Control has nothing to compare: it is
    the measure.
    """
    if agent.candidate.name == CONTROL.name:
        return []
    # Several comparisons start from the same variant, mostly the scenario as it is.
    plays = Plays(lane)
    if played is not None:
        plays.histories[id(agent), scenario] = played
    found = []
    for comparison in COMPARISONS:
        if invariants and comparison.invariant not in invariants:
            continue
        different = comparison.compare(agent, scenario, plays)
        if isinstance(different, Violation):
            found.append(different)
        elif different is not None:
            found.append(Violation(comparison.code, 0, comparison.place, different))
    return found
