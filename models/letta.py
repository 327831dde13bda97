"""Letta's ways to bring context in and to let it go, re-created from public documents and its requests.

Memory lives outside of the conversation and is compiled into the system prompt when it changes (T1). What
no longer fits the window leaves it for a recall store that the agent can search (T2). Reminders stand before
the user's words in the same message, from the moment it comes in (T3). No message is rewritten or moved.

Source: Letta's public documentation and Context Constitution, and the requests of Letta Code as observed on
loopback (2026-08); rules T1 to T3. `messages` is the window and `recall` the store. Not public, or not
reviewed: at what size messages leave and where the cut falls (here: on the start of a turn, whole turns),
and what a reminder says.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from langchain.agents.middleware import AgentState, ModelRequest
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import InjectedState
from typing_extensions import NotRequired

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .flaws import Flaw
from .turns import turn_starts

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: Tokens of the window from which old turns leave it. The real share is not public; it is a parameter.
WINDOW = 32_000

#: How much smaller the window of the candidates is, so that short histories meet it.
SCALE = 400

_REMINDED = "reminded"
_TAG = "<system-reminder>"
_SUMMARY = "letta_summary"


class MemoryState(AgentState[Any]):
    """The state with the memory as it was compiled last, and the prompt that came of it."""

    memory: NotRequired[str]
    compiled: NotRequired[str]


class CompiledMemory(Middleware):
    """Compiles the memory into the system prompt, anew only when the memory has changed (rule T1)."""

    state_schema = MemoryState

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Store the prompt when the memory has changed."""
        memory = self._read()
        if memory is None or memory == state.get("memory"):
            return None
        return {"memory": memory, "compiled": self._compile(memory)}

    def _read(self) -> str | None:
        try:
            return self._environment.state.read()
        except Exception:  # noqa: BLE001  however the memory cannot be read, the last prompt stays
            return None

    def _compile(self, memory: str) -> str:
        compiled_at = self._environment.clock.now().isoformat(timespec="minutes")
        return f"<memory_blocks>\n{memory}\n</memory_blocks>\nMemory compiled at {compiled_at}."

    def _shown(self, request: Request) -> Request:
        memory, state = self._read(), request.state
        fresh = memory is None or memory == state.get("memory")
        prompt = state.get("compiled", "") if fresh else self._compile(str(memory))
        return request.override(system_message=SystemMessage(f"You are a stateful agent.\n{prompt}"))

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Show the prompt; a step that was resumed may find the memory changed."""
        return handler(self._shown(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Show the prompt; a step that was resumed may find the memory changed."""
        return await handler(self._shown(request))


class MemoryInHistory(CompiledMemory):
    """Flaw: the memory is compiled into a message of the history, and refreshed there."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Store the memory as a message."""
        update = super().before_model(state, runtime)
        return update and {**update, "messages": [SystemMessage(update["compiled"], id="memory")]}

    def _shown(self, request: Request) -> Request:
        return request.override(system_message=SystemMessage("You are a stateful agent."))


class RecallState(AgentState[Any]):
    """The state with what has left the window, one text a message."""

    recall: Annotated[list[str], operator.add]


@tool
def conversation_search(query: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Search the messages that have left the window."""
    return "\n".join(line for line in state.get("recall", []) if query in line) or "Nothing was found."


class Eviction(Middleware):
    """Moves finished turns out of a full window into the recall store (rule T2).

    With `summary`, one summary of all that has left stands right behind the system prompt; when it cannot
    be made, nothing leaves. `window` is the size from which turns leave, in tokens.
    """

    state_schema = RecallState

    def __init__(self, environment: Environment, *, window: int = WINDOW, summary: bool = False) -> None:
        self.tools: Sequence[BaseTool] = [conversation_search]
        self._environment = environment
        self._window = window
        self._summary = summary

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return the index before which messages leave: the start of the current turn."""
        return max((i for i in turn_starts(messages) if messages[i].name != _SUMMARY), default=0)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Let finished turns leave a window that is full."""
        leaving = self._leaving(state["messages"])
        if not leaving:
            return None
        summary = ""
        if self._summary:
            try:
                summary = str(self._environment.model.invoke(_told(leaving)).text)
            except Exception:  # noqa: BLE001  a summary may fail in any way; the turn goes on
                return None
        return self._update(state["messages"], leaving, summary)

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Let finished turns leave a window that is full."""
        leaving = self._leaving(state["messages"])
        if not leaving:
            return None
        summary = ""
        if self._summary:
            try:
                summary = str((await self._environment.model.ainvoke(_told(leaving))).text)
            except Exception:  # noqa: BLE001  a summary may fail in any way; the turn goes on
                return None
        return self._update(state["messages"], leaving, summary)

    def _leaving(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        try:
            full = self._environment.token_counter(messages) > self._window
        except Exception:  # noqa: BLE001  a size that nobody knows moves nothing
            full = False
        leaving = (
            [m for m in messages[: self.cut(messages)] if not isinstance(m, SystemMessage)] if full else []
        )
        return [] if all(message.name == _SUMMARY for message in leaving) else leaving

    def _update(
        self, messages: Sequence[BaseMessage], leaving: Sequence[BaseMessage], summary: str
    ) -> dict[str, Any] | None:
        if self._summary and not summary.strip():
            return None
        first = [HumanMessage(summary, id=self._environment.new_id("summary"), name=_SUMMARY)]
        gone = set(map(id, leaving))
        staying = [message for message in messages if id(message) not in gone]
        leading = [message for message in staying if isinstance(message, SystemMessage)]
        rest = [message for message in staying if not isinstance(message, SystemMessage)]
        kept = [*leading, *(first if self._summary else ()), *rest]
        lines = [f"{m.type}: {m.text}" for m in leaving if m.name != _SUMMARY]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept], "recall": lines}


