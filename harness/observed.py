"""A session that shows each model request to an observer: histories keep views of messages only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from .session import Session

#: Sees a model request: the index of its history record, and its messages, which it must not change.
OnRequest = Callable[[int, Sequence[BaseMessage]], None]


class ObservedSession(Session):
    """A session whose model requests `on_request` sees before they are answered."""

    def __init__(self, on_request: OnRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._on_request = on_request

    def model_called(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Show the request, record it and return the script's next answer."""
        self._on_request(len(self.history.records), messages)
        return super().model_called(messages)

    def model_called_plainly(self, prompt: BaseMessage, messages: list[BaseMessage]) -> AIMessage:
        """Show the request, record it and return the script's next answer."""
        self._on_request(len(self.history.records), [prompt, *messages])
        return super().model_called_plainly(prompt, messages)
