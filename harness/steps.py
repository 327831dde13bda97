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
TurnsAgo = Annotated[int, Field(ge=1, le=1000)]

#: How the content of a user message is written down.
Shape = Literal["text", "blocks", "strings", "image", "empty", "reminder_like"]

#: How a user message is handed to the agent: as an object, a dict, a tuple, or the object of an
#: earlier turn with new content.
Form = Literal["message", "dict", "tuple"]

#: Which id a user message is sent with.
IdStyle = Literal["chosen", "none", "suffixed", "numeric"]

#: Where a turn stops before its end: before the model answers at all, after its last call for tools,
#: after the results of that call.
Stop = Literal["before_answer", "after_calls", "after_results"]

#: How a loaded turn is arranged; everything but `in_order` is what other clients and crashes leave.
Arrangement = Literal[
    "in_order",
    "results_reversed",
    "human_between",
    "consecutive_calls",
    "result_missing",
    "result_twice",
    "results_last",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """One human message of a turn; `words` is its length in filler words."""

    words: Words = 2
    shape: Shape = "text"
    form: Form = "message"
    id: IdStyle = "chosen"
    hidden: bool = False
    name: Literal["summary", "ada"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One scripted tool call; `words` is the length of its result in filler words.

    `kind` `invalid` is a call whose arguments could not be parsed: it is never run. `repeated_id`
    gives it the call id of the same call in every other turn.
    """

    words: Words = 2
    kind: Literal["plain", "invalid"] = "plain"
    repeated_id: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRound:
    """One model answer that calls tools in parallel, with their results."""

    calls: Annotated[tuple[ToolCall, ...], Field(min_length=1, max_length=50)] = (ToolCall(),)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """The user writes, the scripted model calls tools for some rounds and then answers.

    `reply` is the shape of the last answer, `usage` what its usage metadata claims.
    """

    kind: Literal["user_turn"] = "user_turn"
    messages: Annotated[tuple[UserMessage, ...], Field(min_length=1, max_length=20)] = (UserMessage(),)
    rounds: tuple[ToolRound, ...] = ()
    reply_words: Words = 2
    reply: Literal["text", "empty", "blocks"] = "text"
    usage: Literal["none", "low", "high"] = "none"
    stop: Stop | None = None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """The agent runs again without new words: after an interrupt, an error, or just so.

    With `resend`, the client submits the last user message once more, under its id.
    """

    kind: Literal["continue"] = "continue"
    rounds: tuple[ToolRound, ...] = ()
    resend: bool = False
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTurn:
    """A client loads a finished turn of an earlier conversation into state, in one update."""

    kind: Literal["load_turn"] = "load_turn"
    calls: Annotated[int, Field(ge=0, le=20)] = 0
    arrangement: Arrangement = "in_order"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceClock:
    """Virtual time passes between turns, in minutes; 1,440 cross exactly one midnight.

    Negative minutes are a second worker or another time zone.
    """

    kind: Literal["advance_clock"] = "advance_clock"
    minutes: Annotated[int, Field(ge=-5_256_000, le=5_256_000)] = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeState:
    """The dynamic state gets a new version (memory text, files, permissions), or becomes empty."""

    kind: Literal["change_state"] = "change_state"
    to: Literal["new", "empty"] = "new"


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
    turns_ago: TurnsAgo = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTurn:
    """A client removes all messages of an earlier turn that are still in state, by their ids."""

    kind: Literal["delete_turn"] = "delete_turn"
    turns_ago: TurnsAgo = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimState:
    """A client clears the history and keeps the last `keep` turns, in one update."""

    kind: Literal["trim_state"] = "trim_state"
    keep: Annotated[int, Field(ge=0, le=1000)] = 1
    how: Literal["remove_all", "overwrite"] = "remove_all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """The user goes back to the state before an earlier turn, to ask something else from there."""

    kind: Literal["rewind"] = "rewind"
    turns_ago: TurnsAgo = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure:
    """How the session is run, from here on: asynchronously, or with a system message in state."""

    kind: Literal["configure"] = "configure"
    run_async: bool = False
    system_in_state: bool = False


Step = (
    UserTurn
    | Continue
    | LoadTurn
    | AdvanceClock
    | ChangeState
    | Restart
    | EditMessage
    | DeleteTurn
    | TrimState
    | Rewind
    | Configure
)

STEP_TYPES: tuple[type[Step], ...] = (
    UserTurn,
    Continue,
    LoadTurn,
    AdvanceClock,
    ChangeState,
    Restart,
    EditMessage,
    DeleteTurn,
    TrimState,
    Rewind,
    Configure,
)

for _step_data in (*STEP_TYPES, UserMessage, ToolCall, ToolRound):
    _step_data.__pydantic_config__ = PLAIN_DATA  # type: ignore[union-attr]