def _told(leaving: Sequence[BaseMessage]) -> str:
    lines = "\n".join(f"{message.type}: {message.text}" for message in leaving)
    return f"Summarise what leaves the window.\n{lines}"


class EvictionInsideTurns(Eviction):
    """Flaw: the cut is made by count, wherever it falls."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return the index before the last three messages."""
        return max(0, len(messages) - 3)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Let messages leave in the middle of a turn, too."""
        return self.before_agent(state, runtime)


def _with_reminder(message: HumanMessage, text: str) -> HumanMessage:
    content = message.content
    words = [*content] if isinstance(content, list) else [{"type": "text", "text": content}]
    parts: list[Any] = [{"type": "text", "text": f"{_TAG}{text}</system-reminder>"}, *words]
    extra = {**message.additional_kwargs, _REMINDED: True}
    return message.model_copy(update={"content": parts, "additional_kwargs": extra})


class ReminderAtCreation(Middleware):
    """Puts hidden parts before the words of a message that has just come in, and never again (rule T3)."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the reminder into the last message, if that is the user's and has none."""
        messages: list[BaseMessage] = state["messages"]
        last = messages[-1] if messages else None
        if not isinstance(last, HumanMessage) or last.additional_kwargs.get(_REMINDED):
            return None
        first = not any(message.additional_kwargs.get(_REMINDED) for message in messages)
        now = self._environment.clock.now().isoformat(timespec="minutes")
        return {"messages": [_with_reminder(last, f"{'Started' if first else 'Continued'} at {now}.")]}


class ReminderRewritten(ReminderAtCreation):
    """Flaw: the reminder of an earlier message is taken out again when the next message comes in."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the new reminder, and take out the old ones."""
        update = super().before_agent(state, runtime)
        if update is None:
            return None
        marked = [m for m in state["messages"] if m.additional_kwargs.get(_REMINDED)]
        old = [m for m in marked if m.text.startswith(_TAG) and isinstance(m.content, list)]
        bare = [m.model_copy(update={"content": list(m.content)[1:]}) for m in old]
        return {"messages": [*bare, *update["messages"]]}


_CONTRACT = Contract(edits_requests=True, shows_state=True, compacts=True, drops_history=True)
_SOURCE = "Letta's documentation and Letta Code's requests, re-created"


def _candidate(
    name: str,
    what: str = "",
    *,
    memory: type[CompiledMemory] = CompiledMemory,
    eviction: type[Eviction] = Eviction,
    reminder: type[ReminderAtCreation] = ReminderAtCreation,
    summary: bool = False,
) -> Candidate:
    def build(environment: Environment) -> list[Middleware]:
        window = WINDOW // SCALE
        return [
            eviction(environment, window=window, summary=summary),
            reminder(environment),
            memory(environment),
        ]

    # With a summary nothing is dropped.
    contract = replace(_CONTRACT, drops_history=not summary)
    return Candidate(name=name, build=build, contract=contract, source=_SOURCE + what, target=name)


LETTA = _candidate("letta")
LETTA_SUMMARY = _candidate("letta.summary", "; with a summary of what left the window", summary=True)

FLAWS = (
    Flaw(
        candidate=_candidate(
            "letta-memory-in-history", "; memory in a message of the history", memory=MemoryInHistory
        ),
        correct=LETTA,
        codes=("1.state-in-history",),
        origin="T1: the memory as a message, where Letta compiles it into the system prompt",
    ),
    Flaw(
        candidate=_candidate(
            "letta-evicts-inside-turns", "; the window cut by count", eviction=EvictionInsideTurns
        ),
        correct=LETTA,
        codes=("4.cut-inside-turn", "4.question-lost", "4.orphan-result"),
        origin="T2: the oldest messages leave one by one, where whole turns leave",
    ),
    Flaw(
        candidate=_candidate(
            "letta-rewrites-reminder", "; old reminders are taken out again", reminder=ReminderRewritten
        ),
        correct=LETTA,
        codes=("5.prefix-broken",),
        origin="T3: reminders of earlier messages are taken out, where earlier messages are never rewritten",
    ),
)
