"""The table of steps, item by item: how an item is drawn, or why it is not.

An item that is drawn has a property that a step must have; the tests look for it among generated steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sixfold.harness.steps import (
    AdvanceClock,
    ChangeState,
    Configure,
    Continue,
    DeleteTurn,
    EditMessage,
    LateResults,
    LoadTurn,
    OtherThread,
    Restart,
    Rewind,
    Step,
    TrimState,
    UserMessage,
    UserTurn,
)


@dataclass(frozen=True)
class Item:
    """One item of a row: `how` it is written in a scenario, and how a step is recognised that has it."""

    row: str
    what: str
    how: str
    seen: Callable[[Step], bool]


@dataclass(frozen=True)
class Missing:
    """One item of a row that is not drawn, and the reason."""

    row: str
    what: str
    why: str


def _turn(test: Callable[[UserTurn], bool]) -> Callable[[Step], bool]:
    return lambda step: isinstance(step, UserTurn) and test(step)


def _message(test: Callable[[UserMessage], bool]) -> Callable[[Step], bool]:
    return _turn(lambda turn: any(map(test, turn.messages)))


def _shape(shape: str) -> Callable[[Step], bool]:
    return _message(lambda message: message.shape == shape)


def _form(form: str) -> Callable[[Step], bool]:
    return _message(lambda message: message.form == form)


def _id(style: str) -> Callable[[Step], bool]:
    return _message(lambda message: message.id == style)


def _reply(reply: str) -> Callable[[Step], bool]:
    return _turn(lambda turn: turn.reply == reply)


def _stop(stop: str) -> Callable[[Step], bool]:
    return _turn(lambda turn: turn.stop == stop)


def _view(view: str) -> Callable[[Step], bool]:
    return _turn(lambda turn: any(round_.view == view for round_ in turn.rounds))


def _usage(usage: str) -> Callable[[Step], bool]:
    return _turn(lambda turn: turn.usage == usage)


def _rounds(test: Callable[[int], bool]) -> Callable[[Step], bool]:
    return _turn(lambda turn: test(len(turn.rounds)))


def _load(test: Callable[[LoadTurn], bool]) -> Callable[[Step], bool]:
    return lambda step: isinstance(step, LoadTurn) and bool(step.calls) and test(step)


def _arranged(arrangement: str) -> Callable[[Step], bool]:
    return _load(lambda step: step.arrangement == arrangement)


def _is(kind: type[Step], **values: object) -> Callable[[Step], bool]:
    return lambda step: isinstance(step, kind) and all(getattr(step, k) == v for k, v in values.items())


def _calls(test: Callable[[int], bool]) -> Callable[[Step], bool]:
    return _turn(lambda turn: any(test(len(round_.calls)) for round_ in turn.rounds))


def _call(name: str, value: object) -> Callable[[Step], bool]:
    return _turn(lambda turn: any(getattr(call, name) == value for r in turn.rounds for call in r.calls))


TURN, SHAPES, IDS, CALLS = "user turn", "message shapes", "ids", "tool calls"
CONTINUE, STOP, CLOCK, STATE = "continue", "interrupt, cancel", "advance clock", "change state"
RESTART, REWIND, EDIT, COMPACT = "restart", "rewind", "edit, delete, resend", "compact"
CONFIGURE = "configuration"

DRAWN: tuple[Item, ...] = (
    Item(TURN, "several human messages", "`messages`", _turn(lambda turn: len(turn.messages) > 1)),
    Item(TURN, "some hidden", "`hidden`", _message(lambda message: message.hidden)),
    Item(TURN, "some named", "`name`", _message(lambda message: message.name == "summary")),
    Item(
        TURN,
        "a hidden one as the only request",
        "`hidden`",
        _turn(lambda t: all(m.hidden for m in t.messages)),
    ),
    Item(TURN, "no round of tool calls", "`rounds`", _rounds(lambda rounds: rounds == 0)),
    Item(TURN, "more than 5 rounds", "`rounds`", _rounds(lambda rounds: rounds > 5)),
    Item(TURN, "10 parallel calls", "`calls`", _calls(lambda calls: calls == 10)),
    Item(TURN, "results in another order", "`load_turn`", _arranged("results_reversed")),
    Item(TURN, "results that do not follow their calls", "`load_turn`", _arranged("human_between")),
    Item(TURN, "results missing", "`load_turn`", _arranged("result_missing")),
    Item(TURN, "results missing in a live turn", "`stop` after the calls", _stop("after_calls")),
    Item(TURN, "results duplicated", "`load_turn`", _arranged("result_twice")),
    Item(TURN, "results duplicated in a live turn", "`late_results`, `again`", _is(LateResults, again=True)),
    Item(TURN, "results at the tail", "`load_turn`", _arranged("results_last")),
    Item(TURN, "results at the tail of a live turn", "`late_results`", _is(LateResults, again=False)),
    Item(TURN, "empty reply", "`reply`", _reply("empty")),
    Item(TURN, "filtered reply", "`reply`", _reply("filtered")),
    Item(TURN, "reply cut by length", "`reply`", _reply("cut")),
    Item(SHAPES, "block list", "`shape`", _shape("blocks")),
    Item(SHAPES, "bare strings in a list", "`shape`", _shape("strings")),
    Item(SHAPES, "image, base64", "`shape`", _shape("image")),
    Item(SHAPES, "image, URL", "`shape`", _shape("link")),
    Item(SHAPES, "thinking blocks", "`reply`", _reply("thinking")),
    Item(SHAPES, "None, from the user", "`shape`, as a dict", _shape("none")),
    Item(
        SHAPES,
        "None, in a loaded answer that calls tools",
        "`load_turn`, as dicts",
        _load(lambda s: s.form == "dict"),
    ),
    Item(SHAPES, "empty", "`shape`", _shape("empty")),
    Item(SHAPES, "long", "`words`", _message(lambda message: message.words >= 30)),
    Item(SHAPES, "reminder-like and date-tagged text", "`shape`", _shape("reminder_like")),
    Item(SHAPES, "dict", "`form`", _form("dict")),
    Item(SHAPES, "tuple", "`form`", _form("tuple")),
    Item(SHAPES, "chunk, of the user", "`form`", _form("chunk")),
    Item(SHAPES, "chunk, of the model", "`chunks`", _turn(lambda turn: turn.chunks)),
    Item(SHAPES, "metadata that must be kept", "`metadata`", _turn(lambda turn: turn.metadata)),
    Item(SHAPES, "the same object reused", "`form`", _form("reused")),
    Item(IDS, "None", "`id`", _id("none")),
    Item(IDS, "empty", "`id`", _id("empty")),
    Item(IDS, "suffix at the end", "`id`", _id("suffixed")),
    Item(IDS, "suffix in the middle", "`id`", _id("infixed")),
    Item(IDS, "numeric-looking", "`id`", _id("numeric")),
    Item(IDS, "one id twice in an update", "`id`", _id("twice")),
    Item(IDS, "an id sent again, with new words", "`id`", _id("again")),
    Item(CALLS, "repeated ids across turns", "`repeated_id`", _call("repeated_id", True)),
    Item(CALLS, "repeated ids within a message", "`twin`", _call("twin", True)),
    Item(CALLS, "empty id", "`load_turn`, `naming`", _load(lambda step: step.naming == "empty_id")),
    Item(CALLS, "None id", "`load_turn`, `naming`", _load(lambda step: step.naming == "no_id")),
    Item(CALLS, "empty name", "`load_turn`, `naming`", _load(lambda step: step.naming == "no_name")),
    Item(CALLS, "unparsable arguments", "`kind`", _call("kind", "invalid")),
    Item(CALLS, "raw provider view, too", "`view`", _view("kwargs")),
    Item(CALLS, "content blocks, too", "`view`", _view("blocks")),
    Item(CALLS, "raw provider view only", "`view`", _view("kwargs_only")),
    Item(CALLS, "content blocks only", "`view`", _view("blocks_only")),
    Item(CALLS, "views that disagree", "`view`", _view("differs")),
    Item(CALLS, "usage low", "`usage`", _usage("low")),
    Item(CALLS, "usage high", "`usage`", _usage("high")),
    Item(CALLS, "usage stale", "`usage`", _usage("stale")),
    Item(CONTINUE, "no new message", "`continue`", _is(Continue, resend=False)),
    Item(CONTINUE, "the next day", "`advance_clock` before it", _is(AdvanceClock, minutes=1440)),
    Item(STOP, "before the first answer", "`stop`", _stop("before_answer")),
    Item(STOP, "after the model asked for tools", "`stop`", _stop("after_calls")),
    Item(STOP, "after a tool result", "`stop`", _stop("after_results")),
    Item(CLOCK, "minutes", "`advance_clock`", _is(AdvanceClock, minutes=30)),
    Item(CLOCK, "midnight between turns", "`advance_clock`", _is(AdvanceClock, minutes=1440)),
    Item(CLOCK, "many midnights", "`advance_clock`", _is(AdvanceClock, minutes=43_200)),
    Item(CLOCK, "backwards", "`advance_clock`", _is(AdvanceClock, minutes=-60)),
    Item(STATE, "a new version", "`change_state`", _is(ChangeState, to="new")),
    Item(STATE, "empty", "`change_state`", _is(ChangeState, to="empty")),
    Item(
        STATE,
        "the source fails",
        "faults at `source`",
        _turn(lambda t: any(f.at == "source" for f in t.faults)),
    ),
    Item(RESTART, "new instances, state through the serialiser", "`restart`", _is(Restart, stored="now")),
    Item(RESTART, "old format: LangChain's JSON", "`stored`", _is(Restart, stored="json")),
    Item(RESTART, "old format: dicts", "`stored`", _is(Restart, stored="dicts")),
    Item(REWIND, "regenerate", "`rewind`", _is(Rewind, turns_ago=1, pending=False)),
    Item(REWIND, "edit a late turn", "`edit_message`", _is(EditMessage, turns_ago=1)),
    Item(REWIND, "edit an earlier turn", "`edit_message`", _is(EditMessage, turns_ago=3)),
    Item(REWIND, "branch from an early turn", "`rewind`", _is(Rewind, turns_ago=5)),
    Item(REWIND, "a base with pending tasks", "`rewind`, `pending`", _is(Rewind, pending=True)),
    Item(EDIT, "same-id edit of an old message", "`edit_message`", _is(EditMessage)),
    Item(EDIT, "RemoveMessage of old ids", "`delete_turn`", _is(DeleteTurn)),
    Item(EDIT, "the same message submitted twice", "`continue`, `resend`", _is(Continue, resend=True)),
    Item(EDIT, "REMOVE_ALL with a tail", "`trim_state`", _is(TrimState, how="remove_all")),
    Item(EDIT, "Overwrite", "`trim_state`", _is(TrimState, how="overwrite")),
    Item(COMPACT, "by pressure, over an earlier summary", "long turns", _turn(lambda t: len(t.rounds) > 2)),
    Item(CONFIGURE, "system message in state", "`configure`", _is(Configure, system_in_state=True)),
    Item(CONFIGURE, "two instances of one middleware", "`configure`, `stack`", _is(Configure, stack="twice")),
    Item(CONFIGURE, "order of the stack", "`configure`, `stack`", _is(Configure, stack="reversed")),
    Item(CONFIGURE, "one instance shared by two threads", "`other_thread`", _is(OtherThread)),
)

NOT_DRAWN: tuple[Missing, ...] = (
    Missing(
        SHAPES,
        "None in an answer of the model",
        "LangChain refuses it (`AIMessage.content` is text or a list); null becomes the empty text",
    ),
    Missing(
        TURN,
        "an empty message that gets an empty reply",
        "a turn in which nobody says anything leaves no token: what becomes of it cannot be told",
    ),
    Missing(SHAPES, "bare dict content", "LangChain refuses it, as an object and as a dict"),
    Missing(
        SHAPES,
        "`response_metadata` judged",
        "it is sent (`metadata`), but views hold `additional_kwargs` only, so no check sees it lost",
    ),
    Missing(
        CALLS,
        "empty or None id, empty name in a live turn",
        "the agent's own tool node refuses such calls, with or without middleware; they are loaded",
    ),
    Missing(
        CALLS,
        "raw view only, as of the older API",
        "LangChain parses it into `tool_calls` when a stored message is read: only flat entries last",
    ),
    Missing(CLOCK, "midnight inside a turn", "the clock stands still during a turn, timeouts apart"),
    Missing(STATE, "state that contains the middleware's own markers", "the harness does not know them"),
    Missing(REWIND, "from delta checkpoints", "`6.reducers` plays rewinds on a `DeltaChannel`, unsaved"),
    Missing(COMPACT, "by command", "candidates have no common command; a hook compacts when it wants to"),
    Missing(
        CONFIGURE,
        "run and thread ids missing",
        "a checkpointer refuses to run without a thread id; the run id is never given",
    ),
    Missing(
        CONFIGURE, "two threads within one turn", "the second thread has its turns between those of the first"
    ),
)

ROWS: tuple[str, ...] = tuple(dict.fromkeys(item.row for item in DRAWN))
