"""The report of a run on 80 columns and without colour: no longer line, no escape sequence."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Sixfold

WIDTH = 80
SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "run.txt"
ARGUMENTS = ("run", "deerflow", "deerflow-4667", "--max-histories", "40")
SCRIPT = f"import sys; sys.argv = {['sixfold', *ARGUMENTS]!r}; from sixfold.cli.app import main; main()"


def test_a_run_in_a_pipe_is_the_snapshot(sixfold: Sixfold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    outcome = sixfold(*ARGUMENTS)
    assert outcome.code == 1
    assert outcome.out == SNAPSHOT.read_text(encoding="utf-8")
    assert [line for line in outcome.out.splitlines() if len(line) > WIDTH] == []
    assert "\x1b" not in outcome.out + outcome.err


def on_a_terminal(folder: Path, **environment: str) -> str:
    """Run on a pseudo terminal and return all that it was sent, of stdout and stderr."""
    ours, theirs = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM")}
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env=plain | {"COLUMNS": str(WIDTH), "LINES": "24"} | environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        sent += part
    os.close(ours)
    assert running.wait(timeout=60) == 1
    return sent.decode().replace("\r\n", "\n")


def test_a_colourful_terminal_gets_colour(tmp_path: Path) -> None:
    assert "\x1b[" in on_a_terminal(tmp_path, TERM="xterm-256color")


def test_a_dumb_terminal_gets_text_only(tmp_path: Path) -> None:
    sent = on_a_terminal(tmp_path, TERM="dumb")
    assert "\x1b" not in sent
    assert "Candidates × invariants" in sent
    assert [line for line in sent.splitlines() if len(line) > WIDTH] == []


def test_no_color_is_kept(tmp_path: Path) -> None:
    sent = on_a_terminal(tmp_path, TERM="xterm-256color", NO_COLOR="1")
    # The progress bar moves the cursor, and hides it; nothing else may send a sequence.
    report = sent[sent.index("Candidates × invariants") :]
    assert "\x1b" not in report
    assert re.search(r"\x1b\[[0-9;]*m", sent) is None
