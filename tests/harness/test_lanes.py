"""Both lanes record the same history, record by record; what they cannot do alike is found here."""

import pytest

from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import compare_lanes
from sixfold.harness.play import play
from sixfold.models.catalogue import CATALOGUE

from ..correct import CORRECT
from ..helpers import agent_of, explored, graph_agent_of
from ..planted import PLANTED

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
        assert len(reducer.records) >= len(scenario.steps)


@pytest.mark.parametrize("candidate", KNOWN, ids=lambda candidate: candidate.name)
def test_lanes_agree_on_the_catalogue(candidate: Candidate) -> None:
    assert_lanes_agree(candidate, 60)


@pytest.mark.parametrize("candidate", SMALL, ids=lambda candidate: candidate.name)
def test_lanes_agree_on_small_candidates(candidate: Candidate) -> None:
    assert_lanes_agree(candidate, 6)


@pytest.mark.slow
@pytest.mark.parametrize("candidate", SMALL, ids=lambda candidate: candidate.name)
def test_lanes_agree_on_small_candidates_in_many_histories(candidate: Candidate) -> None:
    assert_lanes_agree(candidate, 60)
