"""Where turns begin in a list of messages, as the re-created systems need it that cut between turns."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage


def turn_starts(messages: Sequence[BaseMessage]) -> list[int]:
    """Return the indexes at which turns begin: user messages behind a finished answer.

    A user message behind an open tool call may stand inside a turn, so no turn begins there.
    """
    starts = []
    for index, message in enumerate(messages):
        if not isinstance(message, HumanMessage):
            continue
        before = messages[index - 1] if index else None
        if isinstance(before, (HumanMessage, SystemMessage)):
            continue
        if isinstance(before, AIMessage) and (before.tool_calls or before.invalid_tool_calls):
            continue
        starts.append(index)
    return starts
