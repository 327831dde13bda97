"""Correct middleware of many styles: a violation on one of them is a flaw in a check's definition."""

import pytest

from sixfold.harness.faults import Fault
from sixfold.harness.on_wire import WIRE_ONLY
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import (
    ChangeState,
    Configure,
    Continue,
    DeleteTurn,
    LateResults,
    LoadTurn,
    Rewind,
    ToolCall,
    ToolRound,
    TrimState,
    UserMessage,
    UserTurn,
)
from sixfold.models.catalogue import CATALOGUE

from ..corpus.targets.correct import IDLE
from ..correct import CORRECT
from ..helpers import SEED, assert_never_violates, codes, scenario_of, serialisers_for

ROUND = ToolRound()
TWO_CALLS = ToolRound(calls=(ToolCall(), ToolCall()))
THREE_CALLS = ToolRound(calls=(ToolCall(), ToolCall(), ToolCall()))
SKIPPED = (Fault("skip", "before_agent"),)

#: Histories in which a check once blamed a correct candidate, or might easily.
TEMPTING: list[tuple[str, Scenario]] = [
    ("reminder-at-the-end", scenario_of(UserTurn(rounds=(ROUND,)))),
    ("snapshot-of-the-turn", scenario_of(UserTurn(rounds=(ROUND,), faults=SKIPPED), UserTurn())),
    (
        "snapshot-of-the-turn",
        scenario_of(UserTurn(), ChangeState(), UserTurn(rounds=(ROUND, ROUND), faults=SKIPPED)),
    ),
    (
        "note-of-the-turn",
        scenario_of(UserTurn(), ChangeState(), UserTurn(rounds=(ROUND, ROUND), faults=SKIPPED)),
    ),
    ("clear-old-results", scenario_of(UserTurn(rounds=(ROUND,)), UserTurn())),
    ("clear-old-results", scenario_of(UserTurn(rounds=(ROUND, ROUND)), UserTurn())),
    (
        "clear-all-but-the-newest",
        scenario_of(UserTurn(rounds=(ROUND, ToolRound(calls=(ToolCall(), ToolCall()))))),
    ),
    ("fold-refusals", scenario_of(UserTurn())),
    ("tag-the-question", scenario_of(UserTurn(messages=(UserMessage(hidden=True),)))),
    ("note-of-the-turn", scenario_of(UserTurn(), ChangeState(to="empty"), UserTurn())),
    ("fold-afterwards", scenario_of(UserTurn(), TrimState(), UserTurn())),
    ("fold-into-system", scenario_of(UserTurn(), UserTurn(), TrimState(), UserTurn())),
    ("fold-into-system", scenario_of(Configure(system_in_state=True), UserTurn(), UserTurn(), UserTurn())),
    ("summarise-and-decorate", scenario_of(UserTurn(), UserTurn(), Rewind(), UserTurn())),
    ("summarise-and-decorate", scenario_of(UserTurn(), UserTurn(), Continue(), Continue())),
    ("offload-results", scenario_of(UserTurn(rounds=(ROUND,)), TrimState(), UserTurn())),
    ("offload-results", scenario_of(UserTurn(rounds=(ROUND,)), DeleteTurn(), UserTurn())),
    ("clear-all-but-the-newest", scenario_of(UserTurn(rounds=(TWO_CALLS,)), TrimState(), UserTurn())),
    ("clear-all-but-the-newest", scenario_of(UserTurn(rounds=(TWO_CALLS,)), DeleteTurn(), UserTurn())),
    ("call-limits", scenario_of(UserTurn(rounds=(THREE_CALLS,)), TrimState(), UserTurn())),
    (
        "mend-calls",
        scenario_of(
            UserTurn(rounds=(ROUND,), faults=(Fault("raise", "tool"),)),
            UserTurn(faults=(Fault("skip", "wrap_model_call"),)),
        ),
    ),
    ("mend-calls", scenario_of(LoadTurn(calls=2, arrangement="results_last"), UserTurn())),
    ("fold-refusals", scenario_of(UserTurn(), UserTurn(messages=(UserMessage(), UserMessage())))),
]


@pytest.mark.parametrize(
    ("name", "scenario"), TEMPTING, ids=[f"{name}-{number}" for number, (name, _) in enumerate(TEMPTING)]
)
def test_correct_candidate_is_not_blamed(name: str, scenario: Scenario) -> None:
    assert codes(CORRECT[name], scenario) == set()


MODEL_FAILS = (Fault("raise", "model"),)
ASKED_AGAIN = UserTurn(rounds=(ToolRound(calls=(ToolCall(repeated_id=True),)),))
OPEN = Continue(rounds=(ROUND,))

#: The same of candidates of the catalogue, control among them.
TEMPTING_THERE: list[tuple[str, Scenario]] = [
    # A request shows the open call, which is answered in its place later.
    (
        "control",
        scenario_of(
            UserTurn(rounds=(ROUND,), stop="after_calls"),
            Continue(resend=True, faults=MODEL_FAILS),
            LateResults(),
        ),
    ),
    # What is open there was asked in a turn that was withdrawn.
    (
        "langchain.human_decides",
        scenario_of(
            UserTurn(),
            UserTurn(),
            Rewind(pending=True),
            OPEN,
            UserTurn(),
            Rewind(pending=True),
            Continue(),
            Continue(),
        ),
    ),
    # The result of a turn that stays answers a call whose id is there once more.
    ("langchain.human_decides", scenario_of(ASKED_AGAIN, ASKED_AGAIN, DeleteTurn(), UserTurn())),
]


@pytest.mark.parametrize(
    ("name", "scenario"),
    TEMPTING_THERE,
    ids=[f"{name}-{number}" for number, (name, _) in enumerate(TEMPTING_THERE)],
)
def test_candidate_of_the_catalogue_is_not_blamed(name: str, scenario: Scenario) -> None:
    assert codes(CATALOGUE[name](), scenario, comparing=True) == set()


def test_a_message_of_the_user_without_content_is_not_held_against_a_candidate() -> None:
    # What control sends beside it are results, which the same message holds for a provider.
    stopped = UserTurn(rounds=(ROUND,), stop="after_results")
    scenario = scenario_of(stopped, UserTurn(messages=(UserMessage(shape="none"),)))
    with serialisers_for(WIRE_ONLY):
        assert codes(CATALOGUE["langchain.human_rejects"](), scenario, comparing=True) == set()


def test_a_turn_whose_last_answer_was_empty_does_not_end_silently_when_it_is_resumed() -> None:
    crash = (Fault("crash", "after_model"),)
    assert codes(IDLE, scenario_of(UserTurn(reply="filtered", faults=crash), Continue())) == set()


@pytest.mark.parametrize("name", CORRECT)
def test_correct_candidate_is_clean(name: str) -> None:
    assert_never_violates(CORRECT[name], histories=100)


@pytest.mark.parametrize("name", CORRECT)
def test_correct_candidate_is_clean_however_it_is_told(name: str) -> None:
    assert_never_violates(CORRECT[name], histories=20, seed=SEED + 1, comparing=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", CORRECT)
def test_correct_candidate_is_clean_however_it_is_told_in_many_histories(name: str) -> None:
    assert_never_violates(CORRECT[name], histories=300, comparing=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", CORRECT)
def test_correct_candidate_is_clean_in_many_histories(name: str) -> None:
    for seed in range(5):
        assert_never_violates(CORRECT[name], histories=500, seed=seed)
