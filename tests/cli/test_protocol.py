"""The protocol of workers: the page says what the code does, and what misbehaves is told and taken down."""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from sixfold.harness import watchdog
from sixfold.harness.deaths import DeathKind
from sixfold.harness.introduction import PROTOCOL, introduce
from sixfold.harness.orphans import lives
from sixfold.harness.subject import Outcome, subject_of

from ..planted import PLANTED
from .conftest import Outcome as Ended
from .conftest import Sixfold
from .test_pr import git

WORKER = Path(__file__).with_name("foreign_worker.py")
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")


def side(name: str, **variables: str) -> str:
    parts = [f"env={key}:{value}" for key, value in variables.items()]
    return ",".join((name, f"label={name}", f"worker={WORKER}", *parts))


def ended(pids: Path) -> bool:
    """Tell whether all processes are gone; those that were killed may wait for their parent a moment."""

    def runs(pid: int) -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except OSError:
            return lives(pid) and sys.platform != "linux"
        return state != "Z"

    numbers = [int(line) for line in pids.read_text().split()]
    assert numbers
    for _ in range(200):
        if not any(map(runs, numbers)):
            return True
        time.sleep(0.01)
    return False


def test_the_page_names_every_field_and_the_version() -> None:
    introduction = introduce(subject_of(PLANTED["2.duplicate"].correct))
    for name in (*introduction, *(field.name for field in fields(Outcome)), *get_args(DeathKind)):
        assert f"`{name}`" in PAGE, name
    assert PAGE.count(f"speaks: {PROTOCOL} |") == 2
    assert f"more than {watchdog.MAX_BYTES:,} bytes" in PAGE


def test_the_page_names_every_question_and_every_message() -> None:
    source = Path(watchdog.__file__).with_name("worker.py").read_text(encoding="utf-8")
    questions = set(re.findall(r'case "(\w+)":', source)) | {"warnings"}
    table = PAGE.partition("| `ask` | more fields |")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.M)) == questions
    messages = set(re.findall(r'pipes\.send\(\{"(\w+)":', source))
    assert set(re.findall(r'^\| `\{"seal": …, "(\w+)":', PAGE, re.M)) == messages


def test_a_worker_in_another_language_plays_a_side(sixfold: Sixfold, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    done = sixfold(
        "compare",
        side("old"),
        side("new", FLAW="2", PIDS=str(pids)),
        "--max-histories",
        "60",
        "--format",
        "json",
    )
    assert done.code == 1, done.out + done.err
    [comparison] = json.loads(done.out)["comparisons"]
    [difference] = comparison["differences"]
    assert (difference["kind"], difference["code"]) == ("regressed", "2.duplicate")
    assert [step["kind"] for step in difference["scenario"]["steps"]] == ["user_turn", "user_turn"]
    assert difference["minimal"]
    assert difference["confirmed"]
    assert [each["versions"] for each in comparison["sides"]] == [{"foreign": "1"}] * 2
    assert ended(pids)


def told(done: Ended) -> str:
    assert done.code == 2, done.out + done.err
    assert "Traceback" not in done.out + done.err
    [comparison] = json.loads(done.out)["comparisons"]
    assert comparison["verdict"].startswith("inconclusive")
    assert comparison["sides"][0]["troubles"] == []
    return " ".join(comparison["sides"][1]["troubles"])


#: What a worker does instead of answering, and what is told: of the first question, and of a later one.
MISBEHAVIOUR = {
    "import": ("exit code 1: ImportError: no module named nowhere", "exit"),
    "hang": ("did not come back within", "hang"),
    "exit": ("exit code 7", "exit"),
    "killed": ("signal SIGKILL", "killed"),
    "text": ("no answer", "garbled"),
    "shape": ("no answer", "garbled"),
    "code": ("", "process ended in"),
    "list": ("no answer", "garbled"),
    "stale": ("no answer", "garbled"),
    "endless": ("had no end", "garbled"),
    "deep": ("no answer", "garbled"),
    "future": ("version 99 of the protocol, and not 1", ""),
}


#: What is played each day; the others take longer.
DAILY = {("first", mode) for mode in ("import", "exit", "text", "stale", "endless")} | {("look", "killed")}


@pytest.mark.parametrize(
    ("mode", "when"),
    [
        pytest.param(mode, when, marks=() if (when, mode) in DAILY else pytest.mark.slow)
        for mode in MISBEHAVIOUR
        for when in ("first", "look")
        if mode != "future" and (mode, when) != ("code", "first")
    ],
)
def test_misbehaviour_is_inconclusive_and_leaves_nothing(
    sixfold: Sixfold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, when: str
) -> None:
    monkeypatch.setattr(watchdog, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr("sixfold.harness.deaths.Limits.loading", 1.0)
    pids = tmp_path / "pids"
    bad = side("new", MODE=mode, WHEN=when, PIDS=str(pids))
    done = sixfold(
        "compare", side("old"), bad, "--max-histories", "9", "--timeout", "0.5", "--format", "json"
    )
    why = told(done)
    at_first, later = MISBEHAVIOUR[mode]
    if when == "first":
        assert re.search(rf"{re.escape(at_first)}.* \(new: new\)\. Make the module", why)
    else:
        assert later in why + done.out
    assert ended(pids)


def test_a_worker_of_the_future_is_told_by_both_versions(sixfold: Sixfold, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    bad = side("new", MODE="future", PIDS=str(pids))
    why = told(sixfold("compare", side("old"), bad, "--max-histories", "9", "--format", "json"))
    assert MISBEHAVIOUR["future"][0] in why
    assert "(new)" in why
    assert "docs/protocol.md" in why
    assert ended(pids)


def test_a_worker_that_is_not_there(sixfold: Sixfold) -> None:
    done = sixfold("compare", side("old"), "new,label=new,worker=./nowhere", "--format", "json")
    assert "cannot start" in told(done)
    both = sixfold("compare", side("old"), side("new") + ",python=python3")
    assert both.code == 3
    assert "leave python= out" in both.err


@pytest.mark.slow
@pytest.mark.parametrize("when", ["first", "look"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing(tmp_path: Path, number: int, when: str) -> None:
    """Told to end, the command waits for no side that hangs, and takes processes and worktrees along."""
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "nothing")
    pids, asked = tmp_path / "pids", tmp_path / "asked"
    code = "from sixfold.cli.app import main; main()"
    bad = side("new", MODE="hang", WHEN=when, PIDS=str(pids), ASKED=str(asked)) + ",ref=main"
    command = [sys.executable, "-c", code, "compare", side("old"), bad, "--timeout", "100"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while not asked.exists():
            assert process.poll() is None
            time.sleep(0.02)
        assert len(git(tmp_path, "worktree", "list").splitlines()) == 2
        process.send_signal(number)
        _, complaint = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"Traceback" not in complaint
    assert ended(pids)
    assert len(git(tmp_path, "worktree", "list").splitlines()) == 1
