"""Flaws of middleware that write messages again, or attach new ones to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite

from .base import Base, Update, is_typed, last_human, turn_start

# ---------------------------------------------------------------- 2: updates of messages


class Rebuild(Base):
    """Writes the list again before each model call. Flaw: questions go to the end, where they count."""

    def before_model(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        if self.flawed:
            messages.sort(key=lambda message: isinstance(message, HumanMessage))
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *messages]}


class Normalise(Base):
    """Writes the latest user message again, without spaces around it. Flaw: under an id of its own."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        at = last_human(state["messages"])
        if at is None:
            return None
        old = state["messages"][at]
        content = old.content.strip() if isinstance(old.content, str) else old.content
        if self.flawed:
            new = old.model_copy(update={"content": content, "id": f"{old.id}-new"})
            return {"messages": [RemoveMessage(old.id), new]}
        return {"messages": [old.model_copy(update={"content": content})]}


class Emphasise(Base):
    """Updates the latest user message. Flaw: the reducer takes the update for a new message."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        at = last_human(state["messages"])
        if at is None:
            return None
        old = state["messages"][at]
        return {"messages": [old.model_copy(update={"id": f"{old.id}-copy"} if self.flawed else {})]}


class Tag(Base):
    """Tags the latest user message in its metadata. Flaw: on the very object that is in state."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        at = last_human(state["messages"])
        if at is None:
            return None
        message = state["messages"][at]
        if self.flawed:
            message.additional_kwargs["tag"] = "late"
            return None
        extra = {**message.additional_kwargs, "tag": "late"}
        return {"messages": [message.model_copy(update={"additional_kwargs": extra})]}


class Flatten(Base):
    """Writes a question of several texts as one text. Flaw: only the first of them."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        at = last_human(state["messages"])
        content = None if at is None else state["messages"][at].content
        if not isinstance(content, list) or not all(isinstance(part, str) for part in content):
            return None
        text = str(content[0]) if self.flawed else "\n".join(map(str, content))
        return {"messages": [state["messages"][at].model_copy(update={"content": text})]}


class Stamp(Base):
    """Gives the latest user message an id that shows it was seen. Flaw: again before each model call."""

    def before_model(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        at = last_human(messages)
        if at is None or (str(messages[at].id).endswith("-seen") and not self.flawed):
            return None
        messages[at] = messages[at].model_copy(update={"id": f"{messages[at].id}-seen"})
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *messages]}


# ---------------------------------------------------------------- 3: where to attach


class Focus(Base):
    """Says which message to work on. Flaw: scans for it from the head."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        if not self.flawed:
            return handler(request.override(system_message=SystemMessage("Answer the latest message.")))
        at = last_human(request.messages)
        first = next((m for m in request.messages if isinstance(m, HumanMessage)), None)
        if first is None or at is None or first is request.messages[at]:
            return handler(request)
        return handler(request.override(messages=[*request.messages, HumanMessage(first.content)]))


class Introduce(Base):
    """Puts one note before the latest user message, once. Flaw: before the first one."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        at = last_human(messages)
        if at is None or any(message.id == "note" for message in messages):
            return None
        if self.flawed:
            at = next(i for i, message in enumerate(messages) if is_typed(message))
        messages.insert(at, HumanMessage("Be brief.", id="note", name="note"))
        return {"messages": Overwrite(messages)}


class Swap(Base):
    """Gives a note the id of the latest user message, once. Flaw: of the first message of the turn."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        at = turn_start(messages) if self.flawed else last_human(messages)
        if not messages or at is None or any(isinstance(message, SystemMessage) for message in messages):
            return None
        words = messages[at]
        return {
            "messages": [
                SystemMessage("Be brief.", id=words.id),
                words.model_copy(update={"id": f"{words.id}__user"}),
            ]
        }
