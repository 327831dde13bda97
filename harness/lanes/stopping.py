"""Where the scenario stops a turn before its end, told the same way in every lane."""

from __future__ import annotations

from dataclasses import dataclass

from ..session import Session
from ..steps import Stop


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Stop `where`, once the model has given `replies` answers in this turn."""

    where: Stop
    replies: int

    def reached(self, session: Session) -> bool:
        """Tell whether the turn of `session` has come to this point."""
        return session.replies == self.replies
