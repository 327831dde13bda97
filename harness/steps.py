"""The step vocabulary: what can happen in a session, as frozen plain data.

Each class is one row of the design's step table. Strategies draw them, lanes perform them, files
store them; no step holds code or objects of any library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from .faults import PLAIN_DATA, Fault

Words = Annotated[int, Field(ge=0, le=10_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """One human message of a turn; `words` is its length in filler words."""

    words: Words = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One scripted tool call; `words` is the length of its result in filler words."""

    words: Words = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRound:
    """One model answer that calls tools in parallel, with their results."""

    calls: Annotated[tuple[ToolCall, ...], Field(min_length=1, max_length=50)] = (ToolCall(),)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """The user writes, the scripted model calls tools for some rounds and then answers."""

    kind: Literal["user_turn"] = "user_turn"
    messages: Annotated[tuple[UserMessage, ...], Field(min_length=1, max_length=20)] = (UserMessage(),)
    rounds: tuple[ToolRound, ...] = ()
    reply_words: Words = 2
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceClock:
    """Virtual time passes between turns, in minutes; 1,440 cross exactly one midnight."""

    kind: Literal["advance_clock"] = "advance_clock"
    minutes: Annotated[int, Field(ge=1, le=5_256_000)] = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeState:
    """The dynamic state gets a new version (memory text, files, permissions)."""

    kind: Literal["change_state"] = "change_state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A new process: fresh middleware instances, state through the checkpoint serialiser."""

    kind: Literal["restart"] = "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMessage:
    """The user edits the first message of an earlier turn in place, under its own id.

    `turns_ago` is 1 for the latest turn. A message that is no longer in state cannot be edited;
    the step is then without effect.
    """

    kind: Literal["edit_message"] = "edit_message"
    turns_ago: Annotated[int, Field(ge=1, le=1000)] = 1


Step = UserTurn | AdvanceClock | ChangeState | Restart | EditMessage

STEP_TYPES: tuple[type[Step], ...] = (UserTurn, AdvanceClock, ChangeState, Restart, EditMessage)

for _step_data in (*STEP_TYPES, UserMessage, ToolCall, ToolRound):
    _step_data.__pydantic_config__ = PLAIN_DATA  # type: ignore[union-attr]
