"""Codex's initial context and compaction, re-created from their public behaviour.

The initial context (permissions, project instructions, environment) is sent once, before the user message
of a turn, and stays in place; what changes is appended as a new item (rule C1). Over the automatic limit
the history is replaced: before a turn without the initial context, which the turn then brings in anew
(C2), within a turn with it, before the last real user message (C5). The replacement goes through the
channel of the messages once, is stored with it, and a restarted process makes no new summary (C8).

Source: openai/codex, `codex-rs/core/src/compact.rs`, rules C1 to C9 of its public behaviour. Compaction by
command is the one before a turn (`DoNotInject`); no step asks for it. A turn without new user input does
not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentState
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import NotRequired

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .codex_handoff import RETRIES, HandoffRequest, aask, ask
from .codex_history import (
    CONTEXT_KEY,
    USER_BUDGET,
    BeforeLastUserMessage,
    Count,
    DoNotInject,
    InitialContextInjection,
    instructions_of,
    is_context,
    is_real_user,
    summary_message,
    with_context,
    within_budget,
)

#: Tokens of the context window, and the share of it at which Codex compacts by itself.
WINDOW = 272_000
AUTOMATIC_SHARE = 0.9

_PERMISSIONS = "Ask before you write."


class CodexState(AgentState[Any]):
    """The state with what tells compactions and turns apart.

    `window_number` and `window_id` name the window that the last compaction opened; `last_input` is the id
    of the user message with which the running turn began.
    """

    window_number: NotRequired[int]
    window_id: NotRequired[str]
    last_input: NotRequired[str]


class Codex(Middleware):
    """Brings the initial context in and compacts, as Codex does.

    `window` and `automatic_limit` are in tokens (the limit is 90 % of the window when it is not configured),
    `user_budget` are the tokens of user messages that survive a compaction; `scale` shortens all three.
    """

    state_schema = CodexState

    def __init__(
        self,
        environment: Environment,
        *,
        window: int = WINDOW,
        automatic_limit: int | None = None,
        user_budget: int = USER_BUDGET,
        retries: int = RETRIES,
        scale: float = 1.0,
    ) -> None:
        self.environment = environment
        self.count: Count = environment.token_counter
        self.window = round(window * scale)
        self.limit = round((window * AUTOMATIC_SHARE if automatic_limit is None else automatic_limit) * scale)
        self.budget = round(user_budget * scale)
        self.retries = retries

    # ------------------------------------------------------------------ hooks

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact when the last turn has left too much, and bring in what the context lacks."""
        history, new = self.parted(state)
        if not new:
            return None
        if not self.compacts_before_turn(history):
            return self.begun(state, history, new, window={})
        compacted = self.replaced(history, self.summary(history), DoNotInject())
        return self.begun(state, compacted, new, window=self.next_window(state))

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact when the last turn has left too much, and bring in what the context lacks."""
        history, new = self.parted(state)
        if not new:
            return None
        if not self.compacts_before_turn(history):
            return self.begun(state, history, new, window={})
        compacted = self.replaced(history, await self.asummary(history), DoNotInject())
        return self.begun(state, compacted, new, window=self.next_window(state))

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact within a turn that still has work to do (rule C9)."""
        messages: list[BaseMessage] = state["messages"]
        if not self.compacts_within_turn(messages):
            return None
        return self.continued(state, messages, self.summary(messages))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact within a turn that still has work to do (rule C9)."""
        messages: list[BaseMessage] = state["messages"]
        if not self.compacts_within_turn(messages):
            return None
        return self.continued(state, messages, await self.asummary(messages))

    # ------------------------------------------------------------------ turns

    def parted(self, state: Any) -> tuple[list[BaseMessage], list[BaseMessage]]:
        """Return the history, and the user messages with which a new turn begins."""
        messages: list[BaseMessage] = state["messages"]
        start = len(messages)
        while start and is_real_user(messages[start - 1]):
            if messages[start - 1].id == state.get("last_input"):
                break
            start -= 1
        return messages[:start], messages[start:]

    def begun(
        self, state: Any, history: list[BaseMessage], new: list[BaseMessage], window: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the update with which a turn begins: context before the new user messages."""
        context = self.missing_context(state, history)
        update: dict[str, Any] = {**window, "last_input": new[-1].id}
        if window or context:
            placed = self.placed(history, context)
            update["messages"] = [RemoveMessage(REMOVE_ALL_MESSAGES), *placed, *new]
        return update

    def placed(self, history: list[BaseMessage], context: list[BaseMessage]) -> list[BaseMessage]:
        """Return the history with the context that a new turn brings, which is appended."""
        return [*history, *context]

    def continued(self, state: Any, messages: list[BaseMessage], summary: str) -> dict[str, Any]:
        """Return the update with which a turn goes on after a compaction."""
        replacement = self.replaced(messages, summary, self.injection_within_turn(messages))
        return {
            **self.next_window(state),
            "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *replacement],
        }

    def next_window(self, state: Any) -> dict[str, Any]:
        """Return number and id of the window that a compaction opens (rule C8)."""
        return {
            "window_number": state.get("window_number", 0) + 1,
            "window_id": self.environment.new_id("window"),
        }

    # ------------------------------------------------------------------ context

    def context(self) -> dict[str, str] | None:
        """Return the texts of the initial context by kind, None when its source fails."""
        try:
            instructions = self.environment.state.read()
        except Exception:  # noqa: BLE001  however the source fails, the turn goes on without news
            return None
        today = self.environment.clock.now().date().isoformat()
        return {
            "permissions": _PERMISSIONS,
            "instructions": f"# AGENTS.md\n{instructions}",
            "environment": f"<environment_context>cwd=/work date={today}</environment_context>",
        }

    def item(self, kind: str, text: str) -> BaseMessage:
        """Return an item of the context: permissions are the developer's, the others the user's."""
        message_id = self.environment.new_id("context")
        if kind == "permissions":
            extra = {CONTEXT_KEY: kind, "__openai_role__": "developer"}
            return SystemMessage(text, id=message_id, additional_kwargs=extra)
        return HumanMessage(text, id=message_id, additional_kwargs={CONTEXT_KEY: kind})

    def known_context(self, state: Any, history: Sequence[BaseMessage]) -> dict[str, str]:
        """Return the newest text of each kind that is in history: what the model knows already."""
        return {str(m.additional_kwargs[CONTEXT_KEY]): m.text for m in history if is_context(m)}

    def missing_context(self, state: Any, history: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return the items that history lacks: all of them at first, later those that changed (rule C1)."""
        known = self.known_context(state, history)
        wanted = self.context() or {}
        return [self.item(kind, text) for kind, text in wanted.items() if known.get(kind) != text]

    def injection_within_turn(self, messages: Sequence[BaseMessage]) -> InitialContextInjection:
        """Return what a compaction within a turn does with the initial context."""
        texts = self.context() or self.known_context({}, messages)
        return BeforeLastUserMessage(tuple(self.item(kind, text) for kind, text in texts.items()))

    # ------------------------------------------------------------------ compaction

    def over_limit(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether the messages reach the automatic limit; unknown when they cannot be counted."""
        try:
            return self.count(messages) >= self.limit
        except Exception:  # noqa: BLE001  however counting fails, nothing is known to be too much
            return False

    def compacts_before_turn(self, history: Sequence[BaseMessage]) -> bool:
        """Tell whether a turn that is about to begin compacts what lies behind it (rule C9)."""
        return self.over_limit(history)

    def compacts_within_turn(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether a turn with tool results for the model compacts before it goes on (rule C9)."""
        return bool(messages) and isinstance(messages[-1], ToolMessage) and self.over_limit(messages)

    def is_user(self, message: BaseMessage) -> bool:
        """Tell whether a compaction takes the message for the user's."""
        return is_real_user(message)

    def kept_users(self, history: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Return the user messages that survive a compaction."""
        return within_budget([m for m in history if self.is_user(m)], self.budget, self.count)

    def replaced(
        self, history: Sequence[BaseMessage], summary: str, injection: InitialContextInjection
    ) -> list[BaseMessage]:
        """Return the replacement history: users' messages, context, and the summary last (rule C4)."""
        handoff = summary_message(summary, self.environment.new_id("summary"))
        return [*instructions_of(history), *with_context([*self.kept_users(history), handoff], injection)]

    def _request(self, history: Sequence[BaseMessage]) -> HandoffRequest:
        return HandoffRequest(history, window=self.window, retries=self.retries, count=self.count)

    def summary(self, history: Sequence[BaseMessage]) -> str:
        """Return the summary of the history. Raises `CompactionError` when there is none to be had."""
        return ask(self.environment.model, self._request(history))

    async def asummary(self, history: Sequence[BaseMessage]) -> str:
        """Return the summary of the history. Raises `CompactionError` when there is none to be had."""
        return await aask(self.environment.model, self._request(history))


#: A model with a window of 128,000 tokens, compacting at half of it, as 320 tokens that compact at 160.
SCALE = 1 / 400
LIMIT = 64_000
_WINDOW = 128_000

CONTRACT = Contract(
    injects_into_history=True,
    shows_state=True,
    compacts=True,
    # Answers and tool work of finished turns are gone, their users' messages stay (rule C4).
    cuts_inside_turns=True,
    # The provider takes developer messages wherever they stand.
    system_anywhere=True,
    # No turn begins without user input.
    outside=frozenset({"continue"}),
)
SOURCE = "openai/codex codex-rs/core/src/compact.rs, re-created"


def candidate(name: str, cls: type[Codex] = Codex, what: str = "") -> Candidate:
    """Return the candidate of a Codex with the scaled limits."""
    return Candidate(
        name=name,
        build=lambda environment: [
            cls(environment, window=_WINDOW, automatic_limit=LIMIT, scale=SCALE),
        ],
        contract=CONTRACT,
        source=SOURCE + what,
        target=name,
    )


CODEX = candidate("codex")
