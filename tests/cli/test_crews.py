"""Crews lose a worker with a scenario, name it, and go on without it: whether it ends, hangs or eats."""

import contextlib
import importlib.util
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from sixfold.cli.nights.cluster import crew_of
from sixfold.cli.nights.crew import Crew, crew_of_this_machine
from sixfold.cli.nights.night import Plan, run_night
from sixfold.cli.nights.runner import Runner
from sixfold.cli.nights.spool import Spool
from sixfold.cli.nights.watch import ShardLimits, Watch
from sixfold.harness.errors import SixfoldError
from sixfold.harness.nights.ledger import FindingsLedger
from sixfold.harness.nights.shard import Shard
from sixfold.harness.scenario import from_json, to_json

from ..helpers import explored

needs_cluster = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra cluster is not installed"
)

#: Python runs it at the start of each process that can import it.
SITECUSTOMIZE = """
import os, sys, time
from pathlib import Path
from sixfold.harness.subject import Local

look = Local.look
killer = Path(__file__).with_name("killer")

def deadly(self, scenario, **how):
    digest = scenario.digest()
    if len(scenario.steps) < 3 or killer.exists() and killer.read_text() != digest:
        return look(self, scenario, **how)
    killer.write_text(digest)
    DEATH

Local.look = deadly
"""

DEATHS = {
    "is killed": "os.kill(os.getpid(), 9)",
    "exits": "os._exit(0)",
    "hangs": "time.sleep(10_000)",
    "eats": "food = [bytearray(1 << 20) for _ in range(2_000)]; time.sleep(10_000)",
}

LIMITS = ShardLimits(scenario=6.0, memory=1 << 30)


def make_deadly(folder: Path, death: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each process that is started from here on end so with one scenario; `folder` holds its digest."""
    text = SITECUSTOMIZE.replace("DEATH", DEATHS[death])
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[FindingsLedger]:
    with contextlib.closing(FindingsLedger(tmp_path / "findings.db")) as ledger:
        yield ledger


@contextlib.contextmanager
def runner(limits: ShardLimits) -> Iterator[Crew]:
    """A crew of one runner, as each thread of a cluster's worker has one."""
    one = Runner(limits)

    def work_through(spool: Spool, until: float | None, look: Callable[[], None]) -> tuple[str, ...]:
        for path in spool.shards()[:1]:
            shard = spool.take(path)
            own = Spool(spool.folder / f"own-{shard.number}")
            own.folder.mkdir()
            assert one.play(own, shard, until, lambda: None) == ""
            for result in own.results():
                spool.give(result)
            if not own.has_result(shard.number) and (now := own.now(shard.number)) is not None:
                spool.leave_note(shard.number, now.scenario)
        look()
        return ()

    yield Crew(1, work_through)
    one.close()


@contextlib.contextmanager
def processes(limits: ShardLimits) -> Iterator[Crew]:
    yield crew_of_this_machine(1, limits)


@pytest.mark.slow
@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("crew", [runner, processes])
def test_scenario_that_ends_a_worker_is_named_and_left_out(
    crew: Callable[[ShardLimits], Any],
    death: str,
    ledger: FindingsLedger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_deadly(tmp_path, death, monkeypatch)
    spool = Spool(tmp_path / "spool")
    spool.folder.mkdir()
    plan = Plan(targets=("control",), revision="abc", day="2026-12-02", seconds=300.0, histories=60)
    with crew(LIMITS) as workers:
        seen = run_night(plan, ledger, spool, workers)
    [(killer, kept)] = seen.killers.items()
    assert killer == (tmp_path / "killer").read_text(encoding="utf-8")
    assert from_json(kept.read_text(encoding="utf-8")).digest() == killer
    assert seen.histories > 0
    assert seen.troubles == []


def test_runner_that_ends_before_it_plays_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nfrom sixfold.cli.nights import worker\nworker._play = lambda *_: os._exit(9)\n"
    )
    spool = Spool(tmp_path / "spool")
    spool.folder.mkdir()
    shard = Shard(number=0, seed=1, targets=("control",), histories=1)
    one = Runner(LIMITS)
    try:
        assert one.play(spool, shard, None, lambda: None) == "the process for shards ended with 9"
    finally:
        one.close()


def test_watch_leaves_processes_of_others_alone(tmp_path: Path) -> None:
    """The id of a worker that has died may belong to anybody by now."""
    spool = Spool(tmp_path)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        try:
            note = to_json(explored(1)[0])
            spool.leave_note(0, note)
            text = (tmp_path / "0.now").read_text(encoding="utf-8")
            (tmp_path / "0.now").write_text(text.replace(str(os.getpid()), str(other.pid)), encoding="utf-8")
            long_ago = time.time() - 1_000
            os.utime(tmp_path / "0.now", (long_ago, long_ago))
            Watch(spool, os.getpid(), ShardLimits()).look()
            assert other.poll() is None
            Watch(spool, other.pid, ShardLimits()).look()
            assert other.wait(10) == -signal.SIGKILL
        finally:
            other.kill()


# ------------------------------------------------------------------ a cluster


@needs_cluster
@pytest.mark.parametrize("address", ["local:0", "local:x"])
def test_number_of_workers_is_read(address: str) -> None:
    with pytest.raises(SixfoldError, match="no number of workers"):
        crew_of(address)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SixfoldError) as raised:
        crew_of("local:2")
    assert "sixfold[cluster]" in raised.value.remedy


