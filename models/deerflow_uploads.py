"""deer-flow's uploads middleware, re-created: the early one and a correct one.

The early one put a message with the list of uploaded files at index 0 of the messages and returned them
all. The reducer merges by id: what has no id is new to it and goes to the end, behind the question.

Source: bytedance/deer-flow, `UploadsMiddleware`, at fa9fba3f8 (early 2026) and at f1f4af99b (2026-08-22).
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .flaws import Flaw

TAG = "<uploaded_files>"


class UploadsMiddleware(Middleware):
    """Puts the list of files in front of the latest user message, once, under its own id."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tell the model what files there are, if there are any."""
        files = self._environment.state.read()
        return self.announce(f"{TAG}\n{files}\n</uploaded_files>", state["messages"]) if files else None

    def announce(self, block: str, messages: list[BaseMessage]) -> dict[str, Any] | None:
        """Return the update that shows `block`."""
        latest = next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)
        if latest is None or TAG in latest.text:
            return None
        content: Any = f"{block}\n\n{latest.content}"
        if isinstance(latest.content, list):
            content = [{"type": "text", "text": block}, *latest.content]
        return {"messages": [latest.model_copy(update={"content": content})]}


class EarlyUploadsMiddleware(UploadsMiddleware):
    """As at fa9fba3f8: a message without an id is inserted at 0, and lands behind the question."""

    def announce(self, block: str, messages: list[BaseMessage]) -> dict[str, Any] | None:
        """Return the whole list with a message of its own at its head."""
        return {"messages": [HumanMessage(block), *messages]}


class CopyInsertedAtZero(UploadsMiddleware):
    """The same mistake with the words: a copy of the first user message, without id, carries the files."""

    def announce(self, block: str, messages: list[BaseMessage]) -> dict[str, Any] | None:
        """Return the whole list with a copy of the first user message at its head."""
        first = next((m for m in messages if isinstance(m, HumanMessage)), None)
        if first is None:
            return None
        return {"messages": [HumanMessage(f"{first.text}\n\n{block}"), *messages]}


_CONTRACT = Contract(injects_into_history=True, freezes_state=True)
_SOURCE = "bytedance/deer-flow UploadsMiddleware, re-created"

DEERFLOW_UPLOADS = Candidate(
    name="deerflow.uploads",
    build=lambda environment: [UploadsMiddleware(environment)],
    contract=_CONTRACT,
    source=f"{_SOURCE}; the words are updated in place",
    target="deerflow.uploads",
)

DEERFLOW_UPLOADS_EARLY = Candidate(
    name="deerflow-uploads",
    build=lambda environment: [EarlyUploadsMiddleware(environment)],
    contract=_CONTRACT,
    source=f"{_SOURCE} as at fa9fba3f8",
    target="deerflow-uploads",
)

DEERFLOW_UPLOADS_COPY = Candidate(
    name="deerflow-uploads-copy",
    build=lambda environment: [CopyInsertedAtZero(environment)],
    contract=_CONTRACT,
    source=f"{_SOURCE} as at fa9fba3f8, with the words of the first message in the copy",
    target="deerflow-uploads-copy",
)

FLAWS = (
    Flaw(
        candidate=DEERFLOW_UPLOADS_EARLY,
        correct=DEERFLOW_UPLOADS,
        codes=("1.speaks-as-user",),
        origin="bytedance/deer-flow at fa9fba3f8: a message without id, inserted at 0, lands at the end",
    ),
    Flaw(
        candidate=DEERFLOW_UPLOADS_COPY,
        correct=DEERFLOW_UPLOADS,
        codes=("2.duplicate", "3.stale-question"),
        origin="bytedance/deer-flow at fa9fba3f8, with the words of the first user message",
    ),
)
