"""The nodes of Gemini CLI's context graph (the layer of 2026), and how a rolling summary folds them.

Pure functions. Source: google-gemini/gemini-cli, `rollingSummaryProcessor.ts`, `contextManager.ts` and
`historyHardening.ts` at 5411f113ca (2026-08-21), rules R1 to R4 of their public behaviour.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from .gemini_history import Count, items_of

NodeType = Literal["USER_PROMPT", "AGENT_THOUGHT", "TOOL_EXECUTION", "ROLLING_SUMMARY"]

#: How much is folded at once (rule R2): the two oldest nodes, as many as free enough tokens, or all.
Strategy = Literal["incremental", "freeNTokens", "max"]

SUMMARY_KEY = "gemini_rolling_summary"

#: A fold needs that many nodes (rule R3).
_FEWEST = 2

_ID_LENGTH = 32

LOST_RESULT = "The result was lost when the context was shortened."
CONTINUED = "(The conversation continues here.)"
GO_ON = "Go on."


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the context: a message with its type, and the time at which it was said."""

    id: str
    type: NodeType
    timestamp: float
    message: BaseMessage


def derive_stable_id(ids: Sequence[str]) -> str:
    """Return an id that depends on nothing but the set of `ids` (rule R4)."""
    return hashlib.sha256("|".join(sorted(ids)).encode()).hexdigest()[:_ID_LENGTH]


def type_of(message: BaseMessage) -> NodeType:
    """Return the type of a message's node."""
    if SUMMARY_KEY in message.additional_kwargs:
        return "ROLLING_SUMMARY"
    if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and calls_of(message)):
        return "TOOL_EXECUTION"
    return "AGENT_THOUGHT" if isinstance(message, AIMessage) else "USER_PROMPT"


def calls_of(message: AIMessage) -> tuple[ToolCall | InvalidToolCall, ...]:
    """Return the calls of an answer; what could not be parsed is a call all the same, and is answered."""
    return (*message.tool_calls, *message.invalid_tool_calls)


def nodes_of(messages: Sequence[BaseMessage], times: Mapping[str, float]) -> list[Node]:
    """Return the nodes of the history; a client's system messages are instructions, and no nodes."""
    return [
        Node(str(m.id), type_of(m), times.get(str(m.id), 0.0), m)
        for m in messages
        if not isinstance(m, SystemMessage)
    ]


def aged_out(nodes: Sequence[Node], retained: int, count: Count) -> list[Node]:
    """Return the nodes behind which more than `retained` tokens stand; never those of the last item."""
    last = {id(m) for m in items_of([node.message for node in nodes])[-1].messages} if nodes else set()
    targets: list[Node] = []
    newer = 0
    for node in reversed(nodes):
        if newer > retained and id(node.message) not in last:
            targets.append(node)
        newer += count([node.message])
    return targets[::-1]


def consumed(targets: Sequence[Node], strategy: Strategy, free: float, count: Count) -> list[Node]:
    """Return the nodes that one summary replaces; none when there are fewer than two (rules R1 to R3).

    `free` are the tokens that `freeNTokens` wants.
    """
    foldable = [node for node in targets if node is not targets[0] or node.type != "USER_PROMPT"]
    if strategy == "incremental":
        chosen = foldable[:_FEWEST]
    elif strategy == "max":
        chosen = foldable
    else:
        chosen = []
        freed = 0
        for node in foldable:
            if freed >= free:
                break
            chosen.append(node)
            freed += count([node.message])
    return chosen if len(chosen) >= _FEWEST else []


def transcript(nodes: Sequence[Node]) -> str:
    """Return what the summariser is shown of the nodes."""
    return "\n".join(_line(node) for node in nodes)


def _line(node: Node) -> str:
    message = node.message
    calls = calls_of(message) if isinstance(message, AIMessage) else ()
    made = "".join(f" CALL: {call['name']}({json.dumps(call['args'])})" for call in calls)
    return f"[{message.type}] [{node.type}]: {message.text}{made}"


def summary_node(text: str, folded: Sequence[Node]) -> Node:
    """Return the node that stands for the folded ones: their time is the last one's (rule R4)."""
    ids = [node.id for node in folded]
    stable = derive_stable_id(ids)
    extra = {SUMMARY_KEY: ids, "timestamp": folded[-1].timestamp}
    message = HumanMessage(text, id=stable, additional_kwargs=extra)
    return Node(stable, "ROLLING_SUMMARY", folded[-1].timestamp, message)


def replaced(messages: Sequence[BaseMessage], folded: Sequence[Node], summary: Node) -> list[BaseMessage]:
    """Return the messages with the summary where the first folded one stood (rule R4)."""
    gone = {id(node.message) for node in folded}
    result: list[BaseMessage] = []
    for message in messages:
        if message is folded[0].message:
            result.append(summary.message)
        if id(message) not in gone:
            result.append(message)
    return result


def hardened(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the request with a result for every call and a call for every result, next to each other.

    Answers in a row are one item of the model, and what stands behind them, up to the next answer, is one of
    the user: results come first in it, in the order of the calls. A request begins and ends with the user;
    a client's system messages are instructions, and stay in front.
    """
    front = [m for m in messages if isinstance(m, SystemMessage)]
    history = [m for m in messages if not isinstance(m, SystemMessage)]
    result: list[BaseMessage] = []
    answers: list[AIMessage] = []
    behind: list[BaseMessage] = []
    for message in history:
        if not isinstance(message, AIMessage):
            behind.append(message)
            continue
        if behind:
            result += _paired(answers, behind)
            answers, behind = [], []
        answers.append(message)
    result += _paired(answers, behind)
    if result and isinstance(result[0], AIMessage):
        result.insert(0, HumanMessage(CONTINUED, id="continued"))
    if result and isinstance(result[-1], AIMessage):
        result.append(HumanMessage(GO_ON, id="go_on"))
    return [*front, *result]


def _paired(answers: Sequence[AIMessage], behind: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return answers, each with its results behind it, and then what else stood behind them."""
    results = [m for m in behind if isinstance(m, ToolMessage)]
    made = {call["id"] for answer in answers for call in calls_of(answer)}
    answers = _with_calls(answers, [m for m in results if m.tool_call_id not in made])
    paired: list[BaseMessage] = []
    done: set[str] = set()
    for answer in answers:
        paired.append(answer)
        for call in calls_of(answer):
            name = call["id"]
            if name is not None and name not in done:
                done.add(name)
                own = [m for m in results if m.tool_call_id == name]
                paired += own or [ToolMessage(LOST_RESULT, id=f"{name}__lost", tool_call_id=str(name))]
    return [*paired, *(m for m in behind if not isinstance(m, ToolMessage))]


def _with_calls(answers: Sequence[AIMessage], orphans: Sequence[ToolMessage]) -> list[AIMessage]:
    """Return the answers with a call for each result that has none: in the last one, or in one of its own."""
    if not orphans:
        return list(answers)
    made = [{"name": m.name or "unknown", "args": {}, "id": m.tool_call_id} for m in orphans]
    if not answers:
        return [AIMessage("", id=f"{orphans[0].id}__call", tool_calls=made)]
    calls = [*answers[-1].tool_calls, *AIMessage("", tool_calls=made).tool_calls]
    return [*answers[:-1], answers[-1].model_copy(update={"tool_calls": calls})]
