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

from . import rehearsal, script, shapes
from .history import Requested
from .lanes.stopping import Base
from .ledger import SYSTEM_ID, Utterance
from .loading import NAMED_BADLY, is_answer, loaded
from .rehearsal import Rehearsal
from .script import Script, Spoken
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
        #: The turn before each turn, be it withdrawn by now: what was left open there is its.
        self._before: dict[int, int] = {}
        self._reopened: dict[int, tuple[int, ...]] = {}
        self._edits = 0
        self._empty_id_used = False

    def speak(self, step: UserTurn) -> list[Any]:
        """Start a turn with the user's messages."""
        session = self._session
        self._next_turn()
        of_turn = rehearsal.of_turn(step, session.turn)
        session.begin(of_turn, step.faults, new_turn=True)
        sent = [self._possible(message) for message in step.messages]
        spoken = [self._worded(message, number) for number, message in enumerate(sent)]
        if all(said.utterance is None for said in spoken):
            session.ledger.turn_words.setdefault(session.turn, ())
        session.ledger.irregular.update(dict.fromkeys(of_turn.irregular, 0))
        return session.bring("user", spoken)

    def _possible(self, message: UserMessage) -> UserMessage:
        """Return the message as the candidate's world allows it.

        Where no run goes without new words, old messages are not sent again either.
        """
        strange = (message.id == "suffixed" and "suffixed_ids" in self._outside) or (
            message.id == "empty" and "empty_ids" in self._outside
        )
        if strange or (message.id == "again" and "continue" in self._outside):
            message = replace(message, id="chosen")
        if message.form == "reused" and "continue" in self._outside:
            message = replace(message, form="message")
        return message

    def _worded(self, message: UserMessage, number: int) -> Spoken:
        """Return what the user sends: new words, new words under an old id, or an old message as it is."""
        session = self._session
        if message.id == "empty":
            if self._empty_id_used:
                message = replace(message, id="chosen")
            self._empty_id_used = True
        found = None
        if number == 0 and (message.form == "reused" or message.id == "again"):
            found = self._first_words(self.turn_ago(2))
        if found is None:
            line = rehearsal.user_words(message, session.turn, number)
            return Spoken(session.as_new(line), line.utterance)
        if message.form == "reused":
            session.happened("send_again", f"the message {found.label()}")
            return Spoken(session.book.message(found), None)
        return Spoken(self._rewritten(found, message.words), None)

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
        session.begin(Rehearsal(Script(session.turn, ())), (), new_turn=True)
        spoken = loaded(step, session.turn)
        session.replies = sum(is_answer(message.message) for message in spoken)
        if step.arrangement != "in_order" or step.naming in NAMED_BADLY:
            rounds = range(1, step.calls + 2)
            calls = {f"c{session.turn}.{n}.{index}" for n in rounds for index in range(step.calls)}
            session.ledger.irregular.update((call, 0) for call in (*sorted(calls), *NAMED_BADLY.values()))
        return session.bring("client", spoken)

    def _stored_id(self, view: View) -> str | None:
        """Return the id under which the state really holds the message (views renumber random ids)."""
        return self._session.book.message(view).id

    def _next_turn(self) -> None:
        self._began[self._session.turn + 1] = len(self._session.history.records)
        self._before[self._session.turn + 1] = self._session.turn
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
        found = self._first_words(self.turn_ago(turns_ago))
        if found is None:
            session.happened("edit_message", "not in state")
            return None
        return self._announce([self._rewritten(found, 2)], by="edit")

    def _first_words(self, turn: int | None) -> View | None:
        """Return the message that holds the first words of a turn, None when it is not in state."""
        session = self._session
        words = () if turn is None else session.ledger.words_at(turn, len(session.history.records))
        return next((view for view in session.state if words and view.says == words[0] and view.id), None)

    def _rewritten(self, found: View, words: int) -> HumanMessage:
        """Return new words under the id of `found`, entered as what stands in its place from now on."""
        session = self._session
        old = session.ledger.utterances[str(found.says)]
        self._edits += 1
        token = f"{old.token.partition('.e')[0]}.e{self._edits}"
        session.happened("edit_message", f"{old.token} becomes {token}")
        text = token_text(token, words)
        at = len(session.history.records)
        session.ledger.replace(old.token, Utterance(token, old.turn, old.order, text, found.id, at))
        return HumanMessage(text, id=self._stored_id(found))

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

    def _own_token(self, view: View) -> str | None:
        """Return the utterance that a message is by its words, or was by its id."""
        known = view.says is not None or view.id in self._session.ledger.utterances
        return view.says or view.id if known else None

    def _token_of(self, view: View) -> str | None:
        """Return the utterance that a message is or was: by its words, its id, or the call it answers."""
        utterances = self._session.ledger.utterances
        answered = (t for t, u in utterances.items() if u.call is not None and u.call == view.answers)
        return self._own_token(view) or next(answered, None)

    def _placed(self) -> list[tuple[View, int | None]]:
        """Return each message of the state with the turn it stands in: its own, or the one before."""
        placed: list[tuple[View, int | None]] = []
        turn: int | None = None
        asked: tuple[str, ...] = ()
        for view in self._session.state:
            asked = view.calls or asked
            token = self._token_of(view)
            # A result in other words stands in the turn that asked last: ids of calls may come back later.
            if token is not None and (self._own_token(view) or view.answers not in asked):
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

    def go_back(self, turn: int, base: Base) -> None:
        """Note that the conversation was taken back to the state before `turn`.

        What is still to be done there is done in a turn of its own, without words: those were said in the
        turn that had been stopped.
        """
        session = self._session
        at = len(session.history.records)
        self._turns = [t for t in self._turns if t < turn]
        to_do = ", where the turn before is still to be finished" if base.pending else ""
        session.happened("rewind", f"to before turn {turn}{to_do}")
        session.ledger.undo(self._began[turn], at)
        session.wrote("client", [])
        session.folded(base.messages)
        if not base.pending:
            return
        stopped = self._before[turn]
        self._next_turn()
        self._before[session.turn] = stopped
        session.begin(Rehearsal(Script(session.turn, ())), (), new_turn=True)
        session.reopened = self._reopened[session.turn] = (stopped, *self._reopened.get(stopped, ()))
        session.ledger.turn_words[session.turn] = ()
        # Requests of the turns that were left behind showed these calls open: they stay excused.
        session.ledger.irregular.update((call, 0) for call in self._open_calls())

    def _open_calls(self) -> tuple[str, ...]:
        """Return the calls of the last answer that calls tools which have no result in state."""
        state = self._session.state
        asking = next((view for view in reversed(state) if view.calls), None)
        answered = {view.answers for view in state}
        return () if asking is None else tuple(call for call in asking.calls if call not in answered)

    def late_results(self, *, again: bool) -> list[Any] | None:
        """Deliver results of the turn's last calls: the missing ones, or once more those that are there."""
        session = self._session
        state, turn = session.state, session.turn
        place = next((at for at in range(len(state) - 1, -1, -1) if state[at].calls), None)
        asking = None if place is None else state[place]
        if place is None or asking is None or not (asking.says or "").startswith(f"a{turn}."):
            session.happened("late_results", "no calls in this turn")
            return None
        behind = all(view.role == "tool" for view in state[place + 1 :]) and not self._was_shown(asking)
        spoken = self._again(asking) if again else self._missing(asking, in_place=behind)
        session.happened("late_results", f"{len(spoken)} {'again' if again else 'of open calls'}")
        return session.bring("client", spoken) if spoken else None

    def _was_shown(self, asking: View) -> bool:
        """Tell whether a request has shown an answer: with its calls open, when they still are."""
        requests = (record for record in self._session.history.records if isinstance(record, Requested))
        return any(view.says == asking.says for request in requests for view in request.messages)

    def _missing(self, asking: View, *, in_place: bool) -> list[Spoken]:
        session = self._session
        spoken: list[Spoken] = []
        for call in self._open_calls():
            token = f"t{call[1:]}"
            if call not in asking.calls or not script.is_result(token):
                continue
            order = (session.turn, session.replies, 2 + len(spoken))
            text = token_text(token, 2)
            said = Utterance(token, session.turn, order, text, token, 0, call)
            spoken.append(Spoken(shapes.result(text, token, call), said))
            if not in_place:
                session.ledger.irregular[call] = 0
        return spoken

    def _again(self, asking: View) -> list[Spoken]:
        session = self._session
        there = [view for view in session.state if view.role == "tool" and view.answers in asking.calls]
        known = {view.id for view in session.state}
        copies = [(view, f"{view.id}.late") for view in there if view.id and f"{view.id}.late" not in known]
        session.ledger.irregular.update((str(view.answers), 0) for view, _ in copies)
        return [Spoken(shapes.renamed(session.book.message(view), name), None) for view, name in copies]

    def system_message(self) -> list[BaseMessage]:
        """Put a system message into the state."""
        self._session.happened("configure", "a system message in state")
        return self._announce([SystemMessage(SYSTEM_IN_STATE, id=SYSTEM_ID)])

    def _announce(self, messages: list[Any], *, by: str = "client") -> list[BaseMessage]:
        return self._session.bring(by, [Spoken(message, None) for message in messages])
