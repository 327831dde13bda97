"""The ledger: the truth that the harness keeps, whatever a candidate makes of it.

Who said what and in which order, which state version is current, what was edited on purpose. Each
entry carries the index of the history record at which it became true, so that checks can ask what
was true then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

#: The id of the system message that a client may put into the state.
SYSTEM_ID = "sys"


@dataclass(frozen=True, slots=True)
class Utterance:
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


@dataclass(slots=True)
class Ledger:
    """Utterances by token, state versions and edits, in order of time.

    `irregular` are tool calls that the scenario itself left unanswered or out of place, with the turn in
    which they may still be answered (0: never).
    """

    utterances: dict[str, Utterance] = field(default_factory=dict)
    turn_words: dict[int, tuple[str, ...]] = field(default_factory=dict)
    states: list[tuple[int, str]] = field(default_factory=list)
    replaced: dict[str, tuple[int, str | None]] = field(default_factory=dict)
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
        self.replaced[old] = (new.at, new.token)
        self.utterances[new.token] = new

    def remove(self, tokens: Iterable[str], at: int) -> None:
        """Enter that utterances were deleted on purpose, or left behind by going back."""
        for token in tokens:
            self.replaced.setdefault(token, (at, None))

    def live(self, token: str, record: int) -> bool:
        """Tell whether `token` had been said and not been replaced or deleted at record `record`."""
        return self.utterances[token].at <= record and not (
            token in self.replaced and self.replaced[token][0] <= record
        )

    def of_turn(self, turn: int) -> list[str]:
        """Return the tokens of everything said in `turn`."""
        return [token for token, utterance in self.utterances.items() if utterance.turn == turn]

    def words_at(self, turn: int, record: int) -> tuple[str, ...]:
        """Return the user's words of `turn` as they were when history record `record` was made."""
        current = (self._current(token, record) for token in self.turn_words.get(turn, ()))
        return tuple(token for token in current if token is not None)

    def _current(self, token: str, record: int) -> str | None:
        current: str | None = token
        while current in self.replaced and self.replaced[current][0] <= record:
            current = self.replaced[current][1]
        return current

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
