"""Where turns are stopped and where rewinds lead, told the same way in every lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from ..session import Session
from ..steps import Stop


class Base(NamedTuple):
    """Where a rewind led to: the messages of the state there, and whether something is still to be done."""

    messages: list[BaseMessage]
    pending: bool


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Stop `where`, once the model has given `replies` answers in this turn."""

    where: Stop
    replies: int

    def reached(self, session: Session) -> bool:
        """Tell whether the turn of `session` has come to this point."""
        return session.replies == self.replies
