"""The model node of an agent in which nothing wraps the call of the model.

LangChain's node builds a request, binds the model and unpacks its response, so that middleware can
take part in each. Where none does, and no call in the history wants repair, what is left is this:
the model is called with the prompt and the messages, and its answer is appended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import BaseMessage, SystemMessage

from ..chat_model import DirectFakeChatModel

if TYPE_CHECKING:
    from ..session import Session


class PlainModel(NamedTuple):
    """The model as the agent binds it, and the system prompt that is put before the messages."""

    bound: DirectFakeChatModel
    prompt: SystemMessage

    def writes(self, messages: list[BaseMessage], session: Session) -> list[tuple[str, Any]] | None:
        """Call the model on the messages of the state; return the write of its answer.

        None, and nothing is called, where the whole node does not come down to this: calls that cannot be
        parsed are repaired.
        """
        if session.standing.is_plain(messages):
            return [("messages", [session.model_called_plainly(self.prompt, messages)])]
        if any(message.__dict__.get("invalid_tool_calls") for message in messages):
            return None
        return [("messages", [self.bound.invoke([self.prompt, *messages])])]
