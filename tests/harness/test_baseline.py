"""Accepted findings: known, new, expired and unobserved on a given day; an update keeps what people wrote."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from sixfold.cli.baseline import read, write
from sixfold.harness.baseline import Accepted, Baseline, Observed, Scope
from sixfold.harness.errors import SixfoldError

DAY = date(2026, 5, 1)
ALL = Scope(frozenset({"mine"}))
OLD = Accepted(id="SF-1", candidate="mine", code="2.reorder", reason="rewrite in June", owner="team")
SEEN = Observed("SF-1", "mine", "2.reorder")
OTHER = Observed("SF-2", "mine", "4.hole")


def test_findings_are_known_until_the_last_day_of_their_entry() -> None:
    ends = Baseline((replace(OLD, expires=DAY),))
    assert ends.sort([SEEN, OTHER], ALL, DAY).accepted == {"SF-1"}
    assert ends.sort([SEEN, OTHER], ALL, DAY).new == (OTHER,)
    after = ends.sort([SEEN], ALL, date(2026, 5, 2))
    assert not after.accepted
    assert [entry.id for entry in after.expired] == ["SF-1"]


@pytest.mark.parametrize(
    ("scope", "unobserved"),
    [(ALL, 1), (Scope(frozenset({"other"})), 0), (replace(ALL, invariants=(4,)), 0)],
)
def test_only_what_could_have_been_seen_is_unobserved(scope: Scope, unobserved: int) -> None:
    assert len(Baseline((OLD,)).sort([], scope, DAY).unobserved) == unobserved


def test_an_update_keeps_reasons_and_drops_entries_that_nobody_explained() -> None:
    gone = Accepted(id="SF-3", candidate="mine", code="4.hole")
    elsewhere = Accepted(id="SF-4", candidate="theirs", code="4.hole")
    updated = Baseline((OLD, gone, elsewhere)).updated([OTHER], ALL)
    assert updated.entries == (
        OLD,
        elsewhere,
        Accepted(id="SF-2", candidate="mine", code="4.hole"),
    )


@pytest.mark.parametrize("name", ["accepted.toml", "accepted.json"])
def test_a_file_gives_back_what_was_written(tmp_path: Path, name: str) -> None:
    odd = replace(OLD, reason='says "\\" and ⟦u1⟧ 🙂', expires=DAY)
    write(tmp_path / name, Baseline((odd,)))
    assert read(tmp_path / name).entries == (odd,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("accepted = 3", "list called accepted"),
        ("[[accepted]]\nid = 'x'", "entry 1 has no candidate"),
        ("[[accepted]]\nid = 'x'\ncandidate = 'm'\ncode = '2.x'\nexpires = 'soon'", "no date"),
        ("[[accepted]]\nid = 'x'\ncandidate = 'm'\ncode = '2.x'\nuntil = 1", "'until'"),
        ("[[accepted]]\nid = 'x'\ncandidate = 'm'\ncode = '2.x'\n" * 2, "accepted twice"),
    ],
)
def test_a_damaged_file_is_refused_with_the_place(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(SixfoldError, match=why):
        read(tmp_path / "b.toml")
