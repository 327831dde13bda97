"""Both lanes record the same history, record by record; what they cannot do alike is found here."""

import pytest

from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes
from sixfold.harness.history import HookRan, Mutated, TurnEnded
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import STEP_TYPES, Continue, LoadTurn, ToolCall, ToolRound, UserTurn
from sixfold.models.catalogue import CATALOGUE

from ..correct import CORRECT
from ..helpers import agent_of, explored, graph_agent_of, scenario_of
from ..planted import PLANTED
from .stricken import ASYNC, LOUD

FEW, MANY = 5, 60
TWO_CALLS = ToolRound(calls=(ToolCall(), ToolCall()))
# One of each kind: prompt, update by id, whole list, cut, summary, early end.
HANDFUL = (
    "1.stale-state",
    "2.id-growth",
    "3.attach-not-latest",
    "4.hole",
    "5.regenerated",
    "6.ends-silently",
)
KNOWN = [load() for load in CATALOGUE.values()]
SMALL = [
    *(candidate for item in PLANTED.values() for candidate in (item.flawed, item.correct)),
    *CORRECT.values(),
]


def assert_lanes_agree(candidate: Candidate, histories: int) -> None:
    agent, graph_agent = agent_of(candidate), graph_agent_of(candidate)
    for scenario in explored(histories, candidate=candidate):
        reducer = play(agent, scenario).history
        graph = play(graph_agent, scenario, lane="graph").history
        assert compare_lanes(reducer, graph) is None, scenario
        ended = sum(isinstance(record, TurnEnded) for record in reducer.records)
        assert ended >= sum(isinstance(step, UserTurn) for step in scenario.steps)


def test_the_scenarios_are_the_whole_vocabulary() -> None:
    assert {type(step) for scenario in explored(300) for step in scenario.steps} == set(STEP_TYPES)


@pytest.mark.parametrize("candidate", KNOWN, ids=lambda candidate: candidate.name)
def test_lanes_agree_on_the_catalogue(candidate: Candidate) -> None:
    assert_lanes_agree(candidate, FEW)


@pytest.mark.parametrize("code", HANDFUL)
def test_lanes_agree_on_planted_flaws(code: str) -> None:
    assert_lanes_agree(PLANTED[code].flawed, FEW)
    assert_lanes_agree(PLANTED[code].correct, FEW)


@pytest.mark.parametrize("candidate", [LOUD, ASYNC], ids=lambda candidate: candidate.name)
def test_lanes_agree_where_every_fault_can_strike(candidate: Candidate) -> None:
    assert_lanes_agree(candidate, 4 * FEW)


#: Histories that the lanes once recorded differently.
DIFFERED = [
    # Limits count in channels that no checkpoint keeps: an interrupt before each tool call sets them back.
    (
        CORRECT["call-limits"],
        scenario_of(UserTurn(rounds=(ToolRound(), TWO_CALLS), stop="after_calls")),
    ),
    # The first hook after a load is shown messages that no fold has shown before.
    (PLANTED["2.mutated-in-place"].flawed, scenario_of(LoadTurn(), Continue())),
]


@pytest.mark.parametrize(("candidate", "scenario"), DIFFERED, ids=lambda value: getattr(value, "name", ""))
def test_lanes_agree_where_they_once_did_not(candidate: Candidate, scenario: Scenario) -> None:
    reducer = play(agent_of(candidate), scenario).history
    graph = play(graph_agent_of(candidate), scenario, lane="graph").history
    assert any(isinstance(record, HookRan | Mutated) for record in graph.records)
    assert compare_lanes(reducer, graph) is None


@pytest.mark.slow
@pytest.mark.parametrize("candidate", [*KNOWN, *SMALL], ids=lambda candidate: candidate.name)
def test_lanes_agree_in_many_histories(candidate: Candidate) -> None:
    assert_lanes_agree(candidate, MANY)
