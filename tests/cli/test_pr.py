"""`sixfold pr` on a small repository that holds our own deer-flow re-creation, with its fix as the change."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from sixfold.models import deerflow

from .conftest import Sixfold

SOURCE = (
    Path(deerflow.__file__)
    .read_text(encoding="utf-8")
    .replace("from ..harness", "from sixfold.harness")
    .replace("from .", "from sixfold.models.")
)
FIXED = (
    SOURCE
    + """

TARGET = Candidate(
    name="context",
    build=lambda environment: [DynamicContextMiddleware(environment)],
    contract=CONTRACT,
)
"""
)
BROKEN = FIXED.replace("Middleware(environment)]", "Middleware(environment, first_injection='first')]")
FEW = ("--max-histories", "40", "--format", "json")
#: Where the first histories show it: the two processes take longest to start.
FEWER = ("--max-histories", "15", "--format", "json")


def git(folder: Path, *arguments: str) -> str:
    name = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    done = subprocess.run(
        ["git", *name, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout


def commit(folder: Path, text: str) -> None:
    (folder / "context.py").write_text(text)
    git(folder, "add", "context.py")
    git(folder, "commit", "-q", "-m", "change")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def left_behind(repository: Path) -> list[str]:
    trees = [line for line in git(repository, "worktree", "list").splitlines() if line.strip()]
    mine = f"sixfold-worktrees-{os.getpid()}-*"
    return trees[1:] + [str(path) for path in Path(tempfile.gettempdir()).glob(mine)]


def codes(out: str, kind: str) -> set[str]:
    [comparison] = json.loads(out)["comparisons"]
    return {each["code"] for each in comparison["differences"] if each["kind"] == kind}


def test_the_fix_is_fixed_and_its_reverse_regressed(sixfold: Sixfold, repository: Path) -> None:
    commit(repository, BROKEN)
    git(repository, "branch", "broken")
    commit(repository, FIXED)
    there = sixfold("pr", "context.py:TARGET", "--base", "broken", "--head", "main", *FEW)
    assert there.code == 0, there.err
    assert {"2.reorder", "3.stale-question"} <= codes(there.out, "fixed")
    assert not codes(there.out, "regressed")
    back = sixfold("pr", "context.py:TARGET", "--no-merge-base", "--base", "main", "--head", "broken", *FEW)
    assert back.code == 1, back.err
    assert codes(back.out, "regressed") == codes(there.out, "fixed")
    for each in json.loads(back.out)["comparisons"][0]["differences"]:
        assert each["confirmed"]
        assert each["minimal"]
        assert len(each["scenario"]["steps"]) <= 2
    assert not left_behind(repository)


@pytest.mark.slow
def test_what_a_baseline_accepts_is_no_failure_until_it_expires(sixfold: Sixfold, repository: Path) -> None:
    commit(repository, BROKEN)
    git(repository, "branch", "broken")
    commit(repository, FIXED)
    accepted = ("--baseline", "accepted.toml", "--update-baseline")
    again = ("pr", "context.py:TARGET", "--no-merge-base", "--base", "main", "--head", "broken", *FEW)
    assert sixfold(*again, *accepted).code == 0
    assert sixfold(*again, *accepted[:2]).code == 0
    text = (repository / "accepted.toml").read_text()
    (repository / "accepted.toml").write_text(text.replace('owner = ""', 'owner = ""\nexpires = 2020-01-01'))
    late = sixfold(*again, *accepted[:2])
    assert late.code == 1
    assert json.loads(late.out)["baseline"]["expired"]


def test_a_refactoring_is_unchanged_and_other_words_are_a_change(sixfold: Sixfold, repository: Path) -> None:
    commit(repository, FIXED)
    # Uncommitted work is the head: first a refactoring, then other words.
    (repository / "context.py").write_text(FIXED.replace("last_injected_date", "newest_date"))
    same = sixfold("pr", "context.py:TARGET", "--base", "main", *FEWER)
    assert same.code == 0, same.err
    assert json.loads(same.out)["comparisons"][0]["verdict"] == "unchanged"
    (repository / "context.py").write_text(
        FIXED.replace("<current_date>", "<today>", 1).replace("<current_date>{", "<today>{")
    )
    before = git(repository, "status", "--porcelain")
    other = sixfold("pr", "context.py:TARGET", "--base", "main", *FEWER)
    assert other.code == 0, other.err
    [comparison] = json.loads(other.out)["comparisons"]
    [change] = comparison["differences"]
    assert change["kind"] == "changed"
    seen = change["model_sees"]
    assert "<current_date>" in " ".join(seen["before"])
    assert "<today>" in " ".join(seen["after"])
    assert git(repository, "status", "--porcelain") == before
    shown = sixfold("pr", "context.py:TARGET", "--base", "main", "--fail-on", "changed", *FEWER[:2])
    assert shown.code == 1
    assert "<current_date>" in shown.out
    assert "<today>" in shown.out
    assert not left_behind(repository)


def test_untracked_files_belong_to_the_head(sixfold: Sixfold, repository: Path) -> None:
    commit(repository, FIXED)
    (repository / "words.py").write_text("TAG = 'system-reminder'\n")
    (repository / "context.py").write_text(
        f"import words\n{FIXED}".replace("import words\n", "", 1).replace(
            "from __future__ import annotations", "from __future__ import annotations\nimport words", 1
        )
    )
    done = sixfold("pr", "context.py:TARGET", "--base", "main", *FEWER)
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise RuntimeError('not today')", "not today"),
        ("import os\nos._exit(7)", "exit code 7"),
        ("def build(:", "SyntaxError"),
    ],
)
def test_a_head_that_cannot_be_loaded_is_inconclusive(
    sixfold: Sixfold, repository: Path, text: str, why: str
) -> None:
    commit(repository, FIXED)
    (repository / "context.py").write_text(text)
    done = sixfold("pr", "context.py:TARGET", "--base", "main", *FEW)
    assert done.code == 2
    [comparison] = json.loads(done.out)["comparisons"]
    assert any(why in trouble for trouble in comparison["sides"][1]["troubles"])
    assert not left_behind(repository)


DYING = """
def scribble():
    import os
    for end in range(3, 64):
        try:
            os.write(end, b"no answer\\n")
        except OSError:
            continue


