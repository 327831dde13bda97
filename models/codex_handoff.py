"""Codex's request for a handoff summary, and what becomes of a compaction that fails.

A history that exceeds the window loses its oldest item and is tried again; every other error is tried again
a few times, after a growing pause; then the compaction fails and changes nothing.

Source: openai/codex, `codex-rs/core/src/compact.rs`, rules C3 and C7 of its public behaviour.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from .codex_history import Count

#: Attempts after the first one, and seconds to wait before the first of them, doubled each time (rule C7).
RETRIES = 5
BACKOFF = 0.2

HANDOFF_PROMPT = (
    "Write a handoff for another model that will finish this task: what was done and decided; constraints "
    "and preferences of the user; the steps that remain; data that is needed to go on."
)


class ContextWindowExceeded(Exception):
    """The history does not fit into the window of the model that is to summarise it."""


class CompactionError(Exception):
    """The history could not be compacted and is unchanged; the turn ends."""


class HandoffRequest:
    """One compaction's request to the model, and what becomes of it after an error (rules C3 and C7)."""

    def __init__(self, history: Sequence[BaseMessage], *, window: int, retries: int, count: Count) -> None:
        self._items = list(history)
        self._window = window
        self._retries = retries
        self._count = count
        self._failures = 0

    def messages(self) -> list[BaseMessage]:
        """Return the request. Raises `ContextWindowExceeded` as a provider does."""
        if self._count(self._items) > self._window:
            raise ContextWindowExceeded("the history exceeds the context window")
        return [*self._items, HumanMessage(HANDOFF_PROMPT)]

    def pause_after(self, error: Exception) -> float:
        """Return the seconds until the next attempt. Raises `CompactionError` when there is none."""
        if isinstance(error, ContextWindowExceeded) and len(self._items) > 1:
            del self._items[0]
            self._failures = 0
            return 0
        if isinstance(error, ContextWindowExceeded) or self._failures == self._retries:
            raise CompactionError("the history could not be compacted") from error
        self._failures += 1
        return BACKOFF * 2.0 ** (self._failures - 1)


def ask(model: Any, request: HandoffRequest) -> str:
    """Return the model's summary. Raises `CompactionError` when there is none to be had."""
    while True:
        try:
            return str(model.invoke(request.messages()).text)
        except Exception as error:  # noqa: BLE001  every error counts against the retries
            time.sleep(request.pause_after(error))


async def aask(model: Any, request: HandoffRequest) -> str:
    """Return the model's summary. Raises `CompactionError` when there is none to be had."""
    while True:
        try:
            return str((await model.ainvoke(request.messages())).text)
        except Exception as error:  # noqa: BLE001  every error counts against the retries
            await asyncio.sleep(request.pause_after(error))
