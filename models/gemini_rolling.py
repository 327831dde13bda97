"""Gemini CLI's rolling summary (the layer of 2026), re-created from its public behaviour.

The context is a list of typed nodes. What has aged out, because more than the retained budget of tokens
stands behind it, is folded into a summary node that takes the place of the first folded one, under an id that
depends on the folded ids only (rules R1 to R4). A failing summariser changes nothing, an empty summary is
taken as it comes (R5). Per request, tool calls and results are paired, as the published system hardens what
it sends.

Source: google-gemini/gemini-cli, `rollingSummaryProcessor.ts` and `contextManager.ts` at 5411f113ca
(2026-08-21), and the package `@google/gemini-cli-core` 0.61.0. No profile that comes with it uses the
processor; the budget here is that of its default profile, which has a snapshot processor in its place.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentState, ModelRequest
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import NotRequired

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.faults import DEFAULT_WORLD
from .flaws import Flaw
from .gemini_history import Count
from .gemini_nodes import (
    SUMMARY_KEY,
    Node,
    Strategy,
    aged_out,
    consumed,
    hardened,
    nodes_of,
    replaced,
    summary_node,
    transcript,
)

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: Tokens of the newest nodes that are never folded.
RETAINED = 65_000

_INSTRUCTION = "Shorten this transcript drastically; keep facts and intent. Answer with the summary alone."


class NodesState(AgentState[Any]):
    """The state with the time at which each message was first seen."""

    seen_at: NotRequired[dict[str, float]]


class RollingSummary(Middleware):
    """Folds what has aged out, by one of three strategies, and hardens each request.

    `retained` and `free` (what `freeNTokens` wants) are in tokens; `scale` shortens both.
    """

    state_schema = NodesState

    def __init__(
        self,
        environment: Environment,
        *,
        strategy: Strategy = "max",
        retained: int = RETAINED,
        free: float = float("inf"),
        scale: float = 1.0,
    ) -> None:
        self.environment = environment
        self.count: Count = environment.token_counter
        self.strategy: Strategy = strategy
        self.retained = round(retained * scale)
        self.free = free * scale

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Fold the nodes that have aged out."""
        times = self.times(state)
        folded = self.chosen(state["messages"], times)
        text = self.summary(folded) if folded else None
        return self.update(state["messages"], times, folded, text)

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Fold the nodes that have aged out."""
        times = self.times(state)
        folded = self.chosen(state["messages"], times)
        text = await self.asummary(folded) if folded else None
        return self.update(state["messages"], times, folded, text)

    def times(self, state: Any) -> dict[str, float]:
        """Return when each message of the state was first seen: in an earlier request, or now."""
        before = state.get("seen_at") or {}
        now = self.environment.clock.now().timestamp()
        return {
            str(m.id): m.additional_kwargs.get("timestamp", before.get(str(m.id), now))
            for m in state["messages"]
        }

    def chosen(self, messages: Sequence[BaseMessage], times: dict[str, float]) -> list[Node]:
        """Return the nodes to fold; none when they cannot be counted."""
        try:
            targets = aged_out(nodes_of(messages, times), self.retained, self.count)
            return consumed(targets, self.strategy, self.free, self.count)
        except Exception:  # noqa: BLE001  however counting fails, nothing is known to be too much
            return []

    def prompt(self, folded: Sequence[Node]) -> str:
        """Return what the summariser is asked."""
        return f"{_INSTRUCTION}\n\n{transcript(folded)}"

    def summary(self, folded: Sequence[Node]) -> str | None:
        """Return the summary, None when the summariser fails (rule R5)."""
        try:
            return str(self.environment.model.invoke(self.prompt(folded)).text)
        except Exception:  # noqa: BLE001  however the summariser fails, the nodes stay as they are
            return None

    async def asummary(self, folded: Sequence[Node]) -> str | None:
        """Return the summary, None when the summariser fails (rule R5)."""
        try:
            return str((await self.environment.model.ainvoke(self.prompt(folded))).text)
        except Exception:  # noqa: BLE001  however the summariser fails, the nodes stay as they are
            return None

    def update(
        self, messages: Sequence[BaseMessage], times: dict[str, float], folded: list[Node], text: str | None
    ) -> dict[str, Any]:
        """Return the update of a fold, or what is to be remembered without one."""
        if text is None:
            return {"seen_at": times}
        history = replaced(messages, folded, summary_node(text, folded))
        return {"seen_at": times, "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *history]}

    # ------------------------------------------------------------------ requests

    def request(self, messages: list[Any]) -> list[Any]:
        """Return the messages as they are sent."""
        return hardened(messages)

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Harden the request."""
        return handler(request.override(messages=self.request(request.messages)))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Harden the request."""
        return await handler(request.override(messages=self.request(request.messages)))


class Unhardened(RollingSummary):
    """Sends the nodes as they are, though a fold may part a call from its result."""

    def request(self, messages: list[Any]) -> list[Any]:
        """Return the messages as they stand in state."""
        return messages


class ForgetsEarlierSummaries(RollingSummary):
    """Folds an earlier summary with the rest, and leaves its text out of what the summariser is shown."""

    def prompt(self, folded: Sequence[Node]) -> str:
        """Return what the summariser is asked, of nodes that are no summary."""
        return super().prompt([node for node in folded if SUMMARY_KEY not in node.message.additional_kwargs])


#: The retained 65,000 tokens as 65.
SCALE = 1 / 1000

CONTRACT = Contract(
    compacts=True,
    edits_requests=True,
    # The first prompt is never folded, and nodes are folded whatever turn they belong to.
    keeps_head=True,
    cuts_inside_turns=True,
    # No fault is a wrap that did not run: no request is made without it.
    suffers=DEFAULT_WORLD - {"skip"},
)
SOURCE = "google-gemini/gemini-cli rollingSummaryProcessor at 5411f113ca, re-created"


def candidate(name: str, cls: type[RollingSummary] = RollingSummary, what: str = "") -> Candidate:
    """Return the candidate of a rolling summary with the scaled budget."""
    return Candidate(
        name=name,
        build=lambda environment: [cls(environment, scale=SCALE)],
        contract=CONTRACT,
        source=SOURCE + what,
        target=name,
    )


ROLLING = candidate("gemini.rolling")


def _flaw(name: str, cls: type[RollingSummary], what: str, *codes: str) -> Flaw:
    return Flaw(
        candidate=candidate(f"gemini-rolling-{name}", cls, f"; {what}"),
        correct=ROLLING,
        codes=codes,
        origin=f"naive variant: {what}",
    )


FLAWS = (
    _flaw(
        "unhardened",
        Unhardened,
        "a fold may part calls from results, and no one pairs them",
        "4.orphan-result",
    ),
    _flaw(
        "forgets", ForgetsEarlierSummaries, "an earlier summary is folded without being passed on", "6.recall"
    ),
)