COMMAND = (sys.executable, "-c", "from sixfold.cli.app import main; main()")


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "nightly", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ends(group: int) -> bool:
    """Tell whether no process of the group is left before long: Python's own helpers end after the night."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@needs_cluster
@pytest.mark.slow
def test_cluster_plays_a_night_and_is_gone(tmp_path: Path) -> None:
    before = set(Path(gettempdir()).glob("sixfold-*"))
    process = started(tmp_path, "deerflow-4667", "--budget", "25s", "--cluster", "local:2")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 1, err
    assert "new: SF-" in out
    assert "inconclusive" not in err
    assert ends(process.pid), "a process of the night is still there"
    assert set(Path(gettempdir()).glob("sixfold-*")) == before


@needs_cluster
@pytest.mark.slow
def test_cluster_hands_in_what_it_has_when_it_is_interrupted(tmp_path: Path) -> None:
    process = started(tmp_path, "deerflow-4667", "--budget", "300s", "--cluster", "local:2", "--keep-spool")
    deadline = time.monotonic() + 100
    while not list(tmp_path.glob(".sixfold/spool/*/*.shard.json")) and time.monotonic() < deadline:
        time.sleep(0.5)
    time.sleep(25)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "interrupted" in out
    assert "new: SF-" in out
    assert "Traceback" not in err


@needs_cluster
@pytest.mark.slow
def test_scenario_that_ends_a_process_of_a_cluster_is_named(
    ledger: FindingsLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_deadly(tmp_path, "is killed", monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    spool = Spool(tmp_path / "spool")
    spool.folder.mkdir()
    plan = Plan(targets=("control",), revision="abc", day="2026-12-02", seconds=60.0, histories=60)
    seen = run_night(plan, ledger, spool, crew_of("local:1"))
    assert list(seen.killers) == [(tmp_path / "killer").read_text(encoding="utf-8")]
    assert seen.histories > 0


@needs_cluster
@pytest.mark.slow
def test_worker_of_a_cluster_that_is_lost_loses_a_shard_at_most(tmp_path: Path) -> None:
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
    ) as cluster:
        arguments = ("deerflow-4667", "--budget", "40s", "--cluster", cluster.scheduler_address)
        process = started(tmp_path, *arguments)
        time.sleep(20)
        victim = next(iter(cluster.workers.values())).process.pid
        os.kill(victim, signal.SIGKILL)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 1, err
    assert "complete" in out
    assert "inconclusive" not in err
