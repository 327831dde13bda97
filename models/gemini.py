"""Gemini CLI's chat compression (the layer of 2025), re-created from its public behaviour.

The environment context is the first user message of a session and is never refreshed (rule G1). Before a
request, once half of the model's window is used (G2), the older 70 % of what follows become a snapshot, cut
at a user's prompt (G4); a second call of the summariser may improve it (G5). An empty snapshot, or one that
makes the history longer, changes nothing (G6).

Source: google-gemini/gemini-cli, `ChatCompressionService`, at 5411f113ca (2026-08-21), and the package
`@google/gemini-cli-core` 0.61.0. There a long tool output keeps a fifth of its bound from the beginning and
the rest from the end, though its comment says the last 30 lines; and only a snapshot that is too long, not
an empty one, stops further ones. Both are as published here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import AgentState
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import NotRequired

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .gemini_history import (
    TOOL_BUDGET,
    TOOL_OUTPUT_KEPT,
    Content,
    Count,
    Save,
    find_split_point,
    items_of,
    within_tool_budget,
)

#: Tokens of the model's window, the share of them at which it compresses, and the share that may go.
WINDOW = 1_048_576
THRESHOLD = 0.5
SHARE_TO_COMPRESS = 0.7

CONTEXT_KEY = "gemini_environment"
SNAPSHOT_KEY = "gemini_snapshot"
ACKNOWLEDGEMENT = "Understood."

_NEW = "Write a snapshot of the state of this conversation."
_INTEGRATE = "Write a snapshot of the state of this conversation; take over what the earlier one holds."
_PROBE = "Look for what the snapshot leaves out: write it again, better, or as it was."


class GeminiState(AgentState[Any]):
    """The state with what a compression that made the history longer leaves behind."""

    compression_failed: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class Compression:
    """One compression: what goes (as it was, and with shortened tool outputs), what stays, what is sent.

    `front` stands outside of the history, `used` are the tokens before the compression.
    """

    front: list[BaseMessage]
    old: list[BaseMessage]
    old_shortened: list[BaseMessage]
    kept: list[BaseMessage]
    sent: list[BaseMessage]
    used: int


class GeminiCompression(Middleware):
    """Puts the environment context in front, and compresses.

    `window`, `tool_budget` are in tokens, `tool_output_kept` in characters; `scale` shortens all three.
    `forced` compresses before every request, as the user's command does. `save` keeps the full tool outputs.
    """

    state_schema = GeminiState

    def __init__(
        self,
        environment: Environment,
        *,
        window: int = WINDOW,
        threshold: float = THRESHOLD,
        tool_budget: int = TOOL_BUDGET,
        tool_output_kept: int = TOOL_OUTPUT_KEPT,
        scale: float = 1.0,
        forced: bool = False,
        save: Save | None = None,
    ) -> None:
        self.environment = environment
        self.count: Count = environment.token_counter
        self.window = round(window * scale)
        self.threshold = threshold * self.window
        self.tool_budget = round(tool_budget * scale)
        self.tool_output_kept = round(tool_output_kept * scale)
        self.forced = forced
        self.saved: dict[str, str] = {}
        self.save: Save = self._keep if save is None else save

    def _keep(self, name: str, text: str) -> str:
        self.saved[name] = text
        return name

    # ------------------------------------------------------------------ environment context

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Put the environment context in front, where a session has none (rule G1)."""
        messages: list[BaseMessage] = state["messages"]
        if any(map(is_context, messages)):
            return None
        try:
            text = self.environment.state.read()
        except Exception:  # noqa: BLE001  however the source fails, the session goes on without
            return None
        if not text:
            return None
        today = self.environment.clock.now().date().isoformat()
        context = HumanMessage(
            f"<session_context>\nToday: {today}\n{text}\n</session_context>",
            id=self.environment.new_id("environment"),
            additional_kwargs={CONTEXT_KEY: True},
        )
        front, rest = parted(messages)
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *front, context, *rest]}

    def restored(self, front: list[BaseMessage]) -> list[BaseMessage]:
        """Return what stands in front of a snapshot: the same context as before."""
        return front

    # ------------------------------------------------------------------ compression

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compress what lies before the message that is about to be sent."""
        plan = self.plan(state)
        return plan if not isinstance(plan, Compression) else self.committed(plan, self.snapshot(plan))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compress what lies before the message that is about to be sent."""
        plan = self.plan(state)
        return plan if not isinstance(plan, Compression) else self.committed(plan, await self.asnapshot(plan))

    def plan(self, state: Any) -> Compression | dict[str, Any] | None:
        """Return what to compress; an update where only tool outputs are shortened; None: nothing to do."""
        messages: list[BaseMessage] = state["messages"]
        sent = next((i for i in reversed(range(len(messages))) if isinstance(messages[i], AIMessage)), -1) + 1
        front, history = parted(messages[:sent])
        if not history:
            return None
        used = self.used(messages[:sent])
        if not self.forced and used < self.threshold:
            return None
        shorter = within_tool_budget(
            history,
            budget=self.tool_budget,
            kept=self.tool_output_kept,
            count=self.count,
            save=self.save,
        )
        if self.gave_up(state) and not self.forced:
            if self.count([*front, *shorter]) >= used:
                return None
            return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *front, *shorter, *messages[sent:]]}
        items = items_of(shorter)
        split = self.split([item.content() for item in items])
        gone = sum(len(item.messages) for item in items[:split])
        if not gone:
            return None
        return Compression(front, history[:gone], shorter[:gone], shorter[gone:], messages[sent:], used)

    def used(self, messages: Sequence[BaseMessage]) -> int:
        """Return the tokens of the last prompt and its answer; 0 when they cannot be counted."""
        try:
            return self.count(messages)
        except Exception:  # noqa: BLE001  however counting fails, nothing is known to be too much
            return 0

    def gave_up(self, state: Any) -> bool:
        """Tell whether an earlier compression made the history longer (rule G6)."""
        return bool(state.get("compression_failed"))

    def split(self, contents: Sequence[Content]) -> int:
        """Return the index of the first item to keep (rule G4)."""
        return find_split_point(contents, SHARE_TO_COMPRESS)

    def first_request(self, plan: Compression) -> list[BaseMessage]:
        """Return the request for a snapshot, which takes over what an earlier one holds (rule G5)."""
        anchor = _INTEGRATE if any(SNAPSHOT_KEY in m.additional_kwargs for m in plan.old) else _NEW
        return [*self._seen(plan), HumanMessage(anchor)]

    def second_request(self, plan: Compression, first: str) -> list[BaseMessage]:
        """Return the request that asks whether anything is missing (rule G5)."""
        return [*self._seen(plan), AIMessage(first), HumanMessage(_PROBE)]

    def _seen(self, plan: Compression) -> Sequence[BaseMessage]:
        """Return what the summariser sees: the original when it fits its window (rule G5)."""
        return plan.old if self.count(plan.old) < self.window else plan.old_shortened

    def snapshot(self, plan: Compression) -> str:
        """Return the snapshot; an empty second answer keeps the first (rule G5)."""
        model = self.environment.model
        first = str(model.invoke(self.first_request(plan)).text)
        second = str(model.invoke(self.second_request(plan, first)).text)
        return second.strip() or first.strip()

    async def asnapshot(self, plan: Compression) -> str:
        """Return the snapshot; an empty second answer keeps the first (rule G5)."""
        model = self.environment.model
        first = str((await model.ainvoke(self.first_request(plan))).text)
        second = str((await model.ainvoke(self.second_request(plan, first))).text)
        return second.strip() or first.strip()

    def committed(self, plan: Compression, snapshot: str) -> dict[str, Any] | None:
        """Return the update of a compression, or what is left of one that failed (rule G6)."""
        if self.is_useless(snapshot):
            return None
        new_id = self.environment.new_id
        history = [
            *self.restored(plan.front),
            HumanMessage(snapshot, id=new_id("snapshot"), additional_kwargs={SNAPSHOT_KEY: True}),
            AIMessage(ACKNOWLEDGEMENT, id=new_id("acknowledgement")),
            *plan.kept,
        ]
        if self.count(history) > plan.used:
            return {"compression_failed": True}
        return {
            "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *history, *plan.sent],
            "compression_failed": False,
        }

    def is_useless(self, snapshot: str) -> bool:
        """Tell whether there is nothing in the snapshot."""
        return not snapshot


