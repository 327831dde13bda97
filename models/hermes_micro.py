"""Hermes Agent's micro compaction: after a turn, one old exchange goes into a rolling summary (rule H9).

The agent's side of the exchange becomes a marker that holds the rolling summary; the user's words stay.
Markers of micro and of batch compactions have different keys: what a batch marker holds is not in the
rolling summary, so it is neither dropped nor rewritten.

Source: hermes-agent, micro compaction as its public source has it after 0.19.0, the newest version on PyPI
(0.20 by the article), re-created. Left out: making the rolling summary smaller once it has grown, the
cadence, and the joining of user messages between which a marker was dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from .hermes_messages import (
    END,
    MICRO_KEY,
    PREFIX,
    SUMMARY_KEY,
    is_batch,
    is_micro,
    is_result,
    is_summary,
    is_user,
    summary_in,
)
from .hermes_summary import Plan
from .hermes_tail import TailRules, head_size, tail_start

#: Messages below which there is nothing to fold.
_FEWEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The agent's side of a turn, from `start` to `end`, and the rolling summary so far."""

    messages: list[BaseMessage]
    start: int
    end: int
    rolling: str

    def prompt(self) -> str:
        """Return what the summariser is asked."""
        turns = self.messages[self.start : self.end]
        return Plan(messages=[], start=0, end=0, turns=turns, previous=self.rolling).prompt()


def next_exchange(messages: Sequence[BaseMessage], tail: TailRules, protect_first: int) -> Exchange | None:
    """Return the oldest exchange between head and tail that no marker holds yet."""
    if len(messages) < _FEWEST:
        return None
    head = head_size(messages, protect_first)
    limit = min(tail_start(messages, head, tail), len(messages))
    marks = [i for i in range(limit) if is_micro(messages[i])]
    rolling = summary_in(messages[marks[-1]]) if marks else ""
    start = marks[-1] + 1 if marks else head
    while start < limit and not (isinstance(messages[start], AIMessage) and _is_agents(messages[start])):
        start += 1
    end = start
    while end < limit and _is_agents(messages[end]):
        end += 1
    if start == end or end >= len(messages) or not is_user(messages[end]):
        return None
    return Exchange(messages=list(messages), start=start, end=end, rolling=rolling)


def _is_agents(message: BaseMessage) -> bool:
    return (isinstance(message, AIMessage) or is_result(message)) and not is_summary(message)


def spliced(exchange: Exchange, summary: str, new_id: str, *, drops_batch: bool = False) -> list[BaseMessage]:
    """Return the messages with a marker for the exchange, in place of the earlier micro marker.

    `drops_batch` is the mistake that the two keys avoid: every earlier marker is taken for one's own.
    """
    text = f"{PREFIX}\n{summary}\n\n{END}"
    marker = AIMessage(text, id=new_id, additional_kwargs={SUMMARY_KEY: True, MICRO_KEY: True})
    before = [
        message
        for message in exchange.messages[: exchange.start]
        if not is_micro(message) and not (drops_batch and is_batch(message))
    ]
    return [*before, marker, *exchange.messages[exchange.end :]]
