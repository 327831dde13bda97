"""Flaws that no single history shows: only the same session told in another way gives them away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import HumanMessage, RemoveMessage, SystemMessage
from langgraph.types import Overwrite

from .base import Base, Update, last_human

_BRIEF = "Be brief."


class InsertNote(Base):
    """Puts one note before the latest user message, once. Flaw: at a fixed place from the head."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        at = last_human(messages)
        if at is None or any(message.id == "note" for message in messages):
            return None
        messages.insert(0 if self.flawed else at, HumanMessage(_BRIEF, id="note", name="note"))
        return {"messages": Overwrite(messages)}


class NoteOnce(Base):
    """Leaves one note in a conversation. Flaw: remembers on itself that it did."""

    done = False

    def before_agent(self, state: Any, runtime: Any) -> Update:
        there = self.done if self.flawed else any(message.name == "note" for message in state["messages"])
        if there:
            return None
        self.done = True
        return {"messages": [HumanMessage(_BRIEF, id=self.environment.new_id("note"), name="note")]}


class NotePastTheReducer(Base):
    """Puts one note before the latest user message, past the reducer. Flaw: without an id."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        at = last_human(messages)
        if at is None or any(message.name == "note" for message in messages):
            return None
        messages.insert(at, HumanMessage(_BRIEF, id=None if self.flawed else "note", name="note"))
        return {"messages": Overwrite(messages)}


class PromptInBothForms(Base):
    """Sets a system prompt. Flaw: the asynchronous form passes the request on as it is."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        return handler(request.override(system_message=SystemMessage(_BRIEF)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        if self.flawed:
            return await handler(request)
        return await handler(request.override(system_message=SystemMessage(_BRIEF)))


class WriteAgain(Base):
    """Writes its one note again before each model call. Flaw: removes it first, in the same update."""

    def before_model(self, state: Any, runtime: Any) -> Update:
        note = HumanMessage(_BRIEF, id="note", name="note")
        there = any(message.id == "note" for message in state["messages"])
        return {"messages": [RemoveMessage("note"), note] if there and self.flawed else [note]}
