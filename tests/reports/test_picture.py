"""Pictures: everything that happened is drawn, and no text of a candidate reaches a terminal as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sixfold.harness.history import FaultFired, Requested, Summarised
from sixfold.harness.play import play
from sixfold.models.catalogue import CATALOGUE
from sixfold.reports.picture import harmless, line, timeline

from ..helpers import agent_of, explored


@given(st.text(max_size=100))
def test_text_is_made_harmless(text: str) -> None:
    clean = harmless(text, 40)
    assert len(clean) <= 40
    assert not {unicodedata.category(char) for char in clean} & {"Cc", "Cf", "Cs"}
    assert clean.splitlines() in ([clean], [])


def test_harmless_text_stays_as_it_is() -> None:
    assert harmless("⟦u1⟧ ask: harbour") == "⟦u1⟧ ask: harbour"


def test_long_text_shows_that_it_was_cut() -> None:
    assert harmless("x" * 50, 10) == "x" * 9 + "…"


def test_empty_state_is_drawn() -> None:
    assert line(()) == "[]"


@pytest.mark.parametrize("name", CATALOGUE)
def test_requests_faults_and_summaries_are_always_drawn(name: str) -> None:
    candidate = CATALOGUE[name]()
    drawn = 0
    for scenario in explored(8, candidate=candidate):
        history = play(agent_of(candidate), scenario).history
        shown = {index for _, _, index in timeline(history)}
        for index, record in enumerate(history.records):
            if isinstance(record, (Requested, FaultFired, Summarised)):
                assert index in shown
                drawn += 1
    assert drawn
