"""The step vocabulary: what can happen in a session, as frozen plain data.

Each class is one kind of step. Strategies draw them, lanes perform them, files
store them; no step holds code or objects of any library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from .faults import PLAIN_DATA, Fault

Words = Annotated[int, Field(ge=0, le=10_000)]
TurnsAgo = Annotated[int, Field(ge=1, le=1000)]

#: How the content of a user message is written down. `image` is sent inline, `link` by its URL; `none`
#: is JSON's null, which only a dict can hold.
Shape = Literal["text", "blocks", "strings", "image", "link", "empty", "none", "reminder_like"]

#: How a user message is handed to the agent: as an object, a dict, a tuple, a chunk; or, `reused`, the
#: object that holds the first words of the turn before, handed in again as it is.
Form = Literal["message", "dict", "tuple", "chunk", "reused"]

#: Which id a user message is sent with. `twice` is the id of the message before it in the same update;
#: `again` the id that the first words of the turn before have in state: new words under an old id.
IdStyle = Literal["chosen", "none", "empty", "suffixed", "infixed", "numeric", "twice", "again"]

#: In which of its fields a model answer names its tool calls, beside or instead of `tool_calls`: in
#: `additional_kwargs` (`kwargs`), as content blocks (`blocks`), with a call more there than in
#: `tool_calls` (`differs`), or only there; the agent then sees no call, and the turn ends.
CallView = Literal["calls", "kwargs", "blocks", "differs", "kwargs_only", "blocks_only"]

#: How the model's last answer comes out. `filtered` is empty and `cut` incomplete, as their
#: `finish_reason` says; `thinking` puts a thinking block before the words of every answer.
Reply = Literal["text", "empty", "blocks", "thinking", "filtered", "cut"]

#: What the model reports as its usage. With `stale`, only the first answer of the turn reports any: the
#: newest figure is an old one.
Usage = Literal["none", "low", "high", "stale"]

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

#: How the messages of a checkpoint are stored.
Stored = Literal["now", "json", "dicts"]

#: How the middleware of a candidate is put together.
StackForm = Literal["in_order", "twice", "reversed"]

#: How the tool calls of a loaded turn are named: `empty_id` and `no_id` are call ids that a provider
#: failed to give (a call without id cannot be answered), `no_name` is an empty name of the tool.
Naming = Literal["usual", "empty_id", "no_id", "no_name"]


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
    gives it the call id of the same call in every other turn, `twin` that of the first call of its
    message.
    """

    words: Words = 2
    kind: Literal["plain", "invalid"] = "plain"
    repeated_id: bool = False
    twin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRound:
    """One model answer that calls tools in parallel, with their results."""

    calls: Annotated[tuple[ToolCall, ...], Field(min_length=1, max_length=50)] = (ToolCall(),)
    view: CallView = "calls"

    @property
    def runs(self) -> bool:
        """Tell whether the agent sees a call that it can run."""
        return not self.view.endswith("_only") and any(call.kind != "invalid" for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """The user writes, the scripted model calls tools for some rounds and then answers.

    `reply` is the shape of the last answer, `usage` what the usage metadata of the answers claims. With
    `chunks` the model's answers are message chunks; with `metadata` answers and tool results carry
    metadata of the provider and the tool.
    What the agent asks with `interrupt()` is answered until the turn is over; a turn with `stop` is left at
    the first question, at the latest.
    """

    kind: Literal["user_turn"] = "user_turn"
    messages: Annotated[tuple[UserMessage, ...], Field(min_length=1, max_length=20)] = (UserMessage(),)
    rounds: tuple[ToolRound, ...] = ()
    reply_words: Words = 2
    reply: Reply = "text"
    usage: Usage = "none"
    chunks: bool = False
    metadata: bool = False
    stop: Stop | None = None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """The agent runs again without new words: after an interrupt, an error, or just so.

    What the agent had asked is answered; at the next question the turn is left again.
    With `resend`, the client submits the last user message once more, under its id.
    """

    kind: Literal["continue"] = "continue"
    rounds: tuple[ToolRound, ...] = ()
    resend: bool = False
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTurn:
    """A client loads a finished turn of an earlier conversation into state, in one update.

    As dicts they are those of OpenAI's API, in which an answer that calls tools has no content (null).
    """

    kind: Literal["load_turn"] = "load_turn"
    calls: Annotated[int, Field(ge=0, le=20)] = 0
    arrangement: Arrangement = "in_order"
    form: Literal["message", "dict"] = "message"
    naming: Naming = "usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateResults:
    """A client writes tool results of the current turn to the end of the history.

    They answer the calls that were left open when the turn was stopped; with `again`, the results that
    are there already are delivered once more. Without such calls the step is without effect.
    """

    kind: Literal["late_results"] = "late_results"
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherThread:
    """A user of a second thread has a turn, on the same middleware instances as this thread."""

    kind: Literal["other_thread"] = "other_thread"
    rounds: tuple[ToolRound, ...] = ()


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
    """A new process: fresh middleware instances, state through the checkpoint serialiser.

    `stored` is the format in which an earlier version had stored the messages: LangChain's JSON, or the
    dicts that clients send. Of a turn that is still to be resumed, messages are always stored as now.
    """

    kind: Literal["restart"] = "restart"
    stored: Stored = "now"


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
    """The user goes back to the state before an earlier turn, to ask something else from there.

    With `pending`, what was still to be done there (the turn before had been stopped or had failed) is
    still to be done after it: `Continue` takes it up.
    """

    kind: Literal["rewind"] = "rewind"
    turns_ago: TurnsAgo = 1
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure:
    """How the session is run, from here on: asynchronously, or with a system message in state.

    `stack` is how the middleware of the candidate is put together: in order, two instances of each, or
    in the opposite order. It is settled before the first turn; later it is without effect.
    """

    kind: Literal["configure"] = "configure"
    run_async: bool = False
    system_in_state: bool = False
    stack: StackForm = "in_order"


Step = (
    UserTurn
    | Continue
    | LoadTurn
    | LateResults
    | OtherThread
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
    LateResults,
    OtherThread,
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
