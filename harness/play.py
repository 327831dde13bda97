"""Play: perform the steps of a scenario on a candidate, in one lane, and keep what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Literal, Protocol

from .agent import Agent
from .client import Client
from .clock import VirtualClock
from .faults import CrashError
from .history import History
from .interrupts import check, is_the_users
from .lanes.stopping import Base, StopPoint
from .ledger import Ledger
from .loop import DeterministicLoop
from .observed import OnRequest
from .rehearsal import Rehearsal
from .reviewer import answer_all
from .scenario import Scenario
from .script import Script
from .session import Session
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
    StackForm,
    Step,
    Stored,
    TrimState,
    UserTurn,
)
from .threads import SecondThread, lane_of
from .undisturbed import undisturbed

LaneName = Literal["reducer", "graph"]

#: Called after each play. A worker tells its watchdog that it gets on: an answer may take many plays.
after_play: list[Callable[[], None]] = []


class Lane(Protocol):
    """What a lane can do; errors of the agent escape from `submit` and `resume`."""

    def submit(self, messages: list[Any], stop: StopPoint | None = None) -> bool:
        """Run the agent on new messages; return whether the scenario stopped it."""

    @property
    def asks(self) -> bool:
        """Whether the turn was stopped by questions to the user."""

    def resume(self) -> bool:
        """Go on from where the turn was stopped or failed; return whether it was stopped again."""

    def fail(self, *, resumable: bool) -> None:
        """Remember that a turn was aborted."""

    def update(self, value: Any) -> None:
        """Fold a client's write to `messages` into state."""

    def restart(self, stored: Stored = "now") -> None:
        """Start over in a new process, from the stored state."""

    def mark(self, turn: int) -> None:
        """Remember the state before `turn`."""

    def rewind(self, turn: int, *, pending: bool) -> Base:
        """Go back to the state before `turn`; return what is there."""


class Play(Protocol):
    """`play`, or the same in a lane that was chosen already."""

    def __call__(self, agent: Agent, scenario: Scenario, *, on_request: OnRequest | None = None) -> Player:
        """Play the scenario on the agent's candidate."""


