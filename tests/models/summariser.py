"""A summariser that answers what a test wants, and the reducer that a middleware's update goes through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph.message import add_messages

from sixfold.harness.environment import Environment


class Summariser:
    """Answers in turn, or raises; remembers what it was asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = answers
        self.asked: list[list[BaseMessage]] = []

    def invoke(self, prompt: Any) -> AIMessage:
        self.asked.append([HumanMessage(prompt)] if isinstance(prompt, str) else list(prompt))
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return AIMessage(answer)

    async def ainvoke(self, prompt: Any) -> AIMessage:
        return self.invoke(prompt)


def environment_with(*answers: str | Exception) -> tuple[Environment, Summariser]:
    model = Summariser(*answers)
    return Environment(model=model), model  # type: ignore[arg-type]


def user(name: str, text: str = "") -> HumanMessage:
    return HumanMessage(text or f"words of {name}", id=name)


def answer(name: str, *calls: str, text: str = "an answer") -> AIMessage:
    made = [{"name": "lookup", "args": {}, "id": call} for call in calls]
    return AIMessage(text, id=name, tool_calls=made)


def result(call: str, text: str = "a result") -> ToolMessage:
    return ToolMessage(text, id=f"result of {call}", tool_call_id=call, name="lookup")


def folded(messages: Sequence[BaseMessage], update: dict[str, Any] | None) -> list[BaseMessage]:
    """Return the history after the update, as LangGraph's reducer folds it."""
    written = (update or {}).get("messages")
    if written is None:
        return list(messages)
    state: Any = add_messages(list(messages), list(written))
    return list(state)


def ids(messages: Iterable[BaseMessage]) -> list[str | None]:
    return [message.id for message in messages]