class Dies(DynamicContextMiddleware):
    def before_agent(self, state, runtime):
        if sum(isinstance(m, HumanMessage) for m in state["messages"]) > 2:
            {how}
        return super().before_agent(state, runtime)


TARGET = Candidate(name="context", build=lambda environment: [Dies(environment)], contract=CONTRACT)
"""


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ("__import__('os')._exit(3)", "exit"),
        pytest.param("scribble()", "garbled", marks=pytest.mark.slow),
        pytest.param("while True: continue", "hang", marks=pytest.mark.slow),
    ],
)
def test_a_head_that_dies_is_newly_inconclusive(
    sixfold: Sixfold, repository: Path, monkeypatch: pytest.MonkeyPatch, how: str, word: str
) -> None:
    # Each attempt at a smaller scenario costs a process.
    monkeypatch.setattr("sixfold.harness.remote.DEATH_ATTEMPTS", 3)
    commit(repository, FIXED)
    (repository / "context.py").write_text(FIXED + DYING.replace("{how}", how))
    done = sixfold("pr", "context.py:TARGET", "--base", "main", "--timeout", "2", *FEW)
    assert done.code == 2, done.out + done.err
    found: list[dict[str, Any]] = json.loads(done.out)["comparisons"][0]["differences"]
    [dead] = [each for each in found if each["kind"] == "newly inconclusive"]
    assert dead["by"].endswith(word)
    assert not left_behind(repository)


def test_a_command_that_is_told_to_end_takes_its_worktrees_away(repository: Path) -> None:
    commit(repository, FIXED)
    (repository / "context.py").write_text(FIXED + "\n# other\n")
    code = "from sixfold.cli.app import main; main()"
    command = [sys.executable, "-c", code, "pr", "context.py:TARGET", "--base", "main", "--setup", "touch up"]
    process = subprocess.Popen(
        command, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        mine = f"sixfold-worktrees-{process.pid}-*"
        while not list(Path(tempfile.gettempdir()).glob(f"{mine}/side-1/up")):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert not list(Path(tempfile.gettempdir()).glob(mine))
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_leftovers_of_a_killed_command_go_at_the_next_start(sixfold: Sixfold, repository: Path) -> None:
    commit(repository, FIXED)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = Path(tempfile.mkdtemp(prefix=f"sixfold-worktrees-{dead.pid}-"))
    git(repository, "worktree", "add", "-q", "--detach", str(left / "side-0"), "HEAD")
    sixfold("pr", "context.py:TARGET", "--base", "main", "--head", "main", "--max-histories", "1")
    assert not left.exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1
