"""A session that tells how far it has come, for whoever wants to know when its process dies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from .session import Session
from .whole.session import WholeSession

#: Is told by a session, before code of the candidate runs and after it, whose code it is (empty: nobody's).
Tell = Callable[[Session, str], None]


class TellingSession(Session):
    """Tells `tell` whenever code of the candidate is entered or left."""

    def __init__(self, tell: Tell, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tell = tell
        tell(self, "")

    def enter(self, by: str) -> str:
        """Attribute what happens to `by`, whose code runs from now on; return who it was before."""
        self._tell(self, by)
        return super().enter(by)

    def leave(self, outer: str) -> None:
        """Go back to attributing what happens to `outer`."""
        super().leave(outer)
        self._tell(self, outer)


class TellingWholeSession(TellingSession, WholeSession):
    """A session of a whole agent that tells how far it has come: its code runs whenever none of ours does."""

    def folded(self, messages: Sequence[BaseMessage]) -> None:
        """Record the state after a superstep, or after the user has written."""
        super().folded(messages)
        self._tell(self, "")

    def model_called(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Record a request of the agent's model and return the script's next answer."""
        answer = super().model_called(messages)
        self._tell(self, "")
        return answer


def telling(kind: type[Session]) -> type[TellingSession]:
    """Return the kind of session that does the same and tells how far it has come."""
    return TellingWholeSession if issubclass(kind, WholeSession) else TellingSession
