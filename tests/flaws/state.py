"""Flaws of middleware that show the dynamic state, or set the system prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

from .base import Base, Update

Handler = Callable[..., Any]
Request = ModelRequest[Any]


class StateAppended(Base):
    """Appends a note at the start of a turn. Flaw: the note holds the state."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        text = self.environment.state.text() if self.flawed else "The canvas can be read with a tool."
        return {"messages": [HumanMessage(text, id=self.environment.new_id("note"), name="note")]}


class StateInPrompt(Base):
    """Shows the state in the system prompt. Flaw: keeps the version it read first."""

    text: str | None = None

    def wrap_model_call(self, request: Request, handler: Handler) -> Any:
        if self.text is None or not self.flawed:
            try:
                self.text = self.environment.state.read()
            except Exception:  # noqa: BLE001  the source may fail in any way; the prompt says so
                return handler(request.override(system_message=SystemMessage("The state is not available.")))
        return handler(request.override(system_message=SystemMessage(f"State: {self.text}")))


class StateForTheQuestion(StateInPrompt):
    """Promises the state to every request. Flaw: leaves it out of requests that end with a tool result."""

    def wrap_model_call(self, request: Request, handler: Handler) -> Any:
        if self.flawed and request.messages and isinstance(request.messages[-1], ToolMessage):
            return handler(request)
        self.text = None
        return super().wrap_model_call(request, handler)


class StateAtTheEnd(Base):
    """Puts the state behind the request. Flaw: as a message that could be the user's."""

    def wrap_model_call(self, request: Request, handler: Handler) -> Any:
        try:
            text = f"State: {self.environment.state.read()}"
        except Exception:  # noqa: BLE001  the source may fail in any way; the request says so
            text = "The state is not available; what you know of it may be outdated."
        message = HumanMessage(text) if self.flawed else HumanMessage(text, name="note")
        return handler(request.override(messages=[*request.messages, message]))


class NoteAtTheEnd(Base):
    """Puts a note behind the request. Flaw: under a name that no provider takes."""

    def wrap_model_call(self, request: Request, handler: Handler) -> Any:
        message = HumanMessage("Be brief.", name="the note" if self.flawed else "note")
        return handler(request.override(messages=[*request.messages, message]))


class NumberedPrompt(Base):
    """Sets a system prompt. Flaw: it is another one at every call."""

    calls = 0

    def wrap_model_call(self, request: Request, handler: Handler) -> Any:
        self.calls += 1
        prompt = f"This is call {self.calls}." if self.flawed else "This is a call."
        return handler(request.override(system_message=SystemMessage(prompt)))
