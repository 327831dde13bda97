"""Flaws of middleware that cut the history, or mend what was cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from .base import Base, Update, calls_of, is_own, parted, recap, turn_start


class Forget(Base):
    """Forgets finished turns on purpose. Flaw: their last message stays."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        _, old = parted(state["messages"], turn_start(state["messages"]))
        gone = old[:-1] if self.flawed else old
        return {"messages": [RemoveMessage(message.id) for message in gone]} if gone else None


class ForgetTheMiddle(Base):
    """Forgets finished turns on purpose. Flaw: the first of them stays."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        _, gone = parted(state["messages"], turn_start(state["messages"]))
        if self.flawed:
            starts = [not isinstance(message, HumanMessage) for message in gone]
            later = [i + 1 for i, (a, b) in enumerate(pairwise(starts)) if a and not b]
            gone = gone[later[0] :] if later else []
        return {"messages": [RemoveMessage(message.id) for message in gone]} if gone else None


class DropToolWork(Base):
    """Drops calls and results of finished turns. Flaw: only one of the two, which `keeps` names."""

    keeps: type[BaseMessage] = ToolMessage

    def before_agent(self, state: Any, runtime: Any) -> Update:
        old = state["messages"][: turn_start(state["messages"])]
        work = [m for m in old if isinstance(m, ToolMessage) or calls_of(m)]
        gone = [m for m in work if not (self.flawed and isinstance(m, self.keeps))]
        return {"messages": [RemoveMessage(m.id) for m in gone]} if gone else None


class DropCalls(DropToolWork):
    """Drops calls and results of finished turns. Flaw: the results stay."""


class DropResults(DropToolWork):
    """Drops calls and results of finished turns. Flaw: the calls stay."""

    keeps = AIMessage


def _next_result(messages: Sequence[BaseMessage], at: int, call: str, used: set[int]) -> int | None:
    """Return the index of the result of a call made at `at`, unless the same id is called again before it."""
    for index in range(at + 1, len(messages)):
        message = messages[index]
        if isinstance(message, ToolMessage) and message.tool_call_id == call and index not in used:
            return index
        if call in calls_of(message):
            return None
    return None


class Repair(Base):
    """Mends tool calls in each request. Flaw: takes all but the first of parallel results for missing."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        return handler(request.override(messages=self.mended(request.messages)))

    def mended(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        mended: list[BaseMessage] = []
        used: set[int] = set()
        for at, message in enumerate(messages):
            if isinstance(message, ToolMessage):
                if self.flawed:
                    mended.append(message)
                continue
            mended.append(message)
            for number, call in enumerate(calls_of(message)):
                found = _next_result(messages, at, call, used)
                if found is None or (self.flawed and number):
                    mended.append(ToolMessage("interrupted", tool_call_id=call))
                elif not self.flawed:
                    used.add(found)
                    mended.append(messages[found])
        return mended


class FoldWithInstructions(Base):
    """Folds finished turns into one recap. Flaw: the system message in state goes with them."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        cut = turn_start(messages)
        kept, old = ([], messages[:cut]) if self.flawed else parted(messages, cut)
        if all(map(is_own, old)):
            return None
        summary = HumanMessage(recap(old), id=self.environment.new_id("recap"), name="summary")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, summary, *messages[cut:]]}
