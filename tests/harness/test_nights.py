"""Nights: statuses, a ledger that counts once and survives kills, shards that can be played again."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from sixfold.harness.candidate import Candidate
from sixfold.harness.errors import SixfoldError
from sixfold.harness.faults import Fault
from sixfold.harness.nights.ledger import FindingsLedger
from sixfold.harness.nights.shard import (
    FoundThere,
    Known,
    Shard,
    ShardResult,
    play_shard,
    replayed,
    result_from_json,
    result_to_json,
    seed_of_shard,
    shard_from_json,
    shard_to_json,
)
from sixfold.harness.nights.status import Replayed, Status, status_after
from sixfold.harness.scenario import Scenario, to_json
from sixfold.harness.steps import UserTurn
from sixfold.harness.subject import Local
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667

from ..helpers import agent_of, explore, scenario_of

STORY = scenario_of(UserTurn(faults=(Fault("skip", "before_agent"),)), UserTurn())
STALE = Known("mine", "3.stale-question", "Mine.before_agent", ("skip",), to_json(STORY))


@pytest.mark.parametrize(
    ("before", "seen", "replayed", "after"),
    [
        (None, True, None, "new"),
        ("new", True, None, "known"),
        ("new", False, "fails", "known"),
        ("known", False, "passes", "fixed"),
        ("known", False, None, "unobserved"),
        ("unobserved", False, None, "unobserved"),
        ("unobserved", False, "passes", "fixed"),
        ("unobserved", True, None, "known"),
        ("fixed", False, "passes", "fixed"),
        ("fixed", False, None, "fixed"),
        ("fixed", True, None, "returned"),
        ("fixed", False, "fails", "returned"),
        ("returned", False, "fails", "known"),
        ("closed", False, "passes", "closed"),
        ("closed", True, None, "returned"),
    ],
)
def test_status(before: Status | None, seen: bool, replayed: Replayed | None, after: Status) -> None:
    assert status_after(before, seen=seen, replayed=replayed) == after


def found(known: Known = STALE) -> FoundThere:
    return FoundThere(
        known=known, detail="…", minimal=True, confirmed=True, members=(), held_by=("control",), histories=3
    )


def result(number: int = 0, *, of: tuple[FoundThere, ...] = (found(),), histories: int = 10) -> ShardResult:
    seen = tuple((f.known.candidate, f.known.code, f.known.by) for f in of)
    return ShardResult(number=number, histories=histories, complete=True, candidates={}, found=of, seen=seen)


@pytest.fixture
def ledger(tmp_path: Path) -> FindingsLedger:
    return FindingsLedger(tmp_path / "findings.db")


def test_shard_counts_once(ledger: FindingsLedger) -> None:
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    assert ledger.record(night, result()) == [STALE.signature.id()]
    assert ledger.record(night, result()) == []
    assert ledger.record(night, result(1)) == []
    assert [n.histories for n in ledger.nights()] == [20]
    assert len(ledger.findings()) == 1


def test_smallest_witness_is_kept(ledger: FindingsLedger) -> None:
    long = replace(STALE, scenario=to_json(Scenario((*STORY.steps, UserTurn()))))
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    ledger.record(night, result(0, of=(found(long),)))
    ledger.record(night, result(1, of=(found(),)))
    ledger.record(night, result(2, of=(found(long),)))
    [entry] = ledger.findings()
    assert entry.known == STALE


def test_finding_that_needs_more_faults_than_a_known_one_is_none(ledger: FindingsLedger) -> None:
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    ledger.record(night, result(0))
    assert ledger.record(night, result(1, of=(found(replace(STALE, faults=("lose", "skip"))),))) == []
    assert len(ledger.findings()) == 1


def closed_night(
    ledger: FindingsLedger, played: ShardResult, replayed: dict[str, Replayed]
) -> dict[str, Status]:
    """A night that replays witnesses, records one shard and tells everything."""
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    ledger.record(night, played, {key for key, what in replayed.items() if what == "passes"})
    statuses = ledger.close_night(night, replayed)
    ledger.tell(statuses)
    ledger.end_night(night, 1.0, "complete")
    return statuses


def test_statuses_over_four_nights(ledger: FindingsLedger) -> None:
    key = STALE.signature.id()
    nights: tuple[tuple[ShardResult, dict[str, Replayed]], ...] = (
        (result(), {}),
        (result(of=()), {key: "fails"}),
        (result(of=()), {key: "passes"}),
        (result(), {key: "fails"}),
        (result(of=()), {}),
    )
    told = [closed_night(ledger, *each)[key] for each in nights]
    assert told == ["new", "known", "fixed", "returned", "unobserved"]
    [entry] = ledger.findings()
    assert (entry.first_night, entry.last_night) == (1, 4)


LONG = replace(STALE, scenario=to_json(Scenario((*STORY.steps, UserTurn()))))


def test_half_a_fix_does_not_hide_what_is_found_another_way(ledger: FindingsLedger) -> None:
    key = STALE.signature.id()
    assert closed_night(ledger, result(), {}) == {key: "new"}
    assert closed_night(ledger, result(of=(found(LONG),)), {key: "passes"}) == {key: "known"}
    [entry] = ledger.findings()
    assert entry.known == LONG
    assert closed_night(ledger, result(of=()), {key: "passes"}) == {key: "fixed"}
    assert closed_night(ledger, result(), {key: "passes"}) == {key: "returned"}
    assert closed_night(ledger, result(of=()), {key: "fails"}) == {key: "known"}


def test_what_passes_tonight_masks_nothing_until_it_is_found_again(ledger: FindingsLedger) -> None:
    key = STALE.signature.id()
    closed_night(ledger, result(), {})
    night = ledger.begin_night("2026-12-03", "abc", ["mine"])
    assert ledger.masks(night, ()) == (STALE,)
    assert ledger.masks(night, {key}) == ()
    ledger.record(night, result(of=(found(LONG),)), {key})
    assert ledger.masks(night, {key}) == (LONG,)


def test_what_is_fixed_does_not_swallow_what_needs_more_faults(ledger: FindingsLedger) -> None:
    key, more = STALE.signature.id(), replace(STALE, faults=("lose", "skip"))
    closed_night(ledger, result(), {})
    assert closed_night(ledger, result(of=(found(more),)), {key: "passes"}) == {
        key: "fixed",
        more.signature.id(): "new",
    }


def test_damaged_ledger_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "findings.db"
    with closing(FindingsLedger(path)) as ledger:
        for number in range(60):
            closed_night(ledger, result(of=(found(replace(LONG, by=f"Mine.{number}")),)), {})
    damaged = bytearray(path.read_bytes())
    # The first pages hold the tables' own table, which is read when the ledger is opened.
    for place in range(8 * 4096, len(damaged), 4096):
        damaged[place : place + 4096] = b"\xff" * 4096
    path.write_bytes(damaged)
    with closing(FindingsLedger(path)) as ledger, pytest.raises(SixfoldError, match="cannot be used"):
        ledger.findings()


def test_ledger_without_a_format_is_an_error(ledger: FindingsLedger, tmp_path: Path) -> None:
    ledger.close()
    with closing(sqlite3.connect(tmp_path / "findings.db")) as db, db:
        db.execute("UPDATE meta SET value = 'two'")
    with pytest.raises(SixfoldError, match="its format is 'two'"):
        FindingsLedger(tmp_path / "findings.db")


def test_what_a_killed_night_found_is_new_in_the_next_or_fixed_by_then(ledger: FindingsLedger) -> None:
    key = STALE.signature.id()
    ledger.record(ledger.begin_night("2026-12-02", "abc", ["mine"]), result())
    night = ledger.begin_night("2026-12-03", "abc", ["mine"])
    assert ledger.close_night(night, {key: "fails"}) == {key: "new"}
    assert ledger.close_night(night, {key: "passes"}) == {key: "fixed"}


def test_what_is_entered_long_after_its_night_was_killed_is_new_until_it_is_told(
    ledger: FindingsLedger,
) -> None:
    key = STALE.signature.id()
    killed = ledger.begin_night("2026-12-02", "abc", ["mine"])
    between = ledger.begin_night("2026-12-03", "abc", ["mine"])
    ledger.end_night(between, 1.0, "complete")
    ledger.record(killed, result())
    night = ledger.begin_night("2026-12-04", "abc", ["mine"])
    assert ledger.close_night(night, {}) == {key: "new"}
    ledger.tell([key])
    assert ledger.close_night(night, {key: "fails"}) == {key: "known"}


def test_ledger_of_the_first_format_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "findings.db"
    ledger = FindingsLedger(path)
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    ledger.record(night, result())
    ledger.end_night(night, 1.0, "complete")
    untold = replace(STALE, candidate="another")
    ledger.record(ledger.begin_night("2026-12-03", "abc", ["mine"]), result(of=(found(untold),)))
    ledger.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE findings DROP COLUMN told")
        db.execute("UPDATE meta SET value = '1' WHERE name = 'version'")
        db.commit()
    with closing(FindingsLedger(path)) as upgraded:
        assert {entry.known.candidate: entry.told for entry in upgraded.findings()} == {
            "mine": True,
            "another": False,
        }
    with closing(FindingsLedger(path)) as again:
        assert again.record(again.begin_night("2026-12-04", "abc", ["mine"]), result(1)) == []


def test_closed_finding_keeps_the_remark(ledger: FindingsLedger) -> None:
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    ledger.record(night, result())
    assert ledger.close_finding(STALE.signature.id(), "as designed")
    assert not ledger.close_finding("SF-00000000", "")
    [entry] = ledger.findings()
    assert (entry.status, entry.remark) == ("closed", "as designed")


def test_ledger_of_a_killed_process_opens(tmp_path: Path) -> None:
    path = tmp_path / "findings.db"
    first = FindingsLedger(path)
    night = first.begin_night("2026-12-02", "abc", ["mine"])
    first.record(night, result())
    # Nobody closes it: what was recorded is in the write-ahead log.
    second = FindingsLedger(path)
    assert [n.seconds for n in second.nights()] == [None]
    assert len(second.findings()) == 1


def test_what_fails_half_way_leaves_nothing(ledger: FindingsLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])

    def full(*_: object) -> bool:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(FindingsLedger, "_enter", full)
        with pytest.raises(SixfoldError, match="disk is full"):
            ledger.record(night, result())
    assert [n.histories for n in ledger.nights()] == [0]
    assert ledger.record(night, result()) == [STALE.signature.id()]


def test_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "findings.db"
    path.write_text("not a database, " * 100, encoding="utf-8")
    with pytest.raises(SixfoldError, match="not a database") as raised:
        FindingsLedger(path)
    assert raised.value.place == str(path)


def test_ledger_from_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "findings.db"
    FindingsLedger(path).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '99'")
    with pytest.raises(SixfoldError, match="format 99"):
        FindingsLedger(path)


def test_shards_and_results_are_data() -> None:
    shard = Shard(number=3, seed=4, targets=("mine",), histories=5, known=(STALE,), seconds=1.5)
    assert shard_from_json(shard_to_json(shard)) == shard
    assert result_from_json(result_to_json(result())) == result()


def test_seeds_differ_by_commit_shard_and_night() -> None:
    seeds = {seed_of_shard(commit, shard, night) for commit in "ab" for shard in (0, 1) for night in (1, 2)}
    assert len(seeds) == 8
    assert seed_of_shard("a", 0, 1) == seed_of_shard("a", 0, 1)


#: A shard that several tests begin with.
SHARD = Shard(number=0, seed=3, targets=(), histories=40)


def played(shard: Shard, **options: Any) -> ShardResult:
    subjects = [Local(agent_of(DEERFLOW)), Local(agent_of(DEERFLOW_4667))]
    return play_shard(subjects, shard, explore, **options)


@pytest.fixture(scope="module")
def first() -> ShardResult:
    """`SHARD`, played once."""
    return played(SHARD)


def test_shard_played_again_gives_the_same(first: ShardResult) -> None:
    assert first.found
    assert first == played(SHARD)


def test_what_is_known_is_not_found_again_and_still_seen(first: ShardResult) -> None:
    again = played(replace(SHARD, known=tuple(f.known for f in first.found), settled=first.settled))
    assert again.found == ()
    assert again.seen == first.seen


def test_scenarios_that_ended_a_shard_are_left_out() -> None:
    shard = Shard(number=0, seed=3, targets=(), histories=1, first=(to_json(STORY),))
    codes = {f.known.code for f in played(shard).found}
    assert "3.stale-question" in codes
    left_out = played(replace(shard, left_out=(STORY.digest(),)))
    assert "3.stale-question" not in {f.known.code for f in left_out.found}


def test_shard_ends_when_all_that_it_draws_is_left_out() -> None:
    shard = Shard(number=0, seed=3, targets=(), histories=1)
    drawn: list[str] = []

    def before(scenario: Scenario) -> bool:
        drawn.append(scenario.digest())
        return True

    played(shard, before=before)
    assert len(drawn) == 1
    result = played(replace(shard, left_out=tuple(drawn)))
    assert result.histories == 0
    assert result.complete


def test_shard_stops_when_it_is_told_to() -> None:
    asked = []

    def before(scenario: Scenario) -> bool:
        asked.append(scenario)
        return len(asked) <= 7

    shard = Shard(number=0, seed=3, targets=(), histories=500)
    stopped = play_shard([Local(agent_of(DEERFLOW))], shard, explore, before=before)
    assert (stopped.histories, stopped.complete) == (7, False)


def test_novelty_is_what_was_not_reached_before(first: ShardResult) -> None:
    assert "deerflow: injection" in first.novel
    again = played(replace(SHARD, reached=tuple(first.novel)))
    assert again.novel == {}


def test_witness_is_judged_on_the_candidate() -> None:
    known = Known(
        "deerflow-4667",
        "3.stale-question",
        "DynamicContextMiddleware.before_agent",
        ("skip",),
        to_json(STORY),
    )
    assert replayed(Local(agent_of(DEERFLOW_4667)), known) == "fails"
    assert replayed(Local(agent_of(DEERFLOW)), known) == "passes"


def test_who_raises_passes_nothing() -> None:
    class Raises(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:
            raise RuntimeError("not today")

    raises = Candidate(name="mine", build=lambda _environment: [Raises()])
    assert replayed(Local(agent_of(raises)), STALE) is None
    raised = replace(STALE, code="6.hook-error", by="Raises.before_model")
    assert replayed(Local(agent_of(raises)), raised) == "fails"


def test_shard_tells_of_what_it_shrinks() -> None:
    told: list[Scenario] = []
    played_result = played(replace(SHARD, histories=40), at_work=told.append)
    assert len(told) > played_result.histories
    assert {f.known.scenario for f in played_result.found} <= {to_json(scenario) for scenario in told}
