"""What the production system's design avoids: each rule of P1 to P4 broken, as a candidate of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .flaws import Flaw
from .production import (
    CANVAS,
    ENVELOPE,
    FOLD,
    METADATA,
    CanvasInPrompt,
    EnvelopeAtCreation,
    FoldAtTurnBoundary,
    LateMetadata,
    latest_words,
    replayed,
)
from .turns import turn_starts

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: Messages that a cut by count leaves.
_KEPT = 3


class EmptyCanvas(CanvasInPrompt):
    """Shows an empty canvas when it cannot be read: to the model, nothing is there any more."""

    def last_good(self, snapshot: str) -> str:
        """Return an empty canvas, unmarked."""
        return ""


class CanvasInHistory(Middleware):
    """Writes the canvas into a message behind the user's words, where it ages."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the canvas of this turn."""
        try:
            text = self._environment.state.read()
        except Exception:  # noqa: BLE001  however the source fails, the turn goes on
            return None
        note = HumanMessage(f"The canvas now:\n{text}", id=self._environment.new_id("canvas"), name="canvas")
        return {"messages": [note]}


class EnvelopeOffInRequests(EnvelopeAtCreation):
    """Shows the messages of earlier turns without what came with them, in each request."""

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Take the envelopes of earlier turns off."""
        words = latest_words(request.messages)
        told: list[Any] = [m if m is words else replayed(m) for m in request.messages]
        return handler(request.override(messages=told))


class MetadataAppended(LateMetadata):
    """Stores the corrected message as a new one, which the reducer appends."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def corrected(self, words: HumanMessage) -> HumanMessage:
        """Return the message with its metadata, under an id of its own."""
        return super().corrected(words).model_copy(update={"id": self._environment.new_id("row")})


class FoldByCount(FoldAtTurnBoundary):
    """Folds all but the last messages, wherever that cuts."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return where the last messages begin."""
        return max(0, len(messages) - _KEPT)


class RecordOfRecords(FoldAtTurnBoundary):
    """Folds an earlier record with the rest, clipped as if the user had said it."""

    def is_foldable(self, message: BaseMessage) -> bool:
        """Tell whether the message goes into the record: another record does, too."""
        return not isinstance(message, SystemMessage)


class SummaryOfTheTurn(FoldAtTurnBoundary):
    """Has a model write the summary anew at each turn: the design that was given up."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return where the current turn begins."""
        said = [i for i, message in enumerate(messages) if message.name != "record"]
        starts = turn_starts([messages[i] for i in said])
        return said[starts[-1]] if starts else 0

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Summarise all that lies before the current turn, the earlier summary included."""
        messages: list[BaseMessage] = state["messages"]
        cut = self.cut(messages)
        old = [m for m in messages[:cut] if not isinstance(m, SystemMessage)]
        if not old:
            return None
        prompt = "Goal, progress, decisions, open points:\n\n" + "\n".join(m.text for m in old)
        try:
            text = str(self.environment.model.invoke(prompt).text)
        except Exception:  # noqa: BLE001  a summary may fail in any way; the turn goes on
            return None
        if not text.strip():
            return None
        summary = HumanMessage(text, id=self.environment.new_id("record"), name="record")
        kept = [m for m in messages[:cut] if isinstance(m, SystemMessage)]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, summary, *messages[cut:]]}


def _flaw(
    name: str,
    member: Callable[[Environment], Middleware],
    correct: Candidate,
    codes: tuple[str, ...],
    origin: str,
    contract: Contract | None = None,
) -> Flaw:
    candidate = Candidate(
        name=name,
        build=lambda environment: [member(environment)],
        contract=contract or correct.contract,
        source=f"{correct.source}, broken: {origin}",
        target=name,
    )
    return Flaw(candidate=candidate, correct=correct, codes=codes, origin=origin)


FLAWS: tuple[Flaw, ...] = (
    _flaw(
        "production-empty-canvas",
        EmptyCanvas,
        CANVAS,
        ("1.state-missing",),
        "what P1 avoids: a read that fails is shown as an empty canvas",
    ),
    _flaw(
        "production-canvas-in-history",
        CanvasInHistory,
        CANVAS,
        ("1.state-in-history",),
        "what P1 avoids: the canvas is written into history",
        Contract(),
    ),
    _flaw(
        "production-stripped-requests",
        lambda _environment: EnvelopeOffInRequests(),
        ENVELOPE,
        ("5.prefix-broken",),
        "the other reading of P2: later requests show a message without what it came with",
        Contract(edits_requests=True),
    ),
    _flaw(
        "production-metadata-appended",
        MetadataAppended,
        METADATA,
        ("2.duplicate",),
        "what P3 avoids: corrected messages under new ids",
    ),
    _flaw(
        "production-fold-by-count",
        FoldByCount,
        FOLD,
        ("4.cut-inside-turn",),
        "what P4 avoids: a cut that is not at a turn boundary",
    ),
    _flaw(
        "production-record-of-records",
        RecordOfRecords,
        FOLD,
        ("6.recall",),
        "what P4 avoids: a record that is made again, and clipped again",
    ),
    _flaw(
        "production-turn-summary",
        SummaryOfTheTurn,
        FOLD,
        ("5.regenerated",),
        "what P4 replaced: a summary that a model writes anew at each turn",
    ),
)
