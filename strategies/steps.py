"""Strategies for each step of the vocabulary; both front ends draw from here."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from hypothesis import strategies as st

from ..harness.faults import DEFAULT_WORLD, DEPENDENCIES, HOOKS, PACKAGES, Fault, FaultKind, FaultPlace
from ..harness.steps import (
    AdvanceClock,
    ChangeState,
    EditMessage,
    Restart,
    Step,
    ToolCall,
    ToolRound,
    UserMessage,
    UserTurn,
)

#: Every place at which a fault can strike.
ALL_PLACES: frozenset[FaultPlace] = frozenset(HOOKS) | frozenset(DEPENDENCIES)

_LONG = 30

_ROUND_SHAPES: tuple[tuple[int, ...], ...] = tuple(
    shape for rounds in range(4) for shape in product((1, 2, 3), repeat=rounds)
)

_ROUNDS: dict[bool, tuple[tuple[ToolRound, ...], ...]] = {
    long: tuple(
        tuple(ToolRound(calls=(ToolCall(words=_LONG if long else 2),) * calls) for calls in shape)
        for shape in _ROUND_SHAPES
    )
    for long in (False, True)
}

_MESSAGES: tuple[tuple[UserMessage, ...], ...] = (
    (UserMessage(),),
    (UserMessage(), UserMessage()),
    (UserMessage(words=_LONG),),
)

_MINUTES = (1, 30, 1440, 2880)


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
            if place in DEPENDENCIES:
                faults += [Fault(kind, place), Fault(kind, place, for_good=True)]
            elif kind == "partial_compaction":
                faults += [Fault(kind, place, nth=n, keep=k) for n in (0, 1) for k in (1, 2, 0)]
            else:
                repeated = place in ("before_model", "wrap_model_call", "after_model")
                faults += [Fault(kind, place, nth=n) for n in ((0, 1, 2) if repeated else (0,))]
    return tuple(faults)


def user_turns(
    faults: tuple[Fault, ...], *, fault_odds: int = 3, long: bool = False, max_rounds: int = 3
) -> st.SearchStrategy[UserTurn]:
    """Draw a user turn: one or two messages, up to three rounds of up to three parallel tool calls.

    One turn in `fault_odds` has a fault of `faults`, some have two; 0 means none.
    """
    shapes = [rounds for rounds in _ROUNDS[long] if len(rounds) <= max_rounds]
    rounds = st.one_of(st.sampled_from(shapes[:4]), st.sampled_from(shapes))
    messages = st.sampled_from(_MESSAGES if long else _MESSAGES[:2])
    none: st.SearchStrategy[tuple[Fault, ...]] = st.just(())
    if faults and fault_odds:
        one = st.sampled_from(faults)
        some = st.one_of(st.tuples(one), st.tuples(one), st.tuples(one, one))
        drawn = st.one_of(*[none] * (fault_odds - 1), some)
    else:
        drawn = none
    return st.builds(UserTurn, messages=messages, rounds=rounds, faults=drawn)


def advance_clock() -> st.SearchStrategy[AdvanceClock]:
    """Draw a passage of virtual time, often over midnight."""
    return st.sampled_from([AdvanceClock(minutes=minutes) for minutes in _MINUTES])


def change_state() -> st.SearchStrategy[ChangeState]:
    """Draw a change of the dynamic state."""
    return st.just(ChangeState())


def restart() -> st.SearchStrategy[Restart]:
    """Draw a restart of the process."""
    return st.just(Restart())


def edit_message() -> st.SearchStrategy[EditMessage]:
    """Draw an edit of one of the latest three turns."""
    return st.sampled_from([EditMessage(turns_ago=turns) for turns in (1, 2, 3)])


#: How each kind of step other than a user turn is drawn.
OTHER_STEPS: dict[str, st.SearchStrategy[Step]] = {
    "advance_clock": advance_clock(),
    "change_state": change_state(),
    "restart": restart(),
    "edit_message": edit_message(),
}

#: Faults that any LangGraph middleware can suffer, at any place.
DEFAULT_FAULTS: tuple[Fault, ...] = possible_faults(DEFAULT_WORLD, ALL_PLACES)