def is_context(message: BaseMessage) -> bool:
    """Tell whether the message is the environment context."""
    return CONTEXT_KEY in message.additional_kwargs


def parted(messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """Return what stands outside of the history (instructions and environment context), and the history."""
    front = [m for m in messages if isinstance(m, SystemMessage) or is_context(m)]
    return front, [m for m in messages if not (isinstance(m, SystemMessage) or is_context(m))]


#: A window of 512,000 tokens as 256.
SCALE = 1 / 2000
_WINDOW = 512_000

CONTRACT = Contract(
    injects_into_history=True,
    # The environment context is that of the session's beginning.
    freezes_state=True,
    shows_state=True,
    compacts=True,
    clears_tool_results=True,
    # Every request carries a new message: a prompt, or the results of tool calls.
    outside=frozenset({"continue"}),
)
SOURCE = "google-gemini/gemini-cli ChatCompressionService at 5411f113ca, re-created"


def candidate(name: str, cls: type[GeminiCompression] = GeminiCompression, what: str = "") -> Candidate:
    """Return the candidate of a compression with the scaled limits."""
    return Candidate(
        name=name,
        build=lambda environment: [cls(environment, window=_WINDOW, scale=SCALE)],
        contract=CONTRACT,
        source=SOURCE + what,
        target=name,
    )


GEMINI = candidate("gemini")
