"""Subjects: a candidate as a search and a campaign see it, in this process or in another.

A search asks what a scenario does on a candidate, and never touches the candidate itself. So it can run
where the search runs (`Local`) or in a worker process under a watchdog (`remote.Remote`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from .agent import Agent, build_agent
from .candidate import Candidate
from .comparisons import COMPARED
from .differential import Trial, compare_lanes, is_deterministic, try_out
from .faults import FaultKind, FaultPlace
from .figures import Figures, figures
from .history import History, Requested
from .invariants.reading import wire
from .on_wire import provider_answers
from .play import LaneName
from .reachability import observe
from .scenario import Scenario
from .shrink import Shrunk, shrink
from .stack import needed_members
from .traces import Traces
from .wire_rules import Answer

Invariants = tuple[int, ...]


class Key(NamedTuple):
    """What tells failures of one candidate apart: the check, and the place at which it shows."""

    code: str
    place: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A violation in a history: its key, and one plain sentence."""

    code: str
    place: str
    detail: str

    @property
    def key(self) -> Key:
        """What tells it from other failures of the candidate."""
        return Key(self.code, self.place)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search needs to know of one history.

    `violated` holds the first violation of each key, `waived` the codes that the contract waives, `kinds`
    the fault kinds that struck. `figures` were measured when the variants were played. `lost` says that
    nothing is known of it: it ended the candidate's process. `sees` is a digest of what the model was sent,
    when that was asked for: equal digests, equal requests.
    """

    violated: tuple[Seen, ...] = ()
    waived: frozenset[str] = frozenset()
    reached: Counter[str] = field(default_factory=Counter)
    kinds: frozenset[FaultKind] = frozenset()
    figures: Figures = field(default_factory=Figures)
    lost: bool = False
    sees: str = ""


@dataclass(frozen=True, slots=True)
class LanesCompared:
    """Where the two lanes differ in a scenario (None: nowhere), and what the graph lane violates."""

    difference: str | None
    violated: frozenset[Key]


def sees(history: History) -> str:
    """Return a digest of all requests of a history, as a provider gets them, turn by turn."""
    requests = [
        (record.turn, record.system, [wire(view) for view in record.messages])
        for record in history.records
        if isinstance(record, Requested)
    ]
    return hashlib.blake2b(repr(requests).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def outcome_of(trial: Trial, *, measured: bool, seeing: bool = False) -> Outcome:
    """Return what a search needs to know of `trial`."""
    return Outcome(
        tuple(Seen(code, place, item.violation.detail) for (code, place), item in trial.violated().items()),
        frozenset(item.violation.code for item in trial.judged if item.ruling == "waived"),
        observe(trial.reading),
        frozenset(fired.kind for fired in trial.history.fired()),
        figures(trial.reading) if measured else Figures(),
        sees=sees(trial.history) if seeing else "",
    )


class Subject(Protocol):
    """A candidate that can be asked what scenarios do on it. Errors of the candidate are answers."""

    @property
    def candidate(self) -> Candidate:
        """Its name, contract and origin."""

    @property
    def given_up(self) -> bool:
        """Whether it has ended its process so often that nothing more is generated for it."""

    @property
    def unsteady(self) -> bool:
        """Whether it ended its process in a way that a replay did not show again."""

    @property
    def graph_only(self) -> bool:
        """Whether it is played in its own graph only, so that there are no lanes to compare."""

    @property
    def remark(self) -> str:
        """What readers must know of the way it is played."""

    @property
    def runs_sync(self) -> bool:
        """Whether every hook has a synchronous form."""

    @property
    def runs_async(self) -> bool:
        """Whether every wrapping hook has an asynchronous form."""

    def places(self) -> frozenset[FaultPlace]:
        """Return the places at which a fault can strike it."""

    def look(
        self, scenario: Scenario, *, invariants: Invariants, comparing: bool, seeing: bool = False
    ) -> Outcome:
        """Play and judge; `comparing` plays the variants of the scenario, too, and measures.

        `seeing` adds the digest of what the model was sent.
        """

    def fails(self, scenario: Scenario, key: Key) -> bool:
        """Tell whether the scenario shows the failure `key`."""

    def shrink(self, scenario: Scenario, key: Key) -> Shrunk:
        """Return the smallest scenario that shows the failure `key`, as `scenario` does."""

    def needed_members(self, scenario: Scenario, key: Key) -> tuple[str, ...]:
        """Return the members of a stack without which the scenario does not show `key`."""

    def trial(
        self, scenario: Scenario, *, lane: LaneName = "reducer", invariants: Invariants, comparing: bool
    ) -> Trial:
        """Play and judge; return everything."""

    def is_deterministic(self, scenario: Scenario) -> bool:
        """Tell whether two replays give the same history."""

    def compare_lanes(self, scenario: Scenario, *, invariants: Invariants, comparing: bool) -> LanesCompared:
        """Play in both lanes, and judge in the graph lane."""

    def provider_answers(self, scenario: Scenario, code: str, record: int) -> tuple[Answer, ...]:
        """Return what providers make of the request at `record` of the history."""

    def warnings(self) -> tuple[str, ...]:
        """Return what people should know of the candidate beside its verdicts, in a fixed order."""

    def close(self) -> None:
        """End what runs for it. It cannot be asked afterwards."""


class Local:
    """A candidate in this process: fast, and only for candidates that let the process live."""

    given_up = False
    unsteady = False

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._graph: Agent | None = None
        self._traces = Traces()

    @property
    def candidate(self) -> Candidate:
        """The candidate itself."""
        return self.agent.candidate

    @property
    def graph_only(self) -> bool:
        """Whether it is played in its own graph only."""
        return self.agent.graph_only

    @property
    def remark(self) -> str:
        """What readers must know of the way it is played."""
        return self.agent.remark

    @property
    def runs_sync(self) -> bool:
        """Whether every hook has a synchronous form."""
        return self.agent.runs_sync

    @property
    def runs_async(self) -> bool:
        """Whether every wrapping hook has an asynchronous form."""
        return self.agent.runs_async

    def places(self) -> frozenset[FaultPlace]:
        """Return the places at which a fault can strike it."""
        return self.agent.places()

    def look(
        self, scenario: Scenario, *, invariants: Invariants, comparing: bool, seeing: bool = False
    ) -> Outcome:
        """Play and judge; `comparing` plays the variants of the scenario, too, and measures."""
        with self._traces.watched():
            trial = try_out(self.agent, scenario, invariants=invariants, comparing=comparing)
        return outcome_of(trial, measured=comparing, seeing=seeing)

    def fails(self, scenario: Scenario, key: Key) -> bool:
        """Tell whether the scenario shows the failure `key`."""
        return _fails(key, self.agent, scenario)

    def shrink(self, scenario: Scenario, key: Key) -> Shrunk:
        """Return the smallest scenario that shows the failure `key`, as `scenario` does."""
        return shrink(scenario, partial(self.fails, key=key))

    def needed_members(self, scenario: Scenario, key: Key) -> tuple[str, ...]:
        """Return the members of a stack without which the scenario does not show `key`."""
        return needed_members(self.agent, scenario, partial(_fails, key))

    def trial(
        self, scenario: Scenario, *, lane: LaneName = "reducer", invariants: Invariants, comparing: bool
    ) -> Trial:
        """Play and judge; return everything."""
        agent = self.agent_in(lane)
        with self._traces.watched():
            return try_out(agent, scenario, lane=lane, invariants=invariants, comparing=comparing)

    def is_deterministic(self, scenario: Scenario) -> bool:
        """Tell whether two replays give the same history."""
        return is_deterministic(self.agent, scenario)

    def compare_lanes(self, scenario: Scenario, *, invariants: Invariants, comparing: bool) -> LanesCompared:
        """Play in both lanes, and judge in the graph lane."""
        if self.graph_only:
            alone = self.trial(scenario, invariants=invariants, comparing=comparing)
            return LanesCompared(None, frozenset(Key(*key) for key in alone.violated()))
        reducer = self.trial(scenario, invariants=invariants, comparing=False)
        graph = self.trial(scenario, lane="graph", invariants=invariants, comparing=comparing)
        difference = compare_lanes(reducer.history, graph.history)
        return LanesCompared(
            None if difference is None else str(difference), frozenset(Key(*key) for key in graph.violated())
        )

    def provider_answers(self, scenario: Scenario, code: str, record: int) -> tuple[Answer, ...]:
        """Return what providers make of the request at `record` of the history."""
        return provider_answers(self.agent, scenario, code, record)

    def warnings(self) -> tuple[str, ...]:
        """Return what the histories left behind in the process."""
        return self._traces.warnings()

    def close(self) -> None:
        """There is nothing to end."""

    def agent_in(self, lane: LaneName) -> Agent:
        """Return the candidate's agent for `lane`, compiled once."""
        if lane == "reducer":
            return self.agent
        if self._graph is None:
            self._graph = build_agent(self.candidate, direct=False)
        return self._graph


def _fails(key: Key, agent: Agent, scenario: Scenario) -> bool:
    trial = try_out(agent, scenario, invariants=(int(key.code[0]),), comparing=key.code in COMPARED)
    return key in trial.violated()


def subject_of(thing: Subject | Agent | Candidate) -> Subject:
    """Return `thing` as a subject; an agent or a candidate runs in this process.

    Raises `TargetError` when a candidate cannot be built.
    """
    if isinstance(thing, Agent):
        return Local(thing)
    if isinstance(thing, Candidate):
        return Local(build_agent(thing, direct=True))
    return thing
