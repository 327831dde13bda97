"""A second thread: another conversation, served by the same middleware instances.

What is recorded of it stays with it; it matters for what the instances carry over from it.
"""

from __future__ import annotations

from typing import Any

from .agent import Agent
from .client import Client
from .history import Requested, TurnEnded
from .interrupts import is_the_users
from .lanes.graph import GraphLane
from .lanes.reducer import ReducerLane
from .ledger import OTHER_THREAD, of_other_thread
from .reviewer import answer_all
from .session import Session
from .steps import OtherThread, UserTurn
from .tokens import mentions


def lane_of(agent: Agent, session: Session, *, thread: str = "history") -> ReducerLane | GraphLane:
    """Return the lane that `session` is named for, at the beginning of a thread."""
    if agent.graph_only:
        from .whole.lane import WholeLane  # who plays no whole agents need not wait for it

        whole: Any = agent
        its_session: Any = session
        return WholeLane(whole, its_session, thread=thread)
    return (ReducerLane if session.history.lane == "reducer" else GraphLane)(agent, session, thread=thread)


class SecondThread:
    """The other conversation of a history whose session is `main`."""

    def __init__(self, agent: Agent, main: Session) -> None:
        contract = agent.candidate.contract
        self._agent = agent
        self._main = main
        self._session = agent.session_type(
            main.history.candidate,
            main.history.lane,
            agent.model,
            contract.suffers,
            clock=main.environment.clock,
            hooked=agent.hooked,
        )
        self._session.turn = OTHER_THREAD
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
        since = len(session.history.records)
        self._agent.attach(session)
        error: BaseException | None = None
        try:
            said = self._client.speak(UserTurn(rounds=step.rounds))
            answer_all(self._lane, lambda: self._lane.submit(said))
        except BaseException as escaped:  # whatever the candidate raises is data
            if is_the_users(escaped):
                raise
            error = escaped
        finally:
            self._agent.attach(self._main)
            environment.state.on_read, environment.on_count = ours
        session.end_turn(error)
        error = None
        leaked = self._words_of_ours(since)
        if leaked:
            self._main.happened("leaked", ", ".join(leaked))
        ended = session.history.records[-1]
        self._main.happened("other_thread", ended.how if isinstance(ended, TurnEnded) else "")
        if isinstance(ended, TurnEnded) and ended.how == "aborted":
            self._main.history.records.append(ended._replace(turn=self._main.turn))

    def _words_of_ours(self, since: int) -> list[str]:
        """Return the words of the main thread that the model was shown here, from record `since` on."""
        shown: dict[str, None] = {}
        for record in self._session.history.records[since:]:
            if isinstance(record, Requested):
                shown.update(dict.fromkeys(mentions(record.system).utterances))
                for view in record.messages:
                    shown.update(dict.fromkeys(view.mentions.utterances))
        return [token for token in shown if not of_other_thread(token)]
