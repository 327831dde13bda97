"""Strategies for each step of the vocabulary; both front ends draw from here."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import get_args

from hypothesis import strategies as st

from ..harness.faults import (
    DEFAULT_WORLD,
    DEPENDENCIES,
    HOOKS,
    PACKAGES,
    BadSummary,
    Fault,
    FaultKind,
    FaultPlace,
)
from ..harness.steps import (
    AdvanceClock,
    Arrangement,
    CallView,
    ChangeState,
    Configure,
    Continue,
    DeleteTurn,
    EditMessage,
    LateResults,
    LoadTurn,
    Naming,
    OtherThread,
    Restart,
    Rewind,
    Step,
    ToolCall,
    ToolRound,
    TrimState,
    UserMessage,
    UserTurn,
)

#: Every place at which a fault can strike.
ALL_PLACES: frozenset[FaultPlace] = frozenset(HOOKS) | frozenset(DEPENDENCIES)

_LONG = 30

_ROUND_SHAPES: tuple[tuple[int, ...], ...] = tuple(
    shape for rounds in range(4) for shape in product((1, 2, 3), repeat=rounds)
)

#: Rounds that are rare and matter: many parallel calls, many rounds, calls that cannot be parsed,
#: call ids that come back in every turn.
_ODD_ROUNDS: tuple[tuple[ToolRound, ...], ...] = (
    *((ToolRound(calls=(ToolCall(repeated_id=True),) * calls),) for calls in (1, 1, 1, 2)),
    (ToolRound(calls=(ToolCall(kind="invalid"),)),),
    (ToolRound(calls=(ToolCall(), ToolCall(kind="invalid"))),),
    (ToolRound(calls=(ToolCall(),) * 8),),
    (ToolRound(calls=(ToolCall(),) * 10),),
    (ToolRound(),) * 6,
)

#: Rounds that are rarer still: one id for two calls, calls that stand in another field, too, or only there.
_RARE_ROUNDS: tuple[tuple[ToolRound, ...], ...] = (
    (ToolRound(calls=(ToolCall(), ToolCall(twin=True))),),
    *((ToolRound(view=view),) for view in get_args(CallView)[1:]),
    (ToolRound(), ToolRound(view="kwargs_only")),
    (ToolRound(), ToolRound(view="blocks_only")),
)


def _rounds(words: int) -> tuple[tuple[ToolRound, ...], ...]:
    return tuple(
        tuple(ToolRound(calls=(ToolCall(words=words),) * calls) for calls in shape) for shape in _ROUND_SHAPES
    )


_ROUNDS: dict[bool, tuple[tuple[ToolRound, ...], ...]] = {False: _rounds(2), True: _rounds(_LONG)}

_MESSAGES: tuple[tuple[UserMessage, ...], ...] = (
    (UserMessage(),),
    (UserMessage(), UserMessage()),
    (UserMessage(words=_LONG),),
)

#: Messages as clients really send them.
_ODD_MESSAGES: tuple[tuple[UserMessage, ...], ...] = (
    *((UserMessage(shape=shape),) for shape in ("blocks", "strings", "image", "empty", "reminder_like")),
    *((UserMessage(form=form),) for form in ("dict", "tuple")),
    *((UserMessage(id=style),) for style in ("none", "suffixed", "numeric")),
    (UserMessage(hidden=True),),
    (UserMessage(), UserMessage(hidden=True)),
    (UserMessage(name="ada"),),
    (UserMessage(name="summary"), UserMessage()),
    (UserMessage(), UserMessage(), UserMessage()),
)

#: The same, rarer.
_RARE_MESSAGES: tuple[tuple[UserMessage, ...], ...] = (
    *((UserMessage(shape=shape),) for shape in ("link", "none")),
    *((UserMessage(id=style),) for style in ("empty", "infixed", "again")),
    (UserMessage(form="chunk"),),
    (UserMessage(form="reused"),),
    (UserMessage(form="reused"), UserMessage()),
    (UserMessage(id="again"), UserMessage()),
    (UserMessage(), UserMessage(id="twice")),
)

#: How often what is odd is drawn for each time that what is rare is.
_ODD_FOR_A_RARE = 3

_REPLIES = ("text",) * 8 + ("empty",) * 4 + ("blocks",) * 4 + ("thinking", "filtered", "cut")

#: A turn in which nobody says anything leaves no token: what becomes of it cannot be told.
_WORDLESS_REPLIES = ("empty", "filtered")


def _is_wordless(message: UserMessage) -> bool:
    return message.shape in ("empty", "none") or message.form == "reused"


_SELDOM = st.sampled_from((False,) * 9 + (True,))

_STOPS = ("before_answer", "after_calls", "after_results")

_MINUTES = (1, 30, 1440, 2880, 43_200, -60, -1440)


def possible_faults(kinds: Iterable[FaultKind], places: Iterable[FaultPlace]) -> tuple[Fault, ...]:
    """Return the faults of these kinds at these places that are worth drawing, simple ones first."""
    wanted_kinds, wanted_places = set(kinds), set(places)
    faults: list[Fault] = []
    for kind, package in PACKAGES.items():
        if kind not in wanted_kinds:
            continue
        for place in package.places:
            if place not in wanted_places:
                continue
            faults += _variants(kind, place)
    return tuple(faults)


def _variants(kind: FaultKind, place: FaultPlace) -> list[Fault]:
    if kind == "bad_summary":
        return [Fault(kind, place, summary=summary) for summary in get_args(BadSummary)]
    if place in DEPENDENCIES and kind != "crash":
        return [Fault(kind, place), Fault(kind, place, for_good=True)]
    if kind == "partial_compaction":
        return [Fault(kind, place, nth=n, keep=k) for n in (0, 1) for k in (1, 2, 0)]
    repeated = place in ("before_model", "wrap_model_call", "after_model", "model", "tool")
    return [Fault(kind, place, nth=n) for n in ((0, 1, 2) if repeated else (0,))]


def user_turns(
    faults: tuple[Fault, ...] = (),
    *,
    fault_odds: int = 3,
    long: bool = False,
    odd: bool = False,
    stops: bool = False,
    usage: bool = False,
    max_rounds: int = 3,
) -> st.SearchStrategy[UserTurn]:
    """Draw a user turn: one or two messages, up to three rounds of up to three parallel tool calls.

    One turn in `fault_odds` has a fault of `faults`, some have two; 0 means none. `odd` adds message
    shapes, ids and tool calls as clients really send them, `stops` turns that end before their end,
    `usage` usage metadata.
    """
    shapes = [rounds for rounds in _ROUNDS[long] if len(rounds) <= max_rounds]
    rounds = st.one_of(st.sampled_from(shapes[:4]), st.sampled_from(shapes))
    messages = st.sampled_from(_MESSAGES if long else _MESSAGES[:2])
    extra: dict[str, st.SearchStrategy[object]] = {}
    if odd:
        rounds = st.one_of(rounds, st.sampled_from(_ODD_ROUNDS * _ODD_FOR_A_RARE + _RARE_ROUNDS))
        messages = st.one_of(messages, st.sampled_from(_ODD_MESSAGES * _ODD_FOR_A_RARE + _RARE_MESSAGES))
        extra["reply"] = st.sampled_from(_REPLIES)
        extra["chunks"] = _SELDOM
        extra["metadata"] = _SELDOM
    if stops:
        extra["stop"] = st.one_of(st.none(), st.sampled_from(_STOPS))
    if usage:
        extra["usage"] = st.sampled_from(("none", "high", "low", "none", "high", "low", "stale"))
    if faults and fault_odds:
        one = st.sampled_from(faults)
        some = st.one_of(st.tuples(one), st.tuples(one), st.tuples(one, one))
        none: st.SearchStrategy[tuple[Fault, ...]] = st.just(())
        extra["faults"] = st.one_of(*[none] * (fault_odds - 1), some)

    @st.composite
    def user_turn(draw: st.DrawFn) -> UserTurn:
        drawn = {name: draw(strategy) for name, strategy in extra.items()}
        sent = draw(messages)
        if drawn.get("reply") in _WORDLESS_REPLIES and all(map(_is_wordless, sent)):
            del drawn["reply"]
        return UserTurn(messages=sent, rounds=draw(rounds), **drawn)  # type: ignore[arg-type]

    return user_turn()


def continues(faults: tuple[Fault, ...] = ()) -> st.SearchStrategy[Continue]:
    """Draw a run without new words: a resumption, a retry, a message sent again."""
    rounds = st.sampled_from(_ROUNDS[False][:5])
    drawn = st.one_of(st.just(()), st.tuples(st.sampled_from(faults))) if faults else st.just(())
    return st.builds(Continue, rounds=rounds, resend=st.booleans(), faults=drawn)


def load_turn() -> st.SearchStrategy[LoadTurn]:
    """Draw a turn of an earlier conversation, in any arrangement, seldom with calls that are named badly."""
    arrangements = get_args(Arrangement)
    return st.builds(
        LoadTurn,
        calls=st.sampled_from((0, 1, 2, 3)),
        arrangement=st.sampled_from(arrangements),
        form=st.sampled_from(("message",) * 7 + ("dict",)),
        naming=st.sampled_from(("usual",) * 12 + get_args(Naming)[1:]),
    )


def late_results() -> st.SearchStrategy[LateResults]:
    """Draw results that come late, or once more."""
    return st.sampled_from((LateResults(), LateResults(again=True)))


def other_thread() -> st.SearchStrategy[OtherThread]:
    """Draw a turn of a second thread."""
    return st.sampled_from([OtherThread(rounds=rounds) for rounds in ((), (ToolRound(),))])


def advance_clock() -> st.SearchStrategy[AdvanceClock]:
    """Draw a passage of virtual time, often over midnight."""
    return st.sampled_from([AdvanceClock(minutes=minutes) for minutes in _MINUTES])


def change_state() -> st.SearchStrategy[ChangeState]:
    """Draw a change of the dynamic state, sometimes to nothing."""
    return st.sampled_from((ChangeState(), ChangeState(), ChangeState(to="empty")))


def restart() -> st.SearchStrategy[Restart]:
    """Draw a restart of the process, sometimes from what an earlier version stored."""
    return st.sampled_from((Restart(),) * 4 + (Restart(stored="json"), Restart(stored="dicts")))


def edit_message() -> st.SearchStrategy[EditMessage]:
    """Draw an edit of one of the latest three turns."""
    return st.sampled_from([EditMessage(turns_ago=turns) for turns in (1, 2, 3)])


def delete_turn() -> st.SearchStrategy[DeleteTurn]:
    """Draw the deletion of one of the latest three turns."""
    return st.sampled_from([DeleteTurn(turns_ago=turns) for turns in (1, 2, 3)])


def trim_state() -> st.SearchStrategy[TrimState]:
    """Draw a client's own trimming of the history."""
    return st.builds(
        TrimState, keep=st.sampled_from((1, 2, 0)), how=st.sampled_from(("remove_all", "overwrite"))
    )


