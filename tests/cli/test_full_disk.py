"""A full disk is reported with the file that found no room, and what was entered before stays."""

import contextlib
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sixfold.cli.nights.leftovers import enter_leftovers, fresh_spool
from sixfold.cli.nights.spool import Spool
from sixfold.harness.errors import SixfoldError
from sixfold.harness.nights.ledger import FindingsLedger
from sixfold.harness.nights.shard import FoundThere, Known, Shard, ShardResult
from sixfold.harness.scenario import to_json
from sixfold.harness.steps import UserTurn

from ..helpers import scenario_of

COMMAND = (sys.executable, "-c", "from sixfold.cli.app import main; main()")


def result(number: int, *, bytes_of_detail: int = 10) -> ShardResult:
    known = Known("mine", f"2.reorder-{number}", "Mine.before_agent", (), to_json(scenario_of(UserTurn())))
    found = FoundThere(
        known=known,
        detail="x" * bytes_of_detail,
        minimal=True,
        confirmed=True,
        members=(),
        held_by=(),
        histories=1,
    )
    return ShardResult(number=number, histories=5, complete=True, candidates={}, found=(found,))


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to make any file longer than so many bytes, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_ledger_without_room_keeps_what_was_entered(tmp_path: Path) -> None:
    path = tmp_path / "findings.db"
    ledger = FindingsLedger(path)
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    ledger.record(night, result(0))
    size = max(file.stat().st_size for file in tmp_path.iterdir())
    with files_of_at_most(size + 20_000), pytest.raises(SixfoldError) as raised:
        ledger.record(night, result(1, bytes_of_detail=100_000))
    assert raised.value.place == str(path)
    assert "rollback" not in raised.value.cause
    assert ledger.record(night, result(2))
    ledger.close()
    with contextlib.closing(FindingsLedger(path)) as again:
        assert {entry.known.code for entry in again.findings()} == {"2.reorder-0", "2.reorder-2"}
        assert again.shards_of(night) == {0, 2}


def test_spool_without_room_names_the_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.give(result(0))
    with files_of_at_most(2_000):
        with pytest.raises(SixfoldError, match="spool cannot be written") as raised:
            spool.give(result(1, bytes_of_detail=100_000))
        assert raised.value.place == str(tmp_path / "1.result.json")
        with pytest.raises(SixfoldError, match="spool cannot be written"):
            spool.check_room()
    assert [each.number for each in spool.results()] == [0]
    assert [path.name for path in tmp_path.iterdir()] == ["0.result.json"]


SIGNING = """
import sys
from pathlib import Path
from sixfold.cli.nights.spool import Spool
spool = Spool(Path(sys.argv[1]))
spool.sign(int(sys.argv[2]), "findings.db")
print("signed", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def another_coordinator(folder: Path, night: int) -> Iterator[None]:
    """Let another process sign the spool, and kill it in the end."""
    command = [sys.executable, "-c", SIGNING, str(folder), str(night)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "signed\n"
        try:
            yield
        finally:
            process.kill()


def test_results_of_a_night_without_room_are_entered_by_the_next(tmp_path: Path) -> None:
    ledger = FindingsLedger(tmp_path / "findings.db")
    night = ledger.begin_night("2026-12-02", "abc", ["mine"])
    spool = fresh_spool(tmp_path / "spool", night)
    spool.put(Shard(number=0, seed=1, targets=("mine",), histories=5))
    spool.give(result(0))
    assert enter_leftovers(tmp_path / "spool", ledger) == 0, "nobody has signed it"
    with another_coordinator(spool.folder, night):
        assert enter_leftovers(tmp_path / "spool", ledger) == 0, "its coordinator lives"
        with pytest.raises(SixfoldError, match="in use"):
            spool.sign(night, "findings.db")
    (spool.folder / "1.result.json").write_text('{"number": 1, "histo', encoding="utf-8")
    assert enter_leftovers(tmp_path / "spool", ledger) == 1
    assert not spool.folder.exists()
    tonight = ledger.begin_night("2026-12-03", "abc", ["mine"])
    assert set(ledger.close_night(tonight, {}).values()) == {"new"}, "nobody was told of it"
    ledger.tell(entry.id for entry in ledger.findings())
    ledger.end_night(tonight, 1.0, "complete")
    later = ledger.begin_night("2026-12-04", "abc", ["mine"])
    assert set(ledger.close_night(later, {}).values()) == {"unobserved"}
    ledger.close()


def mounted(folder: Path, size: str) -> bool:
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None:
        return False
    command = [mount, "-t", "tmpfs", "-o", f"size={size}", "sixfold", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def nightly(folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = ("nightly", "deerflow-4667", "--budget", "40s", "--workers", "1")
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.slow
def test_night_on_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if not mounted(disk, "3m"):
        pytest.skip("a small disk can only be mounted by root")
    ledger = disk / ".sixfold" / "findings.db"
    try:
        first = nightly(disk)
        assert first.returncode == 1, first.stderr
        with contextlib.closing(FindingsLedger(ledger)) as opened:
            before = {entry.id for entry in opened.findings()}
        filler = disk / "filler"
        room = shutil.disk_usage(disk).free - 150_000
        filler.write_bytes(b"\0" * room)
        full = nightly(disk)
        assert full.returncode == 3, full.stderr
        assert str(Path(".sixfold")) in full.stderr
        assert "Make room" in full.stderr or "space left" in full.stderr
        assert "Traceback" not in full.stderr
        filler.unlink()
        with contextlib.closing(FindingsLedger(ledger)) as opened:
            assert before <= {entry.id for entry in opened.findings()}
        with contextlib.closing(sqlite3.connect(ledger)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        again = nightly(disk)
        assert again.returncode in (0, 1), again.stderr
        with contextlib.closing(FindingsLedger(ledger)) as opened:
            assert opened.nights()[-1].ended == "complete"
            assert before <= {entry.id for entry in opened.findings()}
    finally:
        subprocess.run(["umount", str(disk)], check=True)
