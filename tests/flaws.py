"""Small middleware with one flaw each, and the correct sibling that differs in that alone.

Each takes `flawed`; what the flag changes is the flaw. A flaw may have further consequences;
`planted.PLANTED` names the check that it was planted for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite

from sixfold.harness.environment import Environment

Update = dict[str, Any] | None


class Base(AgentMiddleware[Any, Any, Any]):
    """What all planted middleware have in common: the environment, and whether the flaw is in."""

    def __init__(self, environment: Environment, *, flawed: bool) -> None:
        self.environment = environment
        self.flawed = flawed


def last_human(messages: Sequence[BaseMessage]) -> int:
    """Return the index of the latest human message that somebody typed."""
    typed = [i for i, m in enumerate(messages) if isinstance(m, HumanMessage) and m.name is None]
    return typed[-1] if typed else 0


def turn_start(messages: Sequence[BaseMessage]) -> int:
    """Return the index at which the current turn begins: its first human message."""
    start = last_human(messages)
    while start > 0 and isinstance(messages[start - 1], HumanMessage) and messages[start - 1].name is None:
        start -= 1
    return start


# ---------------------------------------------------------------- 1 and 5.prefix-broken: the system prompt


class StateInPrompt(Base):
    """Shows the state in the system prompt. Flaw: keeps the version it read first."""

    text: str | None = None

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        if self.text is None or not self.flawed:
            try:
                self.text = self.environment.state.read()
            except Exception:  # noqa: BLE001  the source may fail in any way; the prompt says so
                return handler(request.override(system_message=SystemMessage("The state is not available.")))
        return handler(request.override(system_message=SystemMessage(f"State: {self.text}")))


class StateAppended(Base):
    """Appends a note at the start of a turn. Flaw: the note holds the state."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        text = self.environment.state.text() if self.flawed else "The canvas can be read with a tool."
        return {"messages": [HumanMessage(text, id=self.environment.new_id("note"), name="note")]}


class NumberedPrompt(Base):
    """Sets a system prompt. Flaw: it is another one at every call."""

    calls = 0

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        self.calls += 1
        prompt = f"This is call {self.calls}." if self.flawed else "This is a call."
        return handler(request.override(system_message=SystemMessage(prompt)))


# ---------------------------------------------------------------- 2: updates of messages


class Rebuild(Base):
    """Writes the list again before each model call. Flaw: questions go to the end, where they count."""

    def before_model(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        if self.flawed:
            messages.sort(key=lambda message: isinstance(message, HumanMessage))
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *messages]}


class Normalise(Base):
    """Marks the latest user message as seen. Flaw: the marked one gets an id of its own."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        old = state["messages"][last_human(state["messages"])]
        marked = {"seen": True}
        if self.flawed:
            new = HumanMessage(old.content, id=f"{old.id}-seen", additional_kwargs=marked)
            return {"messages": [RemoveMessage(old.id), new]}
        return {"messages": [HumanMessage(old.content, id=old.id, additional_kwargs=marked)]}


class Emphasise(Base):
    """Updates the latest user message. Flaw: the reducer takes the update for a new message."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        old = state["messages"][last_human(state["messages"])]
        return {"messages": [HumanMessage(old.content, id=f"{old.id}-copy" if self.flawed else old.id)]}


class Tag(Base):
    """Tags the latest user message in its metadata. Flaw: on the very object that is in state."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        message = state["messages"][last_human(state["messages"])]
        if self.flawed:
            message.additional_kwargs["tag"] = "late"
            return None
        return {"messages": [message.model_copy(update={"additional_kwargs": {"tag": "late"}})]}


# ---------------------------------------------------------------- 3: where to attach


class Focus(Base):
    """Repeats what to work on at the end of the first request of a turn. Flaw: scans from the head."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        if not self.flawed:
            return handler(request.override(system_message=SystemMessage("Answer the latest message.")))
        first = next(m for m in request.messages if isinstance(m, HumanMessage))
        if first is request.messages[last_human(request.messages)]:
            return handler(request)
        return handler(request.override(messages=[*request.messages, HumanMessage(first.content)]))


