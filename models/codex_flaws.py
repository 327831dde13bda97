"""Naive variants of Codex's compaction: what its typed choice, its prefix and its scan from the tail avoid.

None of them is a public bug of Codex; each is the first thing one writes, on an otherwise correct system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from typing_extensions import NotRequired

from ..harness.environment import Environment
from .codex import CODEX, Codex, CodexState, candidate
from .codex_history import (
    CONTEXT_KEY,
    DoNotInject,
    InitialContextInjection,
    is_context,
    is_real_user,
    is_summary,
    truncated,
)
from .flaws import Flaw


class ContextAtTheHead(Codex):
    """Puts the initial context in front of the history, where a conversation's instructions seem to go."""

    def placed(self, history: list[BaseMessage], context: list[BaseMessage]) -> list[BaseMessage]:
        """Return the history behind the context."""
        return [*context, *history]


class NoContextWithinTurn(Codex):
    """Leaves the initial context out of every compaction, also where no turn is about to bring it back."""

    def injection_within_turn(self, messages: Sequence[BaseMessage]) -> InitialContextInjection:
        """Return the choice that is right before a turn only."""
        return DoNotInject()


class ReferenceState(CodexState):
    """The state with the context that was sent last."""

    reference: NotRequired[dict[str, str]]


class ReferenceKept(Codex):
    """Remembers beside the history what it has sent, and does not forget it when history is replaced."""

    state_schema = ReferenceState

    def known_context(self, state: Any, history: Sequence[BaseMessage]) -> dict[str, str]:
        """Return what was sent, whether it is still there or not."""
        return dict(state.get("reference") or super().known_context(state, history))

    def begun(
        self, state: Any, history: list[BaseMessage], new: list[BaseMessage], window: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the update with which a turn begins, and remember the context."""
        update = super().begun(state, history, new, window)
        sent = {m.additional_kwargs[CONTEXT_KEY]: m.text for m in update.get("messages", ()) if is_context(m)}
        return {**update, "reference": {**self.known_context(state, history), **sent}}


class BudgetFromTheOldest(Codex):
    """Spends the budget of user messages on the oldest ones: the newest, the question, is dropped."""

    def kept_users(self, history: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return the oldest user messages that fit."""
        kept: list[BaseMessage] = []
        room = self.budget
        for message in filter(is_real_user, history):
            cost = self.count([message])
            if cost > room:
                return [*kept, truncated(message, room, cost)] if room > 0 else kept
            kept.append(message)
            room -= cost
        return kept


class SummaryTakenForTheUser(Codex):
    """Takes stored summaries, which have the user's role, for the user's messages: they use the budget up."""

    def is_user(self, message: BaseMessage) -> bool:
        """Tell whether the message has the user's role and is no context."""
        return is_real_user(message) or is_summary(message)


class SummarisesAgainAfterRestart(Codex):
    """Does not trust a stored summary that another process made, and makes a new one."""

    def __init__(self, environment: Environment, **options: Any) -> None:
        super().__init__(environment, **options)
        self._resumed = False

    def compacts_before_turn(self, history: Sequence[BaseMessage]) -> bool:
        """Tell whether a turn compacts first: over the limit, or as this process's first one."""
        first, self._resumed = not self._resumed, True
        return super().compacts_before_turn(history) or (first and any(map(is_summary, history)))


def _flaw(name: str, cls: type[Codex], what: str, *codes: str) -> Flaw:
    return Flaw(
        candidate=candidate(f"codex-{name}", cls, f"; {what}"),
        correct=CODEX,
        codes=codes,
        origin=f"naive variant: {what}",
    )


FLAWS = (
    _flaw(
        "context-at-head",
        ContextAtTheHead,
        "the initial context goes to the front, not before the new user message",
        "3.head-dependent",
    ),
    _flaw(
        "no-context-mid-turn",
        NoContextWithinTurn,
        "a compaction within a turn leaves the initial context out",
        "1.state-missing",
    ),
    _flaw(
        "reference-kept",
        ReferenceKept,
        "a compaction does not clear what is known to have been sent",
        "1.state-missing",
    ),
    _flaw(
        "budget-from-oldest",
        BudgetFromTheOldest,
        "the budget of user messages is spent from the oldest on",
        "4.question-lost",
    ),
    _flaw(
        "summary-as-user",
        SummaryTakenForTheUser,
        "a stored summary counts as a message of the user",
        "4.question-lost",
    ),
    _flaw(
        "resummarises",
        SummarisesAgainAfterRestart,
        "a restarted process makes a new summary",
        "5.replay-differs",
    ),
)
