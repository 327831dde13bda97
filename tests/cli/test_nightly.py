"""Nights from the command line: what is new is told once, and kills lose nothing that was recorded."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from sixfold.cli.nights import night as night_module
from sixfold.cli.nights import worker
from sixfold.cli.nights.canary import watch_the_canary
from sixfold.cli.nights.crew import Crew
from sixfold.cli.nights.night import Night, Plan, run_night
from sixfold.cli.nights.nightly import exit_code
from sixfold.cli.nights.spool import Beat, Spool, number_of
from sixfold.cli.nights.worker import play_file
from sixfold.cli.subjects import subjects
from sixfold.harness.baseline import Accepted, Sorted
from sixfold.harness.deaths import Limits
from sixfold.harness.errors import HarnessBrokenError, SixfoldError, TargetError
from sixfold.harness.nights.ledger import FindingsLedger
from sixfold.harness.nights.shard import FoundThere, Known, Shard, ShardResult
from sixfold.harness.scenario import from_json, to_json

from ..helpers import explored

COMMAND = (sys.executable, "-c", "from sixfold.cli.app import main; main()")


def sixfold(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


def play_one_here(spool: Spool, until: float | None, look: Any) -> tuple[str, ...]:
    for path in sorted(spool.folder.glob("*.shard.json")):
        if not path.with_name(path.name.replace("shard", "result")).exists():
            play_file(spool, path, None)
            look()
            if spool.results():
                break
    return ()


in_this_process = Crew(1, play_one_here)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[FindingsLedger]:
    ledger = FindingsLedger(tmp_path / "findings.db")
    yield ledger
    ledger.close()


def plan(*targets: str, histories: int = 60) -> Plan:
    return Plan(targets=targets, revision="abc", day="2026-12-02", seconds=300.0, histories=histories)


def night(ledger: FindingsLedger, folder: Path, *targets: str) -> dict[str, str]:
    folder.mkdir()
    seen = run_night(plan(*targets), ledger, Spool(folder), in_this_process)
    ledger.tell(seen.statuses)
    names = {entry.id: entry.known.code for entry in ledger.findings()}
    return {names[number]: status for number, status in seen.statuses.items()}


def local(targets: Iterable[str], limits: Limits) -> AbstractContextManager[list[Any]]:
    return subjects(targets, isolated=False, limits=limits)


SWAPPED = """
from dataclasses import replace
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
CANDIDATE = replace({which}, name="mine")
"""


def test_what_is_new_is_told_once_and_what_is_mended_is_fixed(
    ledger: FindingsLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Six nights: in processes of their own they would take a minute to start.
    for module in (worker, night_module):
        monkeypatch.setattr(module, "subjects", lambda targets, *, isolated, limits: local(targets, limits))
    file = tmp_path / "mine.py"
    target = f"{file}:CANDIDATE"

    def swap(which: str) -> None:
        file.write_text(SWAPPED.format(which=which), encoding="utf-8")

    swap("DEERFLOW")
    assert night(ledger, tmp_path / "1", target) == {}
    swap("DEERFLOW_4667")
    second = night(ledger, tmp_path / "2", target)
    assert second["2.reorder"] == "new"
    assert set(second.values()) == {"new"}
    third = night(ledger, tmp_path / "3", target)
    assert {code: status for code, status in third.items() if code in second} == dict.fromkeys(
        second, "known"
    )
    _, before, after = ledger.nights()
    assert after.histories >= before.histories > 0
    swap("DEERFLOW")
    assert night(ledger, tmp_path / "4", target) == dict.fromkeys(third, "fixed")
    swap("DEERFLOW_4667")
    assert night(ledger, tmp_path / "5", target) == dict.fromkeys(third, "returned")
    assert night(ledger, tmp_path / "6", "control") == dict.fromkeys(third, "unobserved")


def test_canary_lives() -> None:
    watch_the_canary()


@pytest.mark.parametrize(
    ("planted", "correct", "why"),
    [("deerflow", "deerflow.uploads", "was not found"), ("deerflow-4667", "deerflow-2823", "is blamed")],
)
def test_canary_that_is_dead_is_told(planted: str, correct: str, why: str) -> None:
    with pytest.raises(HarnessBrokenError, match=why):
        watch_the_canary(planted, correct)


def test_shard_that_never_comes_back_is_played_without_what_it_was_playing(
    ledger: FindingsLedger, tmp_path: Path
) -> None:
    killer = explored(1)[0]
    waves: list[list[Shard]] = []

    def crew(spool: Spool, until: float | None, look: Any) -> tuple[str, ...]:
        paths = sorted(spool.folder.glob("*.shard.json"))
        shards = [spool.take(path) for path in paths]
        waves.append(shards)
        if len(waves) == 1:
            spool.leave_note(shards[0].number, to_json(killer))
        return ()

    folder = tmp_path / "spool"
    folder.mkdir()
    seen = run_night(plan("control"), ledger, Spool(folder), Crew(1, crew))
    assert list(seen.killers) == [killer.digest()]
    assert all(killer.digest() in shard.left_out for shard in waves[1])
    assert not {waves[0][0].number} & {shard.number for shard in waves[1]}


def test_scenario_that_ended_a_worker_is_known_to_the_shards_that_follow(
    ledger: FindingsLedger, tmp_path: Path
) -> None:
    killer = explored(1)[0]
    after: list[Shard] = []

    def crew(spool: Spool, until: float | None, look: Any) -> tuple[str, ...]:
        first, second, third = spool.shards()[:3]
        if not after:
            with contextlib.closing(Beat(spool, number_of(first))) as beat:
                beat.note(to_json(killer))
                look()
                after.append(spool.take(second))
            look()
            after.append(spool.take(third))
        return ()

    (tmp_path / "spool").mkdir()
    seen = run_night(plan("control"), ledger, Spool(tmp_path / "spool"), Crew(1, crew))
    [(digest, path)] = seen.killers.items()
    assert digest == killer.digest()
    assert from_json(path.read_text(encoding="utf-8")) == killer
    assert seen.lost == 1
    assert [shard.left_out for shard in after] == [(), (killer.digest(),)]


def test_what_is_fixed_is_told_once(ledger: FindingsLedger, tmp_path: Path) -> None:
    known = Known("deerflow", "3.stale-question", "Mine.before_agent", (), to_json(explored(1)[0]))
    found = FoundThere(
        known=known, detail="…", minimal=True, confirmed=True, members=(), held_by=(), histories=1
    )
    shard = ShardResult(number=0, histories=1, complete=True, candidates={}, found=(found,))
    earlier = ledger.begin_night("2026-12-01", "abc", ["deerflow"])
    ledger.record(earlier, shard)
    ledger.tell(ledger.close_night(earlier, {}))
    news = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        seen = run_night(plan("deerflow"), ledger, Spool(tmp_path / name), Crew(1, lambda *_: ()))
        assert list(seen.statuses.values()) == ["fixed"]
        news.append(set(seen.news))
    assert news == [{known.signature.id()}, set()]


def test_result_is_not_lost_when_the_user_interrupts_its_entry(
    ledger: FindingsLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, asked = ledger.record, []

    def interrupted(*arguments: Any) -> list[str]:
        asked.append(arguments)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return record(*arguments)

    monkeypatch.setattr(ledger, "record", interrupted)
    (tmp_path / "spool").mkdir()
    seen = run_night(plan("control", histories=20), ledger, Spool(tmp_path / "spool"), in_this_process)
    assert seen.interrupted
    assert seen.histories == 20


def test_workers_that_are_killed_for_taking_too_long_to_stop_are_not_blamed(
    ledger: FindingsLedger, tmp_path: Path
) -> None:
    def crew(spool: Spool, until: float | None, look: Any) -> tuple[str, ...]:
        with contextlib.closing(Beat(spool, 0)) as beat:
            beat.note(to_json(explored(1)[0]))
        spool.ask_to_stop()
        look()
        raise KeyboardInterrupt

    (tmp_path / "spool").mkdir()
    seen = run_night(plan("control"), ledger, Spool(tmp_path / "spool"), Crew(1, crew))
    assert seen.interrupted
    assert (seen.killers, seen.lost) == ({}, 0)


TARGET_ERROR = TargetError("it cannot be built", place="mine.py", remedy="Mend it.")
BROKEN = HarnessBrokenError("control violates 2.reorder", place="scenario 1", remedy="Report it.")


@pytest.mark.parametrize("error", [TARGET_ERROR, BROKEN, RuntimeError("oops")])
def test_shard_that_raises_is_told_and_no_scenario_is_blamed(
    ledger: FindingsLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def play_shard(*_: Any, at_work: Any, **__: Any) -> None:
        at_work(explored(1)[0])
        raise error

    monkeypatch.setattr(worker, "play_shard", play_shard)

    def crew(spool: Spool, until: float | None, look: Any) -> tuple[str, ...]:
        for path in spool.shards():
            with pytest.raises(type(error)):
                play_file(spool, path, None)
            look()
        return ()

    (tmp_path / "spool").mkdir()
    if error is TARGET_ERROR:
        seen = run_night(plan("control"), ledger, Spool(tmp_path / "spool"), Crew(1, crew))
        assert seen.troubles == ["it cannot be built (mine.py). Mend it."]
        assert seen.killers == {}
        assert exit_code(seen) == 2
    else:
        cause = error.cause if isinstance(error, SixfoldError) else f"a worker failed: RuntimeError: {error}"
        with pytest.raises(HarnessBrokenError) as raised:
            run_night(plan("control"), ledger, Spool(tmp_path / "spool"), Crew(1, crew))
        assert raised.value.cause == cause
        assert from_json(Path(raised.value.place).read_text(encoding="utf-8")) == explored(1)[0]


def test_two_candidates_of_one_name_are_an_error(ledger: FindingsLedger, tmp_path: Path) -> None:
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(SWAPPED.format(which="DEERFLOW"), encoding="utf-8")
    targets = [f"{tmp_path / name}:CANDIDATE" for name in ("one.py", "two.py")]
    (tmp_path / "spool").mkdir()
    with pytest.raises(TargetError, match="two candidates are called 'mine'"):
        run_night(plan(*targets), ledger, Spool(tmp_path / "spool"), in_this_process)


GREEDY = """
from langchain.agents.middleware import AgentMiddleware

