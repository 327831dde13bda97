"""The ledger: the truth that the harness keeps, whatever a candidate makes of it.

Who said what and in which order, which state version is current, what was edited on purpose. Each
entry carries the index of the history record at which it became true, so that checks can ask what
was true then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

#: The id of the system message that a client may put into the state.
SYSTEM_ID = "sys"

#: The turns of a second thread are counted from here, so that no token or id is said in both.
OTHER_THREAD = 900

#: Makes a named tuple in half the time that its own constructor takes.
_new = tuple.__new__


class Utterance(NamedTuple):
    """Something said: by the user (`u…`), the model (`a…`) or a tool (`t…`).

    `order` is its place in the session; an edit takes the order of what it replaces. `at` is the
    index of the history record at which it entered state; `id` the message id it was sent with;
    `call` the tool call that a result answers. A message named `summary` is no question: clients send
    it to tell what went before, and it belongs to turn 0.
    """

    token: str
    turn: int
    order: tuple[int, ...]
    text: str
    id: str | None
    at: int
    call: str | None = None
    is_question: bool = True

    def entered(self, message_id: str | None, at: int) -> Utterance:
        """Return the utterance as it stands in state from record `at` on, under `message_id`."""
        token, turn, order, text, _, _, call, is_question = self
        return _new(Utterance, (token, turn, order, text, message_id, at, call, is_question))


def of_other_thread(token: str) -> bool:
    """Tell whether an utterance token belongs to a turn of the second thread."""
    return int(token[1:].split(".", maxsplit=1)[0]) > OTHER_THREAD


@dataclass(slots=True)
class Absence:
    """A time in which an utterance was not in force: replaced by another, deleted, or left behind.

    `since` and `until` are history records (`until` None: to the end).
    """

    since: int
    replacement: str | None
    until: int | None = None

    def covers(self, record: int) -> bool:
        """Tell whether the utterance was absent when `record` was made."""
        return self.since <= record and (self.until is None or record < self.until)


@dataclass(slots=True)
class Ledger:
    """Utterances by token, state versions and edits, in order of time.

    `irregular` are tool calls that the scenario itself left unanswered or out of place, with the turn in
    which they may still be answered (0: never).
    """

    utterances: dict[str, Utterance] = field(default_factory=dict)
    turn_words: dict[int, tuple[str, ...]] = field(default_factory=dict)
    states: list[tuple[int, str]] = field(default_factory=list)
    absences: dict[str, list[Absence]] = field(default_factory=dict)
    irregular: dict[str, int] = field(default_factory=dict)

    def say(self, utterance: Utterance) -> None:
        """Enter an utterance; the user's words are also entered as the turn's current question."""
        self.utterances[utterance.token] = utterance
        if utterance.token[0] == "u" and utterance.is_question:
            words = self.turn_words.get(utterance.turn, ())
            self.turn_words[utterance.turn] = (*words, utterance.token)
        if utterance.call is not None and self.irregular.get(utterance.call) == utterance.turn:
            del self.irregular[utterance.call]

    def replace(self, old: str, new: Utterance) -> None:
        """Enter an edit on purpose: `new` stands where `old` stood."""
        self._take_away(old, new.at, new.token)
        self.utterances[new.token] = new

    def remove(self, tokens: Iterable[str], at: int) -> None:
        """Enter that utterances were deleted on purpose."""
        for token in tokens:
            self._take_away(token, at, None)

    def undo(self, since: int, at: int) -> None:
        """Enter that at record `at` the session went back to how it was before record `since`.

        What was edited or deleted after `since` is in force again; what was said after it is not.
        """
        for absences in self.absences.values():
            for absence in absences:
                if absence.since >= since and absence.until is None:
                    absence.until = at
        for token, utterance in self.utterances.items():
            if utterance.at >= since:
                self._take_away(token, at, None)

    def _take_away(self, token: str, at: int, replacement: str | None) -> None:
        self.absences.setdefault(token, []).append(Absence(at, replacement))

    def _absence(self, token: str, record: int) -> Absence | None:
        return next((a for a in self.absences.get(token, ()) if a.covers(record)), None)

    def live(self, token: str, record: int) -> bool:
        """Tell whether `token` had been said and was in force when record `record` was made."""
        return self.utterances[token].at <= record and (
            token not in self.absences or self._absence(token, record) is None
        )

    def words_at(self, turn: int, record: int) -> tuple[str, ...]:
        """Return the user's words of `turn` as they were when history record `record` was made."""
        words = self.turn_words.get(turn, ())
        if not self.absences:
            return words
        current = (self._current(token, record) for token in words)
        return tuple(token for token in current if token is not None)

    def _current(self, token: str, record: int) -> str | None:
        absence = self._absence(token, record)
        while absence is not None:
            if absence.replacement is None:
                return None
            token = absence.replacement
            absence = self._absence(token, record)
        return token

    def order(self, token: str) -> tuple[int, ...] | None:
        """Return the place of `token` in the session, None when nobody said it."""
        said = self.utterances.get(token)
        return None if said is None else said.order

    def state_at(self, record: int) -> str:
        """Return the token of the state version that was current at history record `record`."""
        current = ""
        for at, token in self.states:
            if at <= record:
                current = token
        return current
