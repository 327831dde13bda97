"""The plan front end: `scenarios()` draws whole scenarios, `explore` feeds them to a visitor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import get_args

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from ..harness.faults import DEFAULT_WORLD, DEPENDENCIES, FaultKind, FaultPlace
from ..harness.scenario import Scenario
from ..harness.steps import Arrangement, LoadTurn, Rewind, Step
from .steps import ALL_PLACES, OTHER_STEPS, configure, continues, possible_faults, user_turns

#: Steps of a drawn scenario, at most.
MAX_STEPS = 10

#: Examples of one Hypothesis run. After ten examples Hypothesis starts to mutate what it drew: five near
#: copies for every fresh example. Short runs keep scenarios diverse.
_RUN = 10

_FRUITLESS_RUNS = 20

_MORE = st.sampled_from((True, True, True, True, False))
_CONFIGURED = st.sampled_from((False, False, True))
_CONFIGURATION = configure()

#: Turns that other clients and crashes left in disorder, with calls enough for a cut to fall between
#: them. Calls before their results matter most: a cut that looks for the nearest call finds the wrong one.
_DISORDERED = st.sampled_from(
    [
        LoadTurn(calls=calls, arrangement=arrangement)
        for arrangement in ("consecutive_calls", "consecutive_calls", *get_args(Arrangement))
        for calls in (2, 3)
        if arrangement != "in_order"
    ]
)


@functools.lru_cache(maxsize=32)
def _swarms(
    kinds: frozenset[FaultKind], places: frozenset[FaultPlace]
) -> tuple[st.SearchStrategy[Step], ...]:
    """Return one step strategy for each swarm profile, from calm to eventful."""
    faults = possible_faults(kinds, places)
    skips = tuple(fault for fault in faults if fault.kind in ("skip", "lose", "timeout", "late"))
    dependencies = tuple(fault for fault in faults if fault.at in DEPENDENCIES)
    quiet = [OTHER_STEPS[name] for name in ("advance_clock", "change_state", "restart", "edit_message")]
    clients = [
        OTHER_STEPS[name] for name in ("edit_message", "delete_turn", "trim_state", "rewind", "restart")
    ]
    resumptions = st.one_of(continues(), OTHER_STEPS["late_results"], st.just(Rewind(pending=True)))
    everything = [OTHER_STEPS[name] for name in sorted(OTHER_STEPS)]
    return (
        user_turns(),
        user_turns(skips, fault_odds=2),
        user_turns(faults, fault_odds=3),
        st.one_of(user_turns(), user_turns(), *quiet),
        user_turns(dependencies, fault_odds=2, long=True),
        st.one_of(user_turns(faults, fault_odds=2), user_turns(skips, fault_odds=2), *quiet),
        st.one_of(user_turns(faults, fault_odds=3, max_rounds=1), OTHER_STEPS["advance_clock"]),
        st.one_of(user_turns(odd=True), user_turns(faults, odd=True)),
        st.one_of(user_turns(stops=True), user_turns(stops=True), continues(faults), resumptions),
        st.one_of(user_turns(), user_turns(odd=True), OTHER_STEPS["load_turn"], OTHER_STEPS["load_turn"]),
        st.one_of(_DISORDERED, _DISORDERED, continues(), continues(), user_turns(max_rounds=1)),
        st.one_of(user_turns(), user_turns(skips), user_turns(), *clients, OTHER_STEPS["other_thread"]),
        st.one_of(user_turns(max_rounds=1), user_turns(max_rounds=1), *clients, OTHER_STEPS["change_state"]),
        st.one_of(user_turns(usage=True), user_turns(dependencies, usage=True, fault_odds=2)),
        st.one_of(
            user_turns(faults, long=True, odd=True), user_turns(faults, stops=True), user_turns(), *everything
        ),
    )


def scenarios(
    *,
    kinds: frozenset[FaultKind] = DEFAULT_WORLD,
    places: frozenset[FaultPlace] = ALL_PLACES,
    max_steps: int = MAX_STEPS,
) -> st.SearchStrategy[Scenario]:
    """Draw scenarios of up to `max_steps` steps, with faults of `kinds` at `places`."""
    swarms = _swarms(kinds, places)
    profile = st.integers(0, len(swarms) - 1)

    @st.composite
    def plan(draw: st.DrawFn) -> Scenario:
        step = swarms[draw(profile)]
        steps: list[Step] = []
        if draw(_CONFIGURED):
            steps.append(draw(_CONFIGURATION))
        steps.append(draw(step))
        while len(steps) < max_steps and draw(_MORE):
            steps.append(draw(step))
        return Scenario(tuple(steps))

    return plan()


def explore(
    visit: Callable[[Scenario], None],
    *,
    seed: int,
    count: int,
    kinds: frozenset[FaultKind] = DEFAULT_WORLD,
    places: frozenset[FaultPlace] = ALL_PLACES,
) -> None:
    """Hand up to `count` scenarios to `visit`, each once: the same ones for the same seed.

    Errors that `visit` raises end the exploration and are raised unchanged.
    """
    stopped: list[BaseException] = []
    seen: set[Scenario] = set()

    @settings(
        max_examples=_RUN,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(scenarios(kinds=kinds, places=places))
    def generate(scenario: Scenario) -> None:
        if stopped or len(seen) >= count or scenario in seen:
            return
        seen.add(scenario)
        try:
            visit(scenario)
        except BaseException as error:  # noqa: BLE001  Hypothesis would replay the scenario to reproduce it
            stopped.append(error)

    fruitless = 0
    run = 0
    while len(seen) < count and fruitless < _FRUITLESS_RUNS:
        before = len(seen)
        with_seed(f"{seed}/{run}")(generate)()
        run += 1
        fruitless = 0 if len(seen) > before else fruitless + 1
        if stopped:
            raise stopped[0]