class Introduce(Base):
    """Puts one note before the latest user message, once. Flaw: before the first one."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        if any(message.id == "note" for message in messages):
            return None
        at = 0 if self.flawed else last_human(messages)
        messages.insert(at, HumanMessage("Be brief.", id="note", name="note"))
        return {"messages": Overwrite(messages)}


class Swap(Base):
    """Gives a note the id of the latest user message, once. Flaw: of the first message of the turn."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        if any(isinstance(message, SystemMessage) for message in messages):
            return None
        words = messages[turn_start(messages) if self.flawed else last_human(messages)]
        return {
            "messages": [
                SystemMessage("Be brief.", id=words.id),
                HumanMessage(words.content, id=f"{words.id}__user"),
            ]
        }


# ---------------------------------------------------------------- 4, 5 and 6: compaction


def recap(messages: Sequence[BaseMessage]) -> str:
    """Return a record of `messages`: their text, which a summary must not say in the user's name."""
    return "Recap of earlier turns:\n" + "\n".join(f"- {m.type}: {m.text}" for m in messages)


class Fold(Base):
    """Folds finished turns into one recap, without a model."""

    def text(self, folded: Sequence[BaseMessage]) -> str:
        return recap(folded)

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        cut = turn_start(messages)
        if cut == 0:
            return None
        summary = HumanMessage(self.text(messages[:cut]), id=self.environment.new_id("recap"), name="summary")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), summary, *messages[cut:]]}


class FoldWithoutResults(Fold):
    """Flaw: the recap leaves out what tools returned."""

    def text(self, folded: Sequence[BaseMessage]) -> str:
        return recap([m for m in folded if not (self.flawed and isinstance(m, ToolMessage))])


class Forget(Base):
    """Forgets finished turns on purpose. Flaw: their last message stays."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        old = state["messages"][: turn_start(state["messages"])]
        gone = old[:-1] if self.flawed else old
        return {"messages": [RemoveMessage(message.id) for message in gone]} if gone else None


class DropToolWork(Base):
    """Drops calls and results of finished turns. Flaw: only one of the two, which `keeps` names."""

    keeps: type[BaseMessage] = ToolMessage

    def before_agent(self, state: Any, runtime: Any) -> Update:
        old = state["messages"][: turn_start(state["messages"])]
        work = [m for m in old if isinstance(m, ToolMessage) or (isinstance(m, AIMessage) and m.tool_calls)]
        gone = [m for m in work if not (self.flawed and isinstance(m, self.keeps))]
        return {"messages": [RemoveMessage(m.id) for m in gone]} if gone else None


class DropCalls(DropToolWork):
    """Flaw: the results stay."""


class DropResults(DropToolWork):
    """Flaw: the calls stay."""

    keeps = AIMessage


class Summarise(Base):
    """Summarises finished turns with the model before a model call; a failure changes nothing."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        return turn_start(messages)

    def worth_it(self, old: Sequence[BaseMessage]) -> bool:
        return any(m.name != "summary" for m in old)

    def failed(self) -> str | None:
        return None

    def before_model(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        cut = self.cut(messages)
        if cut == 0 or not self.worth_it(messages[:cut]):
            return None
        summary: str | None
        try:
            summary = self.environment.model.invoke([HumanMessage(recap(messages[:cut]))]).text
        except Exception:  # noqa: BLE001  whatever the summariser raises, the history stays as it is
            summary = self.failed()
        if summary is None:
            return None
        message = HumanMessage(summary, id=self.environment.new_id("summary"), name="summary")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), message, *messages[cut:]]}


class SummariseQuestion(Summarise):
    """Flaw: off by one, the latest user message is summarised too."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        start = turn_start(messages)
        return last_human(messages) + 1 if self.flawed and start > 0 else start


class SummariseAnyway(Summarise):
    """Flaw: when the summariser fails, an apology replaces the history."""

    def failed(self) -> str | None:
        return "The earlier conversation is not available." if self.flawed else None


class SummariseSummaries(Summarise):
    """Flaw: a stored summary is summarised again before every model call."""

    def worth_it(self, old: Sequence[BaseMessage]) -> bool:
        return self.flawed or super().worth_it(old)


# ---------------------------------------------------------------- 6.hook-error


class LookUp(Base):
    """Leaves one note and reads it in later turns. Flaw: trusts that the first turn left it."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        notes = [message for message in messages if message.id == "note"]
        if notes or (self.flawed and turn_start(messages) > 0):
            assert notes[0].text
            return None
        return {"messages": [HumanMessage("Be brief.", id="note", name="note")]}
