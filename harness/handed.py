"""Message objects that hooks have handed over: LangGraph's reducer writes an id on the object itself.

A hook that hands the same object over in a later turn thinks that it adds a message; the reducer finds a
message with that id and replaces it, in the past.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from .views import is_random


class Handed:
    """Remembers the objects whose ids were left to the reducer, with the turn of the first time."""

    def __init__(self) -> None:
        self._objects: dict[int, tuple[BaseMessage, int]] = {}

    def over(self, messages: Sequence[BaseMessage], turn: int) -> tuple[BaseMessage, ...]:
        """Note that `messages` are handed over in `turn`; return those known from an earlier turn."""
        again = []
        for message in messages:
            known = self._objects.get(id(message))
            if known is not None and known[1] < turn:
                again.append(message)
            elif known is None and is_random(message.id):
                self._objects[id(message)] = message, turn
        return tuple(again)

    def parted(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """Return the messages as a checkpointer loads them: none is an object that a hook may hold."""
        if not self._objects or not any(id(message) in self._objects for message in messages):
            return messages
        return [m.model_copy(deep=True) if id(m) in self._objects else m for m in messages]
