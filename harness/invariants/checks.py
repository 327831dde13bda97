"""What a check is, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .reading import Evidence, Reading

#: What tells the second instance of a middleware from the first, where both are in one stack.
SECOND_INSTANCE = " (2)"


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a history breaks a rule.

    `record` is the index of the history record that shows it, `by` the hook whose fold shows it (or
    `request`), `tokens` the utterances concerned, `detail` one plain sentence. `facts` name
    circumstances that a contract may refer to (`latest_user_message`, `finished_turn`, `tool_result`).
    `aspect` tells kinds of one violation apart that are different failures to their readers.
    """

    code: str
    record: int
    by: str
    detail: str
    tokens: tuple[str, ...] = ()
    facts: frozenset[str] = field(default=frozenset())
    aspect: str = ""

    @property
    def place(self) -> str:
        """Where the violation shows, as part of a finding's identity; instances are not told apart."""
        by = self.by.replace(SECOND_INSTANCE, "")
        return f"{by}, {self.aspect}" if self.aspect else by


Judge = Callable[[Reading, int], Iterator[Violation]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule: `title` says what goes wrong, `why` why it matters to the people who use the agent."""

    code: str
    title: str
    why: str

    @property
    def invariant(self) -> int:
        """The number of the invariant, 1 to 6."""
        return int(self.code[0])


@dataclass(frozen=True, slots=True)
class Check(Rule):
    """A rule on one history: `judge(reading, since)` yields violations in records from `since` on.

    `looks_at` names what a violation is made of: where the records from `since` on hold none of it, the
    judge has nothing to yield and is not asked (empty: it always is). `needs` names the declaration of
    the contract without which the rule does not apply.
    """

    judge: Judge
    looks_at: frozenset[Evidence] = frozenset()
    needs: str = ""
