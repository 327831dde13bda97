"""Flaws that end a turn: by an error, or without a word."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import ModelRequest, hook_config
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from sixfold.harness.environment import Environment

from .base import Base, Update, last_human, turn_start


class LookUp(Base):
    """Leaves one note and reads it in later turns. Flaw: trusts that the first turn left it."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        notes = [message for message in messages if message.id == "note"]
        if notes or (self.flawed and any(isinstance(message, AIMessage) for message in messages)):
            assert notes[0].text
            return None
        return {"messages": [HumanMessage("Be brief.", id="note", name="note")]}


class Refuse(Base):
    """Ends a turn of several messages at once, with a refusal. Flaw: without one."""

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        at = last_human(messages)
        if at is None or turn_start(messages) == at:
            return None
        if self.flawed:
            return {"jump_to": "end"}
        refusal = AIMessage("One message at a time, please.", id=self.environment.new_id("refusal"))
        return {"messages": [refusal], "jump_to": "end"}


class Topic(Base):
    """Tells the model how the thread began. Flaw: remembers it on the instance."""

    def __init__(self, environment: Environment, *, flawed: bool = False) -> None:
        super().__init__(environment, flawed=flawed)
        self._topic = ""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        began = next((m.text for m in request.messages if isinstance(m, HumanMessage)), "")
        self._topic = self._topic if self.flawed and self._topic else began
        told = f"{request.system_prompt}\nThe thread began with: {self._topic}"
        return handler(request.override(system_message=SystemMessage(told)))
