"""What planted middleware share: the switch for the flaw, and how a careful one reads a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from sixfold.harness.environment import Environment

Update = dict[str, Any] | None

# Names that middleware give to messages in the user's role that no user wrote.
OWN_NAMES = ("note", "summary")


class Base(AgentMiddleware[Any, Any, Any]):
    """Knows the environment, and whether the flaw is in."""

    def __init__(self, environment: Environment, *, flawed: bool) -> None:
        self.environment = environment
        self.flawed = flawed


def is_typed(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and message.name not in OWN_NAMES


def last_human(messages: Sequence[BaseMessage]) -> int | None:
    """Return the index of the latest message that somebody typed, None when there is none."""
    return next((i for i in range(len(messages) - 1, -1, -1) if is_typed(messages[i])), None)


def calls_of(message: BaseMessage) -> list[str]:
    if not isinstance(message, AIMessage):
        return []
    return [str(call["id"]) for call in (*message.tool_calls, *message.invalid_tool_calls)]


def _parts_work(messages: Sequence[BaseMessage], cut: int) -> bool:
    """Tell whether a cut before `cut` would part a tool result from its call."""
    before = {call for message in messages[:cut] for call in calls_of(message)}
    asked: set[str] = set()
    for message in messages[cut:]:
        asked.update(calls_of(message))
        if isinstance(message, ToolMessage) and str(message.tool_call_id) in before - asked:
            return True
    return False


def turn_start(messages: Sequence[BaseMessage]) -> int:
    """Return the index at which the current turn begins.

    That is the first of its messages from the user. A message that came between a call and its result
    does not begin a turn, whoever wrote it.
    """
    start = last_human(messages)
    while start:
        while start > 0 and isinstance(messages[start - 1], HumanMessage):
            if is_summary(messages[start - 1]):
                break
            start -= 1
        if not _parts_work(messages, start):
            return start
        start = last_human(messages[:start])
    return 0


def is_summary(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and message.name == "summary"


def is_instruction(message: BaseMessage) -> bool:
    """Tell whether this is a system message that came with the thread: no compaction may touch it."""
    return isinstance(message, SystemMessage) and not (message.id or "").startswith(("recap", "summary"))


def parted(messages: Sequence[BaseMessage], cut: int) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """Return the instructions that a cut at `cut` must spare, and the rest of what lies before it."""
    before = messages[:cut]
    return [m for m in before if is_instruction(m)], [m for m in before if not is_instruction(m)]


def is_own(message: BaseMessage) -> bool:
    """Tell whether this is a recap or summary of ours: folding nothing but that would be idle."""
    return (message.id or "").startswith(("recap", "summary"))


def recap(messages: Sequence[BaseMessage]) -> str:
    """Return a record of `messages`: their text, which a summary must not say in the user's name."""
    return "Recap of earlier turns:\n" + "\n".join(f"- {m.type}: {m.text}" for m in messages)
