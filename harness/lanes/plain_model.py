"""The model node of an agent in which nothing wraps the call of the model.

LangChain's node builds a request, binds the model and unpacks its response, so that middleware can
take part in each. Where none does, and no call in the history wants repair, what is left is this:
the model is called with the prompt and the messages, and its answer is appended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage, SystemMessage

from ..chat_model import DirectFakeChatModel


class PlainModel(NamedTuple):
    """The model as the agent binds it, and the system prompt that is put before the messages."""

    bound: DirectFakeChatModel
    prompt: SystemMessage

    def answers(self, messages: list[BaseMessage]) -> bool:
        """Tell whether the whole node comes down to one call; calls that cannot be parsed are repaired."""
        for message in messages:  # noqa: SIM110  asked once a model call: a generator would cost twice as much
            if message.__dict__.get("invalid_tool_calls"):
                return False
        return True

    def answer(self, messages: list[BaseMessage]) -> list[tuple[str, Any]]:
        """Call the model on the messages of the state; return the write of its answer."""
        return [("messages", [self.bound.invoke([self.prompt, *messages])])]
