"""Codex's replacement history and where the initial context goes in it, as pure functions.

A compaction keeps the user's own messages under a budget and puts one handoff summary behind them; what
the model said and what tools returned is gone (rule C4). Whether the initial context is put in again is a
typed choice (C6), and where it goes is found from the tail (C5).

Source: openai/codex, `codex-rs/core/src/compact.rs`, rules C4 to C6 of its public behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

#: Tokens of user messages that survive a compaction (rule C4).
USER_BUDGET = 20_000

#: What a summary begins with; a message that begins so is no user's (rule C4).
SUMMARY_PREFIX = "Another language model started to solve this problem; its handoff follows:"

NO_SUMMARY = "(no summary available)"

CONTEXT_KEY = "codex_context"
COMPACTION_KEY = "codex_compaction_item"

#: Counts the tokens of messages.
Count = Callable[[Sequence[BaseMessage]], int]


@dataclass(frozen=True, slots=True)
class BeforeLastUserMessage:
    """The initial context is put in again, before the last real user message: within a turn."""

    context: tuple[BaseMessage, ...]


@dataclass(frozen=True, slots=True)
class DoNotInject:
    """The initial context is left out; the next turn brings it in, in full: before a turn, and by command."""


#: What a compaction does with the initial context (rule C6).
InitialContextInjection = BeforeLastUserMessage | DoNotInject


def is_context(message: BaseMessage) -> bool:
    """Tell whether the message is an item of the initial context, or a change of one."""
    return CONTEXT_KEY in message.additional_kwargs


def is_summary(message: BaseMessage) -> bool:
    """Tell whether the message is a handoff summary, by its prefix."""
    return isinstance(message, HumanMessage) and message.text.startswith(SUMMARY_PREFIX)


def is_compaction_item(message: BaseMessage) -> bool:
    """Tell whether the message stands for a compaction that a server made."""
    return COMPACTION_KEY in message.additional_kwargs


def is_real_user(message: BaseMessage) -> bool:
    """Tell whether a user wrote the message: no context, no summary."""
    return isinstance(message, HumanMessage) and not is_context(message) and not is_summary(message)


def insertion_point(history: Sequence[BaseMessage]) -> int:
    """Return where the initial context goes, looking from the tail (rule C5).

    Before the last real user message, else before the last summary, else before the last compaction item,
    else at the end.
    """
    for anchors in (is_real_user, is_summary, is_compaction_item):
        for index in reversed(range(len(history))):
            if anchors(history[index]):
                return index
    return len(history)


def with_context(history: Sequence[BaseMessage], injection: InitialContextInjection) -> list[BaseMessage]:
    """Return the history with the initial context where the choice wants it."""
    match injection:
        case BeforeLastUserMessage(context):
            at = insertion_point(history)
            return [*history[:at], *context, *history[at:]]
        case DoNotInject():
            return list(history)


def truncated(message: BaseMessage, room: int, cost: int) -> BaseMessage:
    """Return the message with its middle left out, so that about `room` of its `cost` tokens are left."""
    text = message.text
    kept = len(text) * room // cost
    tail = kept // 2
    shorter = f"{text[: kept - tail]}…{cost - room} tokens truncated…{text[len(text) - tail :]}"
    return message.model_copy(update={"content": shorter})


def within_budget(users: Sequence[BaseMessage], budget: int, count: Count) -> list[BaseMessage]:
    """Return the newest of the user messages that fit into `budget` tokens, in order (rule C4).

    The one that overflows is truncated, older ones are dropped.
    """
    kept: list[BaseMessage] = []
    room = budget
    for message in reversed(users):
        cost = count([message])
        if cost > room:
            kept += [truncated(message, room, cost)] if room > 0 else []
            break
        kept.append(message)
        room -= cost
    return kept[::-1]


def instructions_of(history: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the base instructions that a client keeps in state; to Codex they are no part of history."""
    return [m for m in history if isinstance(m, SystemMessage) and not is_context(m)]


def summary_message(text: str, message_id: str) -> HumanMessage:
    """Return the handoff summary as the message that Codex makes of it."""
    return HumanMessage(f"{SUMMARY_PREFIX}\n{text.strip() or NO_SUMMARY}", id=message_id)
