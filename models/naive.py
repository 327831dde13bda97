"""Naive ways to bring context into a history, each with the small change that mends it.

They are what is written first: a reminder at the first user message (N1), a copy inserted at 0 (N2), a system
message in state that is written anew each turn (N6), a reminder behind the question (N7).

Source: rules N1, N2, N6 and N7; the article on the direction of context injection, sections 1 and 2.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .flaws import Flaw

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

NOTE_KEY = "note"


def is_users(message: BaseMessage) -> bool:
    """Tell whether this is a message in the user's role that no candidate of this file wrote."""
    return isinstance(message, HumanMessage) and not message.additional_kwargs.get(NOTE_KEY)


class Naive(Middleware):
    """Knows the world it lives in, and what it has to say."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def today(self) -> str:
        """Return the date as a line of text."""
        return f"Today is {self.environment.clock.now().date().isoformat()}."

    def files(self) -> str | None:
        """Return what there is to know of the files, None when that cannot be told now."""
        try:
            return f"Files: {self.environment.state.read()}"
        except Exception:  # noqa: BLE001  however the source fails, the turn goes on without
            return None


class AttachToLatest(Naive):
    """Gives each turn a reminder of the date, which takes the id of the latest user message."""

    def target(self, users: Sequence[BaseMessage]) -> BaseMessage:
        """Return the user message to attach to."""
        return users[-1]

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Attach the reminder, once for each user message."""
        messages: list[BaseMessage] = state["messages"]
        users = [message for message in messages if is_users(message)]
        if not users or (users[-1].id or "").endswith("__user"):
            return None
        target = self.target(users)
        taken = target.id or self.environment.new_id("user")
        note = SystemMessage(self.today(), id=taken, additional_kwargs={NOTE_KEY: True})
        return {"messages": [note, target.model_copy(update={"id": f"{taken}__user"})]}


class AttachToFirst(AttachToLatest):
    """N1: the same at the first user message."""

    def target(self, users: Sequence[BaseMessage]) -> BaseMessage:
        """Return the first user message."""
        return users[0]


class ContextInTheMessage(Naive):
    """Writes the date before the words of the latest user message, under its own id, once."""

    def text(self) -> str | None:
        """Return what to write, None when there is nothing to say now."""
        return self.today()

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the context into the message that has just come in."""
        last = state["messages"][-1] if state["messages"] else None
        text = self.text()
        if last is None or text is None or not is_users(last):
            return None
        content = last.content
        parts = [*content] if isinstance(content, list) else [{"type": "text", "text": content}]
        new = [{"type": "text", "text": text}, *parts]
        extra = {**last.additional_kwargs, NOTE_KEY: True}
        return {"messages": [last.model_copy(update={"content": new, "additional_kwargs": extra})]}


class InsertAtZero(Naive):
    """N2: returns all messages, with a copy of the first user message and the date, without id, in front."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Insert the copy at 0."""
        messages: list[BaseMessage] = state["messages"]
        first = next((message for message in messages if is_users(message)), None)
        if first is None:
            return None
        return {"messages": [HumanMessage(f"{first.text}\n\n{self.today()}"), *messages]}


class FilesInPrompt(Naive):
    """Shows the files in the system prompt of each request, and never writes them down."""

    def _shown(self, request: Request) -> Request:
        text = self.files() or "The files cannot be read; what you know of them may be outdated."
        return request.override(system_message=SystemMessage(text))

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Show the files."""
        return handler(self._shown(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Show the files."""
        return await handler(self._shown(request))


class SystemInState(Naive):
    """N6: keeps the files in a system message of the state, which takes the place of any other."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the system message anew."""
        text = self.files()
        if text is None:
            return None
        system = SystemMessage(text, id="files")
        rest = [message for message in state["messages"] if not isinstance(message, SystemMessage)]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), system, *rest]}


class FilesInTheMessage(ContextInTheMessage):
    """Writes the files before the words of the latest user message."""

    def text(self) -> str | None:
        """Return the files."""
        return self.files()


class AppendAfterQuestion(Naive):
    """N7: appends the files as a message in the user's role, behind the question."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Append the reminder."""
        text = self.files()
        return (
            None if text is None else {"messages": [HumanMessage(text, id=self.environment.new_id("note"))]}
        )


# What happens when the agent goes on without new words is no question for so simple a rule.
_SIMPLE = frozenset({"continue", "load_turn", "suffixed_ids", "empty_ids"})
_SOURCE = "what is written first, rule"


def _candidate(name: str, cls: type[Naive], rule: str, contract: Contract) -> Candidate:
    return Candidate(
        name=name,
        build=lambda environment: [cls(environment)],
        contract=contract,
        source=f"{_SOURCE} {rule}",
        target=name,
    )


_SWAPS = Contract(id_swap=True, system_anywhere=True, outside=_SIMPLE)
_PLAIN = Contract(outside=_SIMPLE)
_SHOWS = Contract(edits_requests=True, shows_state=True)
_WRITES = Contract(injects_into_history=True, outside=_SIMPLE)

FLAWS = (
    Flaw(
        candidate=_candidate("naive.attach-first", AttachToFirst, "N1", _SWAPS),
        correct=_candidate("naive.attach-latest", AttachToLatest, "N1, mended", _SWAPS),
        codes=("2.reorder", "2.id-rewrite", "3.stale-question", "3.attach-not-latest", "6.fold-incoherent"),
        origin="N1: attach to the first user message, not to the latest",
    ),
    Flaw(
        candidate=_candidate("naive.insert-at-zero", InsertAtZero, "N2", _PLAIN),
        correct=_candidate("naive.in-the-message", ContextInTheMessage, "N2, mended", _PLAIN),
        codes=("2.duplicate", "3.stale-question"),
        origin="N2: insert a copy without id at 0, where the message itself can be updated",
    ),
    Flaw(
        candidate=_candidate("naive.system-in-state", SystemInState, "N6", Contract(shows_state=True)),
        correct=_candidate("naive.system-in-request", FilesInPrompt, "N6, mended", _SHOWS),
        codes=("1.state-in-history", "4.system-lost"),
        origin="N6: rewrite the system message in state, not the prompt of a request",
    ),
    Flaw(
        candidate=_candidate("naive.append-after-question", AppendAfterQuestion, "N7", _WRITES),
        correct=_candidate("naive.before-the-question", FilesInTheMessage, "N7, mended", _WRITES),
        codes=("1.speaks-as-user",),
        origin="N7: append the reminder behind the question, not before it",
    ),
)
