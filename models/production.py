"""A node-canvas copilot's ways to bring context in and to fold it, re-created from their description.

State is read anew for every request and never enters history (P1); events are attached to the user's
message while it is written, and taken off again where it is told anew (P2); late metadata is added to the
stored message in place (P3); and what is over the threshold is folded at a turn boundary into a plain
record, without a model (P4).

Source: rules P1 to P4 of the article on the direction of context injection, section 4. The system is not
public. "Replay" is read as: to people, and in the record. That requests of later turns show a message
without what it came with would be the other reading; it breaks the cached prefix at every turn, and is a
named flaw (`production_flaws`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentState, ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import NotRequired

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .turns import turn_starts

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: Characters that a folded record keeps of a user's message and of an action (rule P4).
WORDS_KEPT = 300
ACTION_KEPT = 600

#: Messages in state above which finished turns are folded; scaled down for short histories.
THRESHOLD = 6

_RECORD = "record"

_ENVELOPE = "<attachments>1 file</attachments>"

_STALE = "What follows may be stale; that something is missing here proves nothing.\n"


class CanvasState(AgentState[Any]):
    """The state with the last snapshot of the canvas that could be read."""

    snapshot: NotRequired[str]


class CanvasInPrompt(Middleware):
    """Shows the canvas in the system prompt, read anew for every request (rule P1)."""

    state_schema = CanvasState

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Keep the snapshot of this turn, for requests in which the canvas cannot be read."""
        text = self._read()
        return None if text is None else {"snapshot": text}

    def _read(self) -> str | None:
        try:
            return self._environment.state.read()
        except Exception:  # noqa: BLE001  however the source fails, the last snapshot is shown
            return None

    def last_good(self, snapshot: str) -> str:
        """Return what a request shows when the canvas cannot be read: the last good snapshot, marked."""
        return _STALE + snapshot

    def _shown(self, request: Request) -> Request:
        text = self._read()
        if text is None:
            text = self.last_good(str(request.state.get("snapshot", "")))
        return request.override(system_message=SystemMessage(f"The canvas now:\n{text}"))

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Show the canvas."""
        return handler(self._shown(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Show the canvas."""
        return await handler(self._shown(request))


def latest_words(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """Return the user's latest message, whatever else stands in the user's role."""
    humans = (m for m in reversed(messages) if isinstance(m, HumanMessage) and m.name != _RECORD)
    return next(humans, None)


class EnvelopeAtCreation(Middleware):
    """Attaches what came with the user's message to that message, when it comes in (rule P2)."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the envelope behind the words, under the id of the message."""
        words = latest_words(state["messages"])
        if words is None or words.additional_kwargs.get("envelope"):
            return None
        content: Any = (
            f"{words.content}\n{_ENVELOPE}"
            if isinstance(words.content, str)
            else [*words.content, {"type": "text", "text": _ENVELOPE}]
        )
        extra = {**words.additional_kwargs, "envelope": True}
        return {"messages": [words.model_copy(update={"content": content, "additional_kwargs": extra})]}


def replayed(message: BaseMessage) -> BaseMessage:
    """Return the message as it is told anew: the user's own words, without what came with them (rule P2)."""
    if not message.additional_kwargs.get("envelope"):
        return message
    content: Any = message.content
    if isinstance(content, str):
        body: Any = content.removesuffix(f"\n{_ENVELOPE}")
    else:
        body = [part for part in content if part != {"type": "text", "text": _ENVELOPE}]
    return message.model_copy(update={"content": body})


class LateMetadata(Middleware):
    """Adds what became known after a turn to its user's message: same id, same place (rule P3)."""

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Add the metadata to the latest user's message, once."""
        words = latest_words(state["messages"])
        if words is None or "file_size" in words.additional_kwargs:
            return None
        return {"messages": [self.corrected(words)]}

    def corrected(self, words: HumanMessage) -> HumanMessage:
        """Return the message with its metadata, in its own row."""
        return words.model_copy(update={"additional_kwargs": {**words.additional_kwargs, "file_size": 3}})


def is_conversation(message: BaseMessage) -> bool:
    """Tell whether the message may be folded: a record is stored once, and instructions stay."""
    return message.name != _RECORD and not isinstance(message, SystemMessage)


def _line(message: BaseMessage) -> str:
    if isinstance(message, HumanMessage):
        return f"- user: {replayed(message).text[:WORDS_KEPT]}"
    who = "agent" if isinstance(message, AIMessage) else "tool"
    return f"- {who}: {message.text[:ACTION_KEPT]}"


def record_of(messages: Sequence[BaseMessage]) -> str:
    """Return the record of finished turns: turn by turn, what the user said and what was done (rule P4)."""
    lines = ["Record of earlier turns:"]
    starts = set(turn_starts(messages))
    for index, message in enumerate(messages):
        if index in starts:
            lines.append("Turn:")
        lines.append(_line(message))
    return "\n".join(lines)


class FoldAtTurnBoundary(Middleware):
    """Folds finished turns into a record of their texts, stored once and never touched again (rule P4)."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def is_foldable(self, message: BaseMessage) -> bool:
        """Tell whether the message goes into the record: another record does not."""
        return is_conversation(message)

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return where the fold ends: walking backwards, at the most recent turn boundary."""
        return next((i for i in reversed(turn_starts(messages)) if messages[i].name != _RECORD), 0)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Fold all turns before the current one when the history is over the threshold."""
        messages: list[BaseMessage] = state["messages"]
        if sum(map(is_conversation, messages)) <= THRESHOLD:
            return None
        cut = self.cut(messages)
        folded = [m for m in messages[:cut] if self.is_foldable(m)]
        if not folded:
            return None
        kept = [m for m in messages[:cut] if not self.is_foldable(m)]
        record = HumanMessage(record_of(folded), id=self.environment.new_id(_RECORD), name=_RECORD)
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, record, *messages[cut:]]}


_SOURCE = "the article on the direction of context injection, section 4, rule"

CANVAS = Candidate(
    name="production.canvas",
    build=lambda environment: [CanvasInPrompt(environment)],
    contract=Contract(edits_requests=True, shows_state=True),
    source=f"{_SOURCE} P1",
    target="production.canvas",
)

ENVELOPE = Candidate(
    name="production.envelope",
    build=lambda environment: [EnvelopeAtCreation()],
    source=f"{_SOURCE} P2",
    target="production.envelope",
)

METADATA = Candidate(
    name="production.metadata",
    build=lambda environment: [LateMetadata()],
    source=f"{_SOURCE} P3",
    target="production.metadata",
)

FOLD = Candidate(
    name="production.fold",
    build=lambda environment: [FoldAtTurnBoundary(environment)],
    contract=Contract(compacts=True),
    source=f"{_SOURCE} P4",
    target="production.fold",
)

PRODUCTION = Candidate(
    name="production",
    build=lambda environment: [
        FoldAtTurnBoundary(environment),
        EnvelopeAtCreation(),
        LateMetadata(),
        CanvasInPrompt(environment),
    ],
    contract=Contract(edits_requests=True, shows_state=True, compacts=True),
    source=f"{_SOURCE}s P1 to P4",
    target="production",
)
