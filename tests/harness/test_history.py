"""Histories: they survive their file, and are judged from there as they were at first."""

import pytest

from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import try_out
from sixfold.harness.history import history_from_json, history_to_json
from sixfold.harness.invariants.reading import Reading
from sixfold.harness.invariants.registry import judge
from sixfold.models.catalogue import CATALOGUE
from sixfold.models.deerflow import DEERFLOW_4667

from ..helpers import agent_of, explored, scenario_of
from ..planted import PLANTED

CANDIDATES = [*(load() for load in CATALOGUE.values()), *(item.flawed for item in PLANTED.values())]


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: candidate.name)
def test_history_from_disk_is_judged_the_same(candidate: Candidate) -> None:
    seen = 0
    for scenario in explored(6, candidate=candidate):
        trial = try_out(agent_of(candidate), scenario)
        text = history_to_json(trial.history)
        again = history_from_json(text)
        assert again == trial.history
        assert history_to_json(again) == text
        judged = judge(Reading(trial.reading.ledger, again), candidate.contract)
        assert tuple(judged) == trial.judged
        seen += len(again.records)
    assert seen


def test_growing_history_is_read_as_a_whole_one() -> None:
    for scenario in explored(20, candidate=DEERFLOW_4667):
        trial = try_out(agent_of(DEERFLOW_4667), scenario)
        records, growing = trial.history.records, history_from_json(history_to_json(trial.history))
        growing.records = []
        reading = Reading(trial.reading.ledger, growing)
        for record in records:
            growing.records.append(record)
            reading.follow()
        assert reading.changes == trial.reading.changes
        assert reading.sights == trial.reading.sights


@pytest.mark.parametrize(
    "damage", [lambda t: t.replace(": 1,", ": 2,", 1), lambda t: t.replace('"Fold"', '"Folded"', 1)]
)
def test_damaged_history_is_refused(damage) -> None:  # type: ignore[no-untyped-def]
    from sixfold.harness.steps import UserTurn

    text = history_to_json(try_out(agent_of(DEERFLOW_4667), scenario_of(UserTurn())).history)
    with pytest.raises((ValueError, KeyError)):
        history_from_json(damage(text))
