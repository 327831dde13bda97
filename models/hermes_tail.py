"""Where Hermes Agent cuts: the head and the tail that a compaction keeps word for word (rules H3 and H4).

Source: hermes-agent 0.19.0 (PyPI), `agent/context_compressor.py`, `_find_tail_cut_by_tokens` and what it
calls, re-created.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from .hermes_messages import calls_of, is_instruction, is_merged, is_result, is_summary, size_of

#: Most messages that the tail keeps whatever their size, and fewest.
MOST_PROTECTED = 8
FEWEST_PROTECTED = 3

#: How far the tail may grow beyond its budget rather than part a message from its neighbours.
SOFT = 1.5

#: What happens when the last user message is the first that could be summarised: its whole exchange is
#: summarised (Hermes), it is summarised alone (before the rule), or it is kept.
Edge = Literal["pair", "alone", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TailRules:
    """How the tail is found. `budget` is in tokens of `size_of`; the rest are Hermes's defaults.

    `align` keeps tool groups whole, `anchor` the last real user message in the tail. With
    `merged_words` a user message into which a summary was merged still counts as the user's, and all that
    the user said in one turn stays together.
    """

    budget: int
    protect_last: int = 20
    align: bool = True
    anchor: bool = True
    edge: Edge = "pair"
    merged_words: bool = False


def head_size(messages: Sequence[BaseMessage], protect_first: int) -> int:
    """Return where the head ends: behind a system message, `protect_first` more, and their results."""
    head = int(is_instruction(messages)) + protect_first
    return past_results(messages, head)


def past_results(messages: Sequence[BaseMessage], index: int) -> int:
    """Return `index`, or where the tool results that begin there end."""
    while index < len(messages) and is_result(messages[index]):
        index += 1
    return index


def _before_group(messages: Sequence[BaseMessage], index: int) -> int:
    """Return `index`, or where the tool group begins that a cut at `index` would split."""
    if not 0 < index < len(messages):
        return index
    caller = index - 1
    while caller >= 0 and is_result(messages[caller]):
        caller -= 1
    return caller if caller >= 0 and calls_of(messages[caller]) else index


def _is_visible(message: BaseMessage) -> bool:
    """Tell whether the user could read something in this answer."""
    content = message.content
    if isinstance(content, str):
        return bool(content.strip())
    texts = (part.get("text") or part.get("content") for part in content or () if isinstance(part, dict))
    return any(isinstance(text, str) and text.strip() for text in texts)


def _last_answer(messages: Sequence[BaseMessage], head: int) -> int:
    answers = [i for i in range(head, len(messages)) if isinstance(messages[i], AIMessage)]
    visible = [i for i in answers if _is_visible(messages[i])]
    return (visible or answers or [-1])[-1]


def last_words(messages: Sequence[BaseMessage], head: int, rules: TailRules) -> int:
    """Return the index of the last real user message from `head` on, -1 when there is none."""
    for index in range(len(messages) - 1, head - 1, -1):
        if _is_words(messages[index], rules):
            return _opening(messages, index, head, rules) if rules.merged_words else index
    return -1


def _opening(messages: Sequence[BaseMessage], words: int, head: int, rules: TailRules) -> int:
    """Return the first user message of the turn to which `words` belongs.

    Behind an open call a user message opens no turn, and neither does it behind another one.
    """
    first = words
    for index in range(words - 1, head - 1, -1):
        if _is_words(messages[index], rules):
            first = index
        elif not calls_of(messages[index]):
            break
    return first


def _is_words(message: BaseMessage, rules: TailRules) -> bool:
    if not isinstance(message, HumanMessage):
        return False
    return not is_summary(message) or (rules.merged_words and is_merged(message))


def _end_of_exchange(messages: Sequence[BaseMessage], words: int) -> int:
    """Return where the exchange ends that a user message opens: behind the answer and its tool results."""
    reply = words + 1
    if reply >= len(messages) or not isinstance(messages[reply], AIMessage):
        return reply
    return past_results(messages, reply + 1)


def _walk(messages: Sequence[BaseMessage], head: int, limit: float, fewest: int) -> tuple[int, int]:
    """Return where a walk from the end stops that adds messages up to `limit` tokens, and what it added."""
    cut, size = len(messages), 0
    for index in range(len(messages) - 1, head - 1, -1):
        more = size_of(messages[index])
        if size + more > limit and len(messages) - index >= fewest:
            break
        size += more
        cut = index
    return cut, size


def _raw_walk(messages: Sequence[BaseMessage], head: int, limit: int, fewest: int, cut: int) -> int:
    """Return where the strict walk stops: on the message that is too much, which still goes to the tail."""
    size = 0
    for index in range(len(messages) - 1, head - 1, -1):
        more = size_of(messages[index])
        cut = index
        if size + more > limit and len(messages) - index >= fewest:
            break
        size += more
    return cut


def _fewest(messages: Sequence[BaseMessage], head: int, rules: TailRules) -> int:
    """Return how many messages the tail keeps at least, leaving two to summarise where there are enough."""
    available = max(0, len(messages) - head - 1)
    if available <= 1:
        return 0
    floor = max(FEWEST_PROTECTED, min(rules.protect_last, MOST_PROTECTED))
    return min(floor, max(FEWEST_PROTECTED, available - 2), available)


def tail_start(messages: Sequence[BaseMessage], head: int, rules: TailRules) -> int:
    """Return the index at which the tail begins; what is between head and tail is to be summarised."""
    fewest = _fewest(messages, head, rules)
    ceiling = int(rules.budget * SOFT)
    cut, size = _walk(messages, head, ceiling, fewest)
    if cut <= head and 0 < size <= ceiling:
        cut = _raw_walk(messages, head, rules.budget, fewest, cut)
    most = len(messages) - fewest
    cut = min(cut, most)
    if cut <= head:
        cut = max(most, head + 1)
    if rules.align:
        cut = _before_group(messages, cut)
    floor = head + 1
    words = last_words(messages, head, rules)
    if rules.anchor and 0 <= words < cut:
        cut = _anchored(messages, words, head, rules)
    if rules.edge == "keep" and words >= 0:
        floor = min(floor, max(words, head))
    answer = _last_answer(messages, head)
    if rules.anchor and 0 <= answer < cut:
        cut = max(_before_group(messages, answer), floor)
    cut = max(cut, floor)
    return past_results(messages, cut) if rules.align else cut


def _anchored(messages: Sequence[BaseMessage], words: int, head: int, rules: TailRules) -> int:
    """Return the cut that takes the last real user message into the tail, or what the edge rule says."""
    if words > head or rules.edge == "keep":
        return words
    if rules.edge == "alone":
        return head + 1
    return max(_end_of_exchange(messages, words), head + 1)