class Player:
    """Performs steps one by one; `history` and `ledger` grow with each.

    `rewinds` tells whether a `Rewind` may come, for which the state before each turn is kept;
    `on_request` sees the messages of each model request; `make` makes the session when it is another one.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        lane: LaneName = "reducer",
        rewinds: bool = True,
        clock: VirtualClock | None = None,
        on_request: OnRequest | None = None,
        make: Callable[..., Session] | None = None,
    ) -> None:
        self._rewinds = rewinds
        candidate = agent.candidate
        lane = "graph" if agent.graph_only else lane
        if make is None:
            make = agent.session_type
            if on_request is not None:
                make = partial(agent.observed_type, on_request)
        self._observed = on_request is not None
        self._session: Session = make(
            candidate.name,
            lane,
            agent.model,
            candidate.contract.suffers,
            clock=clock or VirtualClock(),
            hooked=agent.hooked,
        )
        self._agent = agent
        agent.open(self._session)
        self._lane: Lane = lane_of(agent, self._session)
        self._other: SecondThread | None = None
        self._client = Client(self._session, agent.candidate.contract.outside)
        if not agent.runs_sync:
            self._set_mode(run_async=True)

    @property
    def history(self) -> History:
        """The history so far."""
        return self._session.history

    @property
    def ledger(self) -> Ledger:
        """The harness's own account of the history so far."""
        return self._session.ledger

    def perform_alone(self, steps: Iterable[Step]) -> None:
        """Perform steps while no other history goes on: the messages of the script are lent, not copied."""
        session = self._session
        session.lends = session.history.lane == "reducer" and not self._observed
        try:
            for step in steps:
                self.perform(step)
        finally:
            session.lends = False
            session.lines.take_back()

    def in_virtual_time(self) -> AbstractContextManager[None]:
        """Return a context in which the process sees this history's clock."""
        return self._session.environment.clock.running()

    def perform(self, step: Step) -> None:
        """Perform one step in virtual time. Errors of the candidate become records, never escape."""
        check()
        if step.kind in self._agent.candidate.contract.outside:
            self._session.happened("outside", step.kind)
            return
        if self._session.environment.clock.is_running:
            self._perform(step)
        else:
            with self.in_virtual_time():
                self._perform(step)

    def _perform(self, step: Step) -> None:
        since = len(self.history.records)
        match step:
            case UserTurn():
                self._user_turn(step)
            case Continue():
                self._continue(step)
            case LoadTurn():
                self._lane.mark(self._session.turn + 1)
                self._write(self._client.load(step), since)
            case LateResults(again=again):
                self._write(self._client.late_results(again=again), since)
            case OtherThread():
                self._other_thread(step)
            case AdvanceClock(minutes=minutes):
                self._session.environment.clock.advance(minutes=minutes)
                self._session.happened("advance_clock", f"{minutes} minutes")
            case ChangeState(to=to):
                self._client.change_state(to)
            case Restart(stored=stored):
                old = "" if stored == "now" else f"messages were stored as {stored}"
                self._session.happened("restart", old)
                self._lane.restart(stored)
            case EditMessage(turns_ago=turns_ago):
                self._write(self._client.edit(turns_ago), since)
            case DeleteTurn(turns_ago=turns_ago):
                self._write(self._client.delete(turns_ago), since)
            case TrimState(keep=keep, how=how):
                self._write(self._client.trim(keep, how), since)
            case Rewind():
                self._rewind(step)
            case Configure():
                self._configure(step)

    def _rewind(self, step: Rewind) -> None:
        turn = self._client.turn_ago(step.turns_ago)
        if turn is None:
            return
        base = self._lane.rewind(turn, pending=step.pending)
        if base.pending:
            self._lane.mark(self._session.turn + 1)
        self._client.go_back(turn, base)

    def _other_thread(self, step: OtherThread) -> None:
        if self._other is None:
            self._other = SecondThread(self._agent, self._session)
        self._other.turn(step)

    def _write(self, value: Any, since: int) -> None:
        """Write what a client did. Where the agent's own code fails on it, no client can have done it.

        `since` is the history record at which the step began.
        """
        if value is None:
            return
        session = self._session
        try:
            self._lane.update(value)
        except Exception as error:  # noqa: BLE001  whatever the candidate raises is data
            session.ledger.undo(since, len(session.history.records))
            session.happened("outside", f"this write, on which the agent fails: {session.describe(error)}")

    def _user_turn(self, step: UserTurn) -> None:
        session = self._session
        if self._rewinds:
            self._lane.mark(session.turn + 1)
        messages = self._client.speak(step)
        if step.stop is None:
            self._attempt(lambda: answer_all(self._lane, lambda: self._lane.submit(messages)))
            return
        stop = StopPoint(step.stop, 0 if step.stop == "before_answer" else len(step.rounds))
        self._attempt(lambda: self._lane.submit(messages, stop))

    def _continue(self, step: Continue) -> None:
        session = self._session
        if not session.turn or not session.state:
            session.happened("continue", "there is nothing to go on with")
            return
        going_on = Rehearsal(Script(session.turn, step.rounds, first=session.replies + 1))
        session.happened("continue", "with the last message again" if step.resend else "")
        again = self._client.resend() if step.resend else None
        session.begin(going_on, step.faults, new_turn=False)
        if again is None:
            self._attempt(self._lane.resume)
        else:
            session.wrote("user", list(again))
            self._attempt(lambda: self._lane.submit(again))

    def _attempt(self, act: Callable[[], bool]) -> None:
        session = self._session
        error: BaseException | None = None
        stopped = False
        try:
            stopped = act()
        except BaseException as escaped:  # whatever the candidate raises is data
            if is_the_users(escaped):
                raise
            error = escaped
            self._lane.fail(resumable=session.injected(escaped) and session.failed_tool is None)
        session.end_turn(error, stopped=stopped)
        crashed = isinstance(error, CrashError)
        error = None  # its traceback holds this frame: a cycle that only the collector could free
        if crashed:
            session.happened("restart", "after the crash")
            self._lane.restart()

    def _configure(self, step: Configure) -> None:
        if step.stack != "in_order" and not self._session.turn and not self._session.state:
            self._rearrange(step.stack)
        if step.system_in_state and not self._session.state:
            self._lane.update(self._client.system_message())
        self._set_mode(run_async=step.run_async)

    def _rearrange(self, stack: StackForm) -> None:
        """Play on, from the beginning, with the candidate's middleware put together in another way."""
        if stack not in self._agent.candidate.contract.stands:
            self._session.happened("outside", f"a stack {stack}")
            return
        self._agent = self._agent.arranged(stack)
        self._agent.open(self._session)
        self._lane = lane_of(self._agent, self._session)
        self._session.happened("configure", f"the stack is {stack.replace('_', ' ')}")

    def _set_mode(self, *, run_async: bool) -> None:
        session = self._session
        if run_async and self._agent.runs_async and session.loop is None:
            session.loop = DeterministicLoop(session.environment.clock)
            session.happened("runs asynchronously")
        elif run_async and session.loop is None:
            session.happened("runs synchronously", "the candidate has no asynchronous form")
        elif not run_async and self._agent.runs_sync and session.loop is not None:
            session.loop = None
            session.happened("runs synchronously")


def play(
    agent: Agent,
    scenario: Scenario,
    *,
    lane: LaneName = "reducer",
    on_request: OnRequest | None = None,
    make: Callable[..., Session] | None = None,
) -> Player:
    """Play `scenario` on the candidate of `agent`; return the player with history and ledger."""
    rewinds = any(isinstance(step, Rewind) for step in scenario.steps)
    clock = VirtualClock()
    with undisturbed(), clock.running():
        player = Player(agent, lane=lane, rewinds=rewinds, clock=clock, on_request=on_request, make=make)
        player.perform_alone(scenario.steps)
    for call in after_play:
        call()
    return player
