"""A session that tells how far it has come, for whoever wants to know when its process dies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    """A session of a whole agent that tells how far it has come."""


def telling(kind: type[Session]) -> type[TellingSession]:
    """Return the kind of session that does the same and tells how far it has come."""
    return TellingWholeSession if issubclass(kind, WholeSession) else TellingSession
