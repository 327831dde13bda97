"""Claude Code's ways to bring context in and to compact, re-created from its requests.

Its source is not public. What is re-created was seen in requests of version 2.1.197 on loopback or stands in
the public documentation (rules A1 to A5): one reminder before the words of the first user message (A1), later
requests that extend earlier ones (A2), further reminders in the system's role behind the user's message (A3),
a summary in the first user message (A4), made automatically near the end of the window (A5).

Not public, and a choice of this file where a comment says so: the thresholds, whether it also compacts inside
a turn (here: only before a new user message), what happens when a summary fails or the first reminder is
missed, and the wording of every text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .claude_code_context import (
    KIND,
    CacheMarks,
    FirstReminder,
    FurtherReminders,
    ReminderMoves,
    kind_of,
    part,
)
from .flaws import Flaw
from .turns import turn_starts

#: Tokens of the window, as documented for the common models.
WINDOW = 200_000

#: The share of the window at which the conversation is compacted. Not public: a guess.
SHARE = 0.8

#: How much smaller the window of the candidates is, so that short histories meet it.
SCALE = 1_000


class Compaction(Middleware):
    """Replaces the conversation by a summary in the first user message (rules A4 and A5).

    `window` is in tokens, and `share` the part of it that may be filled; neither threshold is public.
    """

    def __init__(self, environment: Environment, *, window: int = WINDOW, share: float = SHARE) -> None:
        self._environment = environment
        self._threshold = window * share

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact what came before the new user message."""
        messages = state["messages"]
        old = self.compacted(messages)
        if not old:
            return None
        try:
            summary = str(self._environment.model.invoke([*old, _command(asking=True)]).text)
        except Exception:  # noqa: BLE001  not public what then happens; here, nothing
            return None
        return self._update(messages, old, summary)

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact what came before the new user message."""
        messages = state["messages"]
        old = self.compacted(messages)
        if not old:
            return None
        try:
            summary = str((await self._environment.model.ainvoke([*old, _command(asking=True)])).text)
        except Exception:  # noqa: BLE001  not public what then happens; here, nothing
            return None
        return self._update(messages, old, summary)

    def compacted(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return what a summary is to replace; nothing when there is room, or nothing new in it."""
        old = [m for m in messages[: _current_turn(messages)] if not _is_instruction(m)]
        new = [message for message in old if kind_of(message) in ("", "first")]
        return old if new and self.is_full(messages) else []

    def is_full(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether the window is filled up to the threshold."""
        try:
            return self._environment.token_counter(messages) > self._threshold
        except Exception:  # noqa: BLE001  a size that nobody knows compacts nothing
            return False

    def _update(
        self, messages: Sequence[BaseMessage], old: Sequence[BaseMessage], summary: str
    ) -> dict[str, Any] | None:
        if not summary.strip():
            return None
        replaced = set(map(id, old))
        rest = [message for message in messages if id(message) not in replaced]
        leading = [message for message in rest if _is_instruction(message)]
        new = [message for message in rest if not _is_instruction(message)]
        kept = [*leading, *self._product(summary), *new]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}

    def _product(self, summary: str) -> list[BaseMessage]:
        text = f"This session is continued from a previous conversation.\n{summary}"
        content: list[Any] = [part(FirstReminder(self._environment).reminder()), part(text)]
        reply = AIMessage(
            "The conversation was compacted.",
            id=self._environment.new_id("reply"),
            additional_kwargs={KIND: "reply"},
        )
        summarised = HumanMessage(
            content, id=self._environment.new_id("summary"), additional_kwargs={KIND: "summary"}
        )
        return [summarised, reply, _command(asking=False, message_id=self._environment.new_id("command"))]


def _command(*, asking: bool, message_id: str | None = None) -> HumanMessage:
    """Return the record of the command; the request for a summary has the instruction as a further part."""
    parts: list[Any] = [part("<command-name>compact</command-name>")]
    if asking:
        parts.append(part("Summarise the conversation so that the work can be continued."))
    return HumanMessage(parts, id=message_id, additional_kwargs={KIND: "command"})


def _is_instruction(message: BaseMessage) -> bool:
    """Tell whether a client put this system message into the state."""
    return isinstance(message, SystemMessage) and not kind_of(message)


def _current_turn(messages: Sequence[BaseMessage]) -> int:
    """Return the index at which the current turn begins; the record of a command belongs to what was."""
    starts = (index + (kind_of(messages[index]) == "command") for index in turn_starts(messages))
    return max((i for i in starts if i < len(messages) and kind_of(messages[i]) != "summary"), default=0)


class CompactionEveryTurn(Compaction):
    """Flaw: once there is a summary it is made again at every turn, whatever the room."""

    def compacted(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return all that came before the new user message, be it nothing but the summary."""
        once = any(kind_of(message) == "summary" for message in messages)
        old = [m for m in messages[: _current_turn(messages)] if not _is_instruction(m)]
        return old if once else super().compacted(messages)


class QuestionSummarised(Compaction):
    """Flaw: the new user message is summarised with the rest, and nothing comes last."""

    def compacted(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return all of the conversation, when what came before the new user message is to be replaced."""
        old = super().compacted(messages)
        return [message for message in messages if not _is_instruction(message)] if old else []


_CONTRACT = Contract(injects_into_history=True, compacts=True, edits_requests=True, system_anywhere=True)
_SOURCE = "Claude Code 2.1.197, its requests and public documentation, re-created"


def _candidate(
    name: str,
    what: str = "",
    *,
    compaction: type[Compaction] = Compaction,
    reminder: type[FirstReminder] = FirstReminder,
) -> Candidate:
    def build(environment: Environment) -> list[Middleware]:
        return [
            compaction(environment, window=WINDOW // SCALE),
            reminder(environment),
            FurtherReminders(environment),
            CacheMarks(),
        ]

    return Candidate(name=name, build=build, contract=_CONTRACT, source=_SOURCE + what, target=name)


CLAUDE_CODE = _candidate("claude-code")

FLAWS = (
    Flaw(
        candidate=_candidate(
            "claude-code-reminder-moves", "; the reminder moves along", reminder=ReminderMoves
        ),
        correct=CLAUDE_CODE,
        codes=("5.prefix-broken",),
        origin="A1: the reminder moves to the newest user message, where it stays in the first one",
    ),
    Flaw(
        candidate=_candidate(
            "claude-code-summary-every-turn", "; compacted at every turn", compaction=CompactionEveryTurn
        ),
        correct=CLAUDE_CODE,
        codes=("5.regenerated",),
        origin="A5: a summary at every turn, where one is made at a threshold",
    ),
    Flaw(
        candidate=_candidate(
            "claude-code-question-summarised", "; the question is summarised", compaction=QuestionSummarised
        ),
        correct=CLAUDE_CODE,
        codes=("4.question-lost", "3.stale-question"),
        origin="A4: the new user message in the summary, where it comes last",
    ),
)
