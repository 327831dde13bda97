"""Claude Code's reminders and cache marks, re-created from its requests (rules A1 to A3).

Source: requests of version 2.1.197 on loopback; see `claude_code.py` for what is not public.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage

from ..harness.candidate import Middleware
from ..harness.environment import Environment

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

_CACHED = {"type": "ephemeral"}
_OPEN, _CLOSE = "<system-reminder>\n", "\n</system-reminder>"

#: What a message of this system is: the first reminder, a further one, the summary, a compaction's reply,
#: or the record of its command.
KIND = "claude_code"


def kind_of(message: BaseMessage) -> str:
    """Return what the message is to this system; empty for what others said."""
    return str(message.additional_kwargs.get(KIND, ""))


def part(text: str) -> dict[str, Any]:
    """Return the text as a part of a message's content."""
    return {"type": "text", "text": text}


def _parts(content: Any) -> list[Any]:
    return list(content) if isinstance(content, list) else [part(content)]


def _latest_words(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """Return the last message of the history when it is the user's: the one that is being written."""
    last = messages[-1] if messages else None
    return last if isinstance(last, HumanMessage) and kind_of(last) in ("", "first") else None


class FirstReminder(Middleware):
    """Puts one reminder before the words of the first user message, where it stays (rule A1)."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def reminder(self) -> str:
        """Return the project instructions and today's date."""
        date = self._environment.clock.now().date().isoformat()
        return f"{_OPEN}Project instructions: be brief.\nToday is {date}.{_CLOSE}"

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the reminder when no message has it yet.

        That is the first message of a session. Where the reminder goes when it was missed there is not
        public: here, to the message that is being written.
        """
        messages: list[BaseMessage] = state["messages"]
        words = _latest_words(messages)
        if words is None or any(kind_of(message) in ("first", "summary") for message in messages):
            return None
        return {"messages": [self.reminded(words)]}

    def reminded(self, words: HumanMessage) -> HumanMessage:
        """Return the message with the reminder before its words."""
        parts: list[Any] = [part(self.reminder()), *_parts(words.content)]
        extra = {**words.additional_kwargs, KIND: "first"}
        return words.model_copy(update={"content": parts, "additional_kwargs": extra})


class ReminderMoves(FirstReminder):
    """Flaw: the reminder is taken out of the message that has it, and goes to the newest one."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Move the reminder to the message that is being written."""
        words = _latest_words(state["messages"])
        if words is None or kind_of(words) == "first":
            return None
        old = [message for message in state["messages"] if kind_of(message) == "first"]
        return {"messages": [*map(self._bare, old), self.reminded(words)]}

    def _bare(self, message: BaseMessage) -> BaseMessage:
        extra = {key: value for key, value in message.additional_kwargs.items() if key != KIND}
        return message.model_copy(update={"content": list(message.content)[1:], "additional_kwargs": extra})


class FurtherReminders(Middleware):
    """Tells of agents and skills in a system message behind the user's, when they have changed (rule A3)."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Append a reminder when the last one says something else; no call is parted from its results."""
        messages: list[BaseMessage] = state["messages"]
        last = messages[-1] if messages else None
        if last is None or (isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls)):
            return None
        try:
            skills = self._environment.state.read()
        except Exception:  # noqa: BLE001  what cannot be read is told as soon as it can
            return None
        text = f"{_OPEN}Available agents and skills: {skills}{_CLOSE}"
        told = next((m.text for m in reversed(messages) if kind_of(m) == "further"), None)
        if told == text or (told is None and not skills):
            return None
        reminder = SystemMessage(
            text, id=self._environment.new_id("reminder"), additional_kwargs={KIND: "further"}
        )
        return {"messages": [reminder]}


class CacheMarks(Middleware):
    """Sends the system prompt in marked blocks, and marks the last message of each request (rules A1, A2)."""

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Mark the request."""
        return handler(self._marked(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Mark the request."""
        return await handler(self._marked(request))

    def _marked(self, request: Request) -> Request:
        blocks: list[Any] = [
            part("You are a coding agent.") | {"cache_control": _CACHED},
            part("You work in the user's terminal.") | {"cache_control": _CACHED},
        ]
        messages: list[AnyMessage] = list(request.messages)
        last = messages[-1] if messages else None
        if last is not None and not isinstance(last, AIMessage) and last.text:
            parts = [part(p) if isinstance(p, str) else p for p in _parts(last.content)]
            parts[-1] = {**parts[-1], "cache_control": _CACHED}
            messages[-1] = last.model_copy(update={"content": parts})
        return request.override(system_message=SystemMessage(blocks), messages=messages)