class Greedy(AgentMiddleware):
    def after_model(self, state, runtime):
        food = []
        while len(state["messages"]) > 4:
            food.append(bytearray(64_000_000))
"""


@pytest.mark.slow
def test_candidate_that_outgrows_its_memory_is_a_finding_of_the_night(
    ledger: FindingsLedger, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(GREEDY, encoding="utf-8")
    (tmp_path / "spool").mkdir()
    seen = run_night(plan(f"{file}:Greedy", histories=20), ledger, Spool(tmp_path / "spool"), in_this_process)
    assert not seen.killers
    assert {entry.known.by.rpartition(", ")[2] for entry in ledger.findings()} >= {"memory"}


def test_night_without_targets_that_load_is_an_error(ledger: FindingsLedger, tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    with pytest.raises(SixfoldError, match="no target can be loaded"):
        run_night(plan("nowhere:At"), ledger, Spool(folder), in_this_process)


def accepted(number: str) -> Accepted:
    return Accepted(id=number, candidate="mine", code="2.reorder")


def test_baseline_takes_news_away_and_gives_what_has_expired_back() -> None:
    seen = Night(1, histories=5, statuses={"SF-1": "new", "SF-2": "known", "SF-3": "fixed"})
    assert exit_code(seen) == 1
    assert exit_code(seen, Sorted(known=(accepted("SF-1"),))) == 0
    assert exit_code(seen, Sorted(known=(accepted("SF-1"),), expired=(accepted("SF-2"),))) == 1
    assert exit_code(seen, Sorted(known=(accepted("SF-2"),))) == 1


@pytest.mark.slow
def test_baseline_accepts_what_a_night_finds(tmp_path: Path) -> None:
    arguments = (
        "nightly",
        "deerflow-4667",
        "--budget",
        "25s",
        "--workers",
        "1",
        "--baseline",
        "accepted.toml",
    )
    missing = sixfold(*arguments, folder=tmp_path)
    assert missing.returncode == 3
    first = sixfold(*arguments, "--update-baseline", folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert " 0 new, 0 expired" in first.stderr
    file = tmp_path / "accepted.toml"
    text = file.read_text(encoding="utf-8")
    assert "2.reorder" in text
    file.write_text(text.replace('owner = ""', 'owner = "me"\nexpires = 2020-01-01'), encoding="utf-8")
    second = sixfold(*arguments, folder=tmp_path)
    assert second.returncode == 1, second.stderr
    assert "expired: SF-" in second.stderr


@pytest.mark.slow
def test_two_workers_play_a_night(tmp_path: Path) -> None:
    done = sixfold("nightly", "deerflow-4667", "--budget", "25s", "--workers", "2", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "new: SF-" in done.stdout
    listed = sixfold("findings", folder=tmp_path)
    assert "2.reorder" in listed.stdout
    assert "complete" in sixfold("trend", folder=tmp_path).stdout
    number = next(word for word in listed.stdout.split() if word.startswith("SF-"))
    closed = sixfold("findings", "--close", number, "--remark", "as designed", folder=tmp_path)
    assert f"closed: {number}" in closed.stdout
    assert sixfold("findings", "--show", "SF-0", folder=tmp_path).returncode == 3
    assert not list((tmp_path / ".sixfold" / "spool").iterdir())


def test_findings_without_a_ledger_is_an_error(tmp_path: Path) -> None:
    done = sixfold("findings", folder=tmp_path)
    assert done.returncode == 3
    assert "there is no ledger yet" in done.stderr


@pytest.mark.slow
def test_emitted_issues_are_never_written_twice(tmp_path: Path) -> None:
    arguments = ("nightly", "deerflow-4667", "--budget", "20s", "--emit-issues", "issues")
    sixfold(*arguments, folder=tmp_path)
    issues = sorted((tmp_path / "issues").glob("SF-*.md"))
    assert issues
    issues[0].write_text("edited by a person", encoding="utf-8")
    sixfold(*arguments, folder=tmp_path)
    assert issues[0].read_text(encoding="utf-8") == "edited by a person"


MARK = "SIXFOLD_NIGHT_UNDER_TEST"


def living(mark: str) -> list[int]:
    """Return the processes that inherited `mark`, whatever sessions and parents they have by now."""
    entry = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if entry in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def survivors(mark: str, seconds: float = 10.0) -> list[int]:
    """Return the processes with `mark` that live on for so long."""
    end = time.monotonic() + seconds
    while (found := living(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def kill(process: int) -> bool:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def findings_in(path: Path) -> dict[str, int]:
    """Open the ledger, which must be sound; return its findings, each with the night that found it."""
    if not path.exists():
        return {}
    ledger = FindingsLedger(path)
    found = {entry.id: entry.first_night for entry in ledger.findings()}
    ledger.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return found


def has_begun(spools: Path, before: set[Path]) -> bool:
    """Tell whether a night has handed out work, in a folder that was not there before."""
    return any(Spool(folder).shards() for folder in set(spools.glob("*")) - before)


ISOLATED = """
from sixfold.models.deerflow import DEERFLOW_2823
CANDIDATE = DEERFLOW_2823
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by their environment in /proc")
def test_fifty_random_kills_lose_nothing_that_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ISOLATED, encoding="utf-8")
    targets = ("deerflow-4667", "langchain.summarization", "mine.py:CANDIDATE")
    # The canary takes longer than a night of this test, and is tested above.
    alone = "from sixfold.cli.nights import nightly; nightly.watch_the_canary = lambda: None; "
    python = [sys.executable, "-c", alone + COMMAND[2]]
    dice = random.Random(1)
    path = tmp_path / ".sixfold" / "findings.db"
    nights = kills = 0

    def start(seconds: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*python, "nightly", *targets, f"--budget={seconds}s", "--workers=2", "--timeout=5"],
            cwd=tmp_path,
            env={**os.environ, MARK: str(nights)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def calm_night() -> dict[str, int]:
        with start(45) as process:
            _, complaint = process.communicate(timeout=300)
        assert process.returncode in (0, 1, 2), complaint
        assert survivors(str(nights)) == []
        with contextlib.closing(FindingsLedger(path)) as ledger:
            night = ledger.nights()[-1]
        assert night.ended == "complete"
        assert night.histories > 0
        return findings_in(path)

    recorded = calm_night()
    assert recorded
    while kills < 50:
        nights += 1
        spools = tmp_path / ".sixfold" / "spool"
        before = set(spools.glob("*"))
        process = start(25)
        hit = False
        # Most nights are killed while workers play, one in six while all that is imported.
        end = time.monotonic() + (dice.uniform(0, 5) if dice.random() < 1 / 6 else 100)
        while time.monotonic() < end and process.poll() is None and not has_begun(spools, before):
            time.sleep(0.2)
        while process.poll() is None:
            victims = living(str(nights))
            fate = dice.random()
            chosen = victims if fate < 0.1 else [process.pid] if fate < 0.2 else dice.sample(victims, 1)
            hit = hit or process.pid in chosen
            kills += sum(map(kill, chosen))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=dice.uniform(0.5, 5))
        _, complaint = process.communicate()
        assert survivors(str(nights)) == []
        assert hit or process.returncode in (0, 1, 2), complaint
        now = findings_in(path)
        assert recorded.items() <= now.items()
        recorded = now
        print(f"night {nights}: {kills} kills, {len(recorded)} findings", flush=True)
    nights += 1
    assert recorded.items() <= calm_night().items()
