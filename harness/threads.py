"""A second thread: another conversation, served by the same middleware instances.

What is recorded of it stays with it; it matters for what the instances carry over from it.
"""

from __future__ import annotations

from .agent import Agent
from .client import Client
from .history import TurnEnded
from .lanes.graph import GraphLane
from .lanes.reducer import ReducerLane
from .session import Session
from .steps import OtherThread, UserTurn

#: The turns of the second thread are counted from here, so that no token or id is said in both.
FIRST_TURN = 900


def lane_of(agent: Agent, session: Session, *, thread: str = "history") -> ReducerLane | GraphLane:
    """Return the lane that `session` is named for, at the beginning of a thread."""
    return (ReducerLane if session.history.lane == "reducer" else GraphLane)(agent, session, thread=thread)


class SecondThread:
    """The other conversation of a history whose session is `main`."""

    def __init__(self, agent: Agent, main: Session) -> None:
        contract = agent.candidate.contract
        self._agent = agent
        self._main = main
        self._session = Session(
            main.history.candidate,
            main.history.lane,
            agent.model,
            contract.suffers,
            clock=main.environment.clock,
            hooked=bool(agent.interposers),
        )
        self._session.turn = FIRST_TURN
        own = self._session.environment
        self._sources = own.state.on_read, own.on_count
        self._session.environment = main.environment
        agent.attach(main)
        self._client = Client(self._session, contract.outside)
        self._lane = lane_of(agent, self._session, thread="other")

    def turn(self, step: OtherThread) -> None:
        """Let the other user have a turn. No fault strikes there: what fails is the candidate's failure."""
        session, environment = self._session, self._main.environment
        ours = environment.state.on_read, environment.on_count
        environment.state.on_read, environment.on_count = self._sources
        session.loop = self._main.loop
        self._agent.attach(session)
        error: BaseException | None = None
        try:
            self._lane.submit(self._client.speak(UserTurn(rounds=step.rounds)))
        except KeyboardInterrupt:
            raise
        except BaseException as escaped:  # noqa: BLE001  whatever the candidate raises is data
            error = escaped
        finally:
            self._agent.attach(self._main)
            environment.state.on_read, environment.on_count = ours
        session.end_turn(error)
        error = None
        ended = session.history.records[-1]
        self._main.happened("other_thread", ended.how if isinstance(ended, TurnEnded) else "")
        if isinstance(ended, TurnEnded) and ended.how == "aborted":
            self._main.history.records.append(ended._replace(turn=self._main.turn))
