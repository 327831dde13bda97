"""Naive ways to make a history shorter, each with the small change that mends it.

They are what is written first: keep the last messages (N3), a new summary at every turn (N4), trim by tokens
from the front (N5).

Source: rules N3 to N5; the article on the direction of context injection, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .flaws import Flaw
from .turns import turn_starts

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: Messages that are kept, and tokens that a request may have; small, so that short histories meet them.
MESSAGES_KEPT = 4
TOKENS_KEPT = 60

SUMMARY = "summary"


def _old(messages: Sequence[BaseMessage], cut: int) -> list[BaseMessage]:
    """Return what a cut takes away: all before it but the instructions."""
    return [message for message in messages[:cut] if not isinstance(message, SystemMessage)]


def current_turn(messages: Sequence[BaseMessage]) -> int:
    """Return the index at which the current turn begins."""
    return max((i for i in turn_starts(messages) if messages[i].name != SUMMARY), default=0)


class KeepTurns(Middleware):
    """Keeps the current turn when there are more than a few messages."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def is_long(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether something has to go."""
        return len(messages) > MESSAGES_KEPT

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return the index before which messages go."""
        return current_turn(messages)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Take old messages away."""
        messages: list[BaseMessage] = state["messages"]
        gone = _old(messages, self.cut(messages)) if self.is_long(messages) else []
        return {"messages": [RemoveMessage(str(message.id)) for message in gone]} if gone else None


class KeepLastMessages(KeepTurns):
    """N3: keeps the last few messages, whatever they are."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        """Return the index of the last few."""
        return len(messages) - MESSAGES_KEPT


class KeepTurnsByTokens(KeepTurns):
    """Keeps the current turn when the history has more than so many tokens."""

    def is_long(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether something has to go."""
        try:
            return self.environment.token_counter(messages) > TOKENS_KEPT
        except Exception:  # noqa: BLE001  a size that nobody knows takes nothing away
            return False


class TrimByTokens(Middleware):
    """N5: shows the model as many of the last messages as fit into so many tokens."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def _trimmed(self, request: Request) -> Request:
        messages: list[AnyMessage] = list(request.messages)
        try:
            while len(messages) > 1 and self.environment.token_counter(messages) > TOKENS_KEPT:
                del messages[0]
        except Exception:  # noqa: BLE001  a size that nobody knows takes nothing away
            return request
        return request if len(messages) == len(request.messages) else request.override(messages=messages)

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Trim the request."""
        return handler(self._trimmed(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Trim the request."""
        return await handler(self._trimmed(request))


class SummaryOverThreshold(Middleware):
    """Summarises finished turns when there are many messages; the summary stands in their place."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def summary(self, old: Sequence[BaseMessage]) -> str:
        """Return a summary of the messages, empty when it failed."""
        text = "\n".join(f"{message.type}: {message.text}" for message in old)
        try:
            return str(self.environment.model.invoke(f"Summarise:\n{text}").text).strip()
        except Exception:  # noqa: BLE001  a summary may fail in any way; the turn goes on
            return ""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Replace finished turns by their summary."""
        messages: list[BaseMessage] = state["messages"]
        cut = current_turn(messages)
        old = _old(messages, cut)
        if len(messages) <= MESSAGES_KEPT or all(message.name == SUMMARY for message in old):
            return None
        summary = self.summary(old)
        if not summary:
            return None
        stored = HumanMessage(summary, id=self.environment.new_id("summary"), name=SUMMARY)
        leading = [message for message in messages[:cut] if isinstance(message, SystemMessage)]
        kept = [*leading, stored, *messages[cut:]]
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}


class SummaryEveryTurn(SummaryOverThreshold):
    """N4: summarises all turns anew at every turn, into one message before them."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write the summary anew."""
        said = [message for message in state["messages"] if message.id != SUMMARY]
        old = _old(said, current_turn(said))
        summary = self.summary(old) if old else ""
        if not summary:
            return None
        stored = HumanMessage(summary, id=SUMMARY, name=SUMMARY)
        at = next((i for i, message in enumerate(said) if not isinstance(message, SystemMessage)), 0)
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *said[:at], stored, *said[at:]]}


def _candidate(name: str, cls: Callable[[Environment], Any], rule: str, contract: Contract) -> Candidate:
    return Candidate(
        name=name,
        build=lambda environment: [cls(environment)],
        contract=contract,
        source=f"what is written first, rule {rule}",
        target=name,
    )


_FORGETS = Contract(compacts=True, drops_history=True)
_TRIMS = Contract(edits_requests=True, drops_history=True)
_SUMMARISES = Contract(compacts=True)

FLAWS = (
    Flaw(
        candidate=_candidate("naive.last-n", KeepLastMessages, "N3", _FORGETS),
        correct=_candidate("naive.last-turn", KeepTurns, "N3, mended", _FORGETS),
        codes=("4.cut-inside-turn", "4.question-lost", "4.orphan-result"),
        origin="N3: keep the last messages, not the last turns",
    ),
    Flaw(
        candidate=_candidate("naive.summary-every-turn", SummaryEveryTurn, "N4", Contract()),
        correct=_candidate("naive.summary-over-threshold", SummaryOverThreshold, "N4, mended", _SUMMARISES),
        codes=("5.summary-rewritten",),
        origin="N4: a new summary at every turn, not one at a threshold",
    ),
    Flaw(
        candidate=_candidate("naive.trim-tokens", TrimByTokens, "N5", _TRIMS),
        correct=_candidate("naive.trim-turns", KeepTurnsByTokens, "N5, mended", _FORGETS),
        codes=("4.question-lost", "4.orphan-result", "5.prefix-broken"),
        origin="N5: trim each request from the front, not the history at the start of a turn",
    ),
)
