"""Candidates that are correct by their own rules: in thousands of histories under all faults, no finding."""

import pytest

from sixfold.harness.agent import build_agent
from sixfold.harness.campaign import seed_of_round
from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.search import Search
from sixfold.models.catalogue import CATALOGUE

from ..corpus.targets.correct import IDLE
from ..correct import CORRECT
from ..helpers import explore

BATCH = 100


# What the candidate is known to do, and says so: the edits of a request break its cached prefix.
APART_FROM = {"langchain.context_editing": {"5.prefix-broken"}}

OWN_RULES = {
    **{
        name: CATALOGUE[name]()
        for name in (
            "deerflow",
            "production",
            "production.canvas",
            "production.envelope",
            "production.metadata",
            "production.fold",
            "langchain.context_editing",
        )
    },
    "does-nothing": IDLE,
    "date-in-prompt": CORRECT["date-in-prompt"],
}


def blamed_for(candidate: Candidate, *, histories: int) -> set[str]:
    """Return the codes that a campaign finds on the candidate, comparisons included."""
    agents = [build_agent(each, direct=True) for each in (CONTROL, candidate)]
    search = Search(agents)
    kinds = frozenset(candidate.contract.suffers)
    places = frozenset(place for agent in agents for place in agent.places())
    for number in range(histories // BATCH):
        explore(search.visit, seed=seed_of_round(0, number), count=BATCH, kinds=kinds, places=places)
    assert search.histories == histories
    return set(search.tallies[candidate.name].violations) - APART_FROM.get(candidate.name, set())


@pytest.mark.parametrize("name", OWN_RULES)
def test_nothing_is_found_on_a_candidate_that_is_correct_by_its_own_rules(name: str) -> None:
    assert blamed_for(OWN_RULES[name], histories=100) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN_RULES)
def test_nothing_is_found_in_five_thousand_histories(name: str) -> None:
    assert blamed_for(OWN_RULES[name], histories=5_000) == set()
