"""The client: what users and front ends do to a session, and what the ledger must know of it.

Each method enters the act in history and ledger and returns what the lane has to write, None when
there is nothing to act on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite

from . import script
from .ledger import SYSTEM_ID, Utterance
from .script import Spoken
from .session import Session
from .steps import LoadTurn, UserMessage, UserTurn
from .tokens import token_text
from .views import View

SYSTEM_IN_STATE = "You are the assistant of this thread."


class Client:
    """Acts on one session; keeps the turns that are still part of the conversation."""

    def __init__(self, session: Session, outside: frozenset[str]) -> None:
        self._session = session
        self._outside = outside
        self._turns: list[int] = []
        self._began: dict[int, int] = {}
        self._edits = 0

    def speak(self, step: UserTurn) -> list[Any]:
        """Start a turn with the user's messages."""
        session = self._session
        self._next_turn()
        session.begin(script.of_turn(step, session.turn), step.faults, new_turn=True)
        sent = [self._possible(message) for message in step.messages]
        spoken = [script.user_words(message, session.turn, number) for number, message in enumerate(sent)]
        if all(said.utterance is None for said in spoken):
            session.ledger.turn_words.setdefault(session.turn, ())
        self._irregular_invalid(step)
        return session.bring("user", spoken)

    def _possible(self, message: UserMessage) -> UserMessage:
        """Return the message as the candidate's world allows it."""
        suffixed = message.id == "suffixed" and "suffixed_ids" in self._outside
        return replace(message, id="chosen") if suffixed else message

    def _irregular_invalid(self, step: UserTurn) -> None:
        """A call that could not be parsed is never run: the scenario itself leaves it unanswered."""
        for number, round_ in enumerate(step.rounds, 1):
            for index, call in enumerate(round_.calls):
                if call.kind == "invalid":
                    turn = self._session.turn
                    name = f"again{index}" if call.repeated_id else f"c{turn}.{number}.{index}"
                    self._session.ledger.irregular[name] = 0

    def resend(self) -> list[BaseMessage] | None:
        """Return the user's last message as it stands in state, to be submitted again."""
        session = self._session
        words = session.ledger.words_at(session.turn, len(session.history.records))
        found = [view for view in session.state if words and view.says == words[-1] and view.id]
        if not found:
            return None
        return [session.book.message(found[0]).model_copy(deep=True)]

    def load(self, step: LoadTurn) -> list[Any]:
        """Load a finished turn."""
        session = self._session
        self._next_turn()
        session.happened("load_turn", step.arrangement)
        session.begin(script.Script(session.turn, ()), (), new_turn=True)
        spoken = script.loaded(step, session.turn)
        session.replies = sum(message.message.type == "ai" for message in spoken)
        if step.arrangement != "in_order":
            rounds = range(1, step.calls + 2)
            session.ledger.irregular.update(
                (f"c{session.turn}.{number}.{index}", 0) for number in rounds for index in range(step.calls)
            )
        return session.bring("client", spoken)

    def _stored_id(self, view: View) -> str | None:
        """Return the id under which the state really holds the message (views renumber random ids)."""
        return self._session.book.message(view).id

    def _next_turn(self) -> None:
        self._began[self._session.turn + 1] = len(self._session.history.records)
        self._session.turn += 1
        self._turns.append(self._session.turn)

    def turn_ago(self, turns_ago: int) -> int | None:
        """Return the number of the turn `turns_ago` turns back (1: the latest), None when there is none."""
        return self._turns[-turns_ago] if turns_ago <= len(self._turns) else None

    def change_state(self, to: Literal["new", "empty"]) -> None:
        """Give the dynamic state its next version, or none."""
        session = self._session
        state = session.environment.state
        state.version += 1
        state.empty = to == "empty"
        token = "" if state.empty else state.token()
        session.happened("change_state", token or "empty")
        session.ledger.states.append((len(session.history.records), token))

    def edit(self, turns_ago: int) -> list[BaseMessage] | None:
        """Edit the first user message of a turn, under the id that its words have in state."""
        session = self._session
        turn = self.turn_ago(turns_ago)
        at = len(session.history.records)
        words = () if turn is None else session.ledger.words_at(turn, at)
        found = [view for view in session.state if words and view.says == words[0] and view.id]
        if turn is None or not found:
            session.happened("edit_message", "not in state")
            return None
        old = session.ledger.utterances[words[0]]
        self._edits += 1
        token = f"{old.token.partition('.e')[0]}.e{self._edits}"
        session.happened("edit_message", f"{old.token} becomes {token}")
        text = token_text(token, 2)
        new = Utterance(token, turn, old.order, text, found[0].id, at + 1)
        session.ledger.replace(old.token, new)
        return self._announce([HumanMessage(text, id=self._stored_id(found[0]))], by="edit")

    def delete(self, turns_ago: int) -> list[BaseMessage] | None:
        """Remove the messages of a turn that are still in state."""
        session = self._session
        turn = self.turn_ago(turns_ago)
        found = [view for view, of in self._placed() if turn is not None and of == turn and view.id]
        session.happened("delete_turn", "not in state" if not found else f"turn {turn}")
        if not found:
            return None
        self._forget(found)
        return self._announce([RemoveMessage(id=str(self._stored_id(view))) for view in found])

    def _token_of(self, view: View) -> str | None:
        """Return the utterance that a message is or was: by its words, its id, or the call it answers."""
        utterances = self._session.ledger.utterances
        if view.says is not None or view.id in utterances:
            return view.says or view.id
        return next((t for t, u in utterances.items() if u.call is not None and u.call == view.answers), None)

    def _placed(self) -> list[tuple[View, int | None]]:
        """Return each message of the state with the turn it stands in: its own, or the one before."""
        placed: list[tuple[View, int | None]] = []
        turn: int | None = None
        for view in self._session.state:
            token = self._token_of(view)
            if token is not None:
                turn = self._session.ledger.utterances[token].turn
            placed.append((view, turn))
        return placed

    def _forget(self, gone: Sequence[View]) -> None:
        """Enter that everything the messages carried or mentioned was removed on purpose."""
        session = self._session
        kept = {token for view in session.state if view not in gone for token in view.mentions.utterances}
        tokens = {token for view in gone for token in (*view.mentions.utterances, self._token_of(view))}
        known = [t for t in sorted(filter(None, tokens - kept)) if t in session.ledger.utterances]
        session.ledger.remove(known, len(session.history.records))

    def trim(self, keep: int, how: Literal["remove_all", "overwrite"]) -> Any:
        """Clear the history but for the last `keep` turns."""
        session = self._session
        kept_turns = self._turns[len(self._turns) - keep :] if keep else []
        kept = [view for view, of in self._placed() if of in kept_turns]
        gone = [view for view in session.state if view not in kept]
        session.happened("trim_state", f"{how}, {len(kept)} messages stay")
        self._forget(gone)
        messages = [session.book.message(view) for view in kept]
        self._announce(messages)
        if how == "overwrite":
            return Overwrite(messages)
        return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages]

    def go_back(self, turn: int, messages: Sequence[BaseMessage]) -> None:
        """Note that the conversation was taken back to the state before `turn`."""
        session = self._session
        at = len(session.history.records)
        self._turns = [t for t in self._turns if t < turn]
        session.happened("rewind", f"to before turn {turn}")
        session.ledger.undo(self._began[turn], at)
        session.wrote("client", [])
        session.folded(messages)

    def system_message(self) -> list[BaseMessage]:
        """Put a system message into the state."""
        self._session.happened("configure", "a system message in state")
        return self._announce([SystemMessage(SYSTEM_IN_STATE, id=SYSTEM_ID)])

    def _announce(self, messages: list[Any], *, by: str = "client") -> list[BaseMessage]:
        return self._session.bring(by, [Spoken(message, None) for message in messages])