def rewind() -> st.SearchStrategy[Rewind]:
    """Draw a return to the state before one of the latest turns, sometimes to go on there."""
    back = [Rewind(turns_ago=turns) for turns in (1, 2, 3)]
    return st.sampled_from([*back, *back, Rewind(turns_ago=5), Rewind(pending=True)])


def configure() -> st.SearchStrategy[Configure]:
    """Draw a way to run the session, seldom with the stack put together in another way."""
    usual = (
        Configure(run_async=True),
        Configure(system_in_state=True),
        Configure(run_async=True, system_in_state=True),
    )
    return st.sampled_from((*usual * 4, Configure(stack="twice"), Configure(stack="reversed")))


#: How each kind of step other than a user turn is drawn.
OTHER_STEPS: dict[str, st.SearchStrategy[Step]] = {
    "advance_clock": advance_clock(),
    "change_state": change_state(),
    "restart": restart(),
    "edit_message": edit_message(),
    "continue": continues(),
    "load_turn": load_turn(),
    "late_results": late_results(),
    "other_thread": other_thread(),
    "delete_turn": delete_turn(),
    "trim_state": trim_state(),
    "rewind": rewind(),
    "configure": configure(),
}

#: Faults that any LangGraph middleware can suffer, at any place.
DEFAULT_FAULTS: tuple[Fault, ...] = possible_faults(DEFAULT_WORLD, ALL_PLACES)
