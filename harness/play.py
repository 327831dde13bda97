"""Play: perform the steps of a scenario on a candidate, in one lane, and keep what happened."""

from __future__ import annotations

from typing import Literal, Protocol

from langchain_core.messages import HumanMessage

from .agent import Agent
from .history import History
from .lanes.graph import GraphLane
from .lanes.reducer import ReducerLane
from .ledger import Ledger
from .scenario import Scenario
from .session import Session
from .steps import AdvanceClock, ChangeState, EditMessage, Restart, Step, UserTurn

LaneName = Literal["reducer", "graph"]


class Lane(Protocol):
    """What a lane can do; errors of the agent escape from `submit`."""

    def submit(self, messages: list[HumanMessage]) -> None:
        """Run the agent on new user messages."""

    def edit(self, message: HumanMessage) -> None:
        """Fold an edited message into state."""

    def restart(self) -> None:
        """Start over in a new process, from the stored state."""


class Player:
    """Performs steps one by one; `history` and `ledger` grow with each."""

    def __init__(self, agent: Agent, *, lane: LaneName = "reducer") -> None:
        self._session = Session(agent.candidate.name, lane, agent.model, agent.candidate.contract.suffers)
        self._agent = agent
        agent.open(self._session)
        self._lane: Lane = (ReducerLane if lane == "reducer" else GraphLane)(agent, self._session)

    @property
    def history(self) -> History:
        """The history so far."""
        return self._session.history

    @property
    def ledger(self) -> Ledger:
        """The harness's own account of the history so far."""
        return self._session.ledger

    def perform(self, step: Step) -> None:
        """Perform one step in virtual time. Errors of the candidate become records, never escape."""
        session = self._session
        with session.environment.clock.running():
            match step:
                case UserTurn():
                    error: Exception | None = None
                    try:
                        self._lane.submit(session.begin_turn(step))
                    except Exception as escaped:  # noqa: BLE001  whatever the candidate raises is data
                        error = escaped
                    session.end_turn(error)
                case AdvanceClock(minutes=minutes):
                    session.environment.clock.advance(minutes=minutes)
                    session.happened("advance_clock", f"{minutes} minutes")
                case ChangeState():
                    session.change_state()
                case Restart():
                    session.happened("restart")
                    self._lane.restart()
                case EditMessage(turns_ago=turns_ago):
                    message = session.edit_of(session.turn + 1 - turns_ago)
                    if message is not None:
                        self._lane.edit(message)


def play(agent: Agent, scenario: Scenario, *, lane: LaneName = "reducer") -> Player:
    """Play `scenario` on the candidate of `agent`; return the player with history and ledger."""
    player = Player(agent, lane=lane)
    for step in scenario.steps:
        player.perform(step)
    return player
