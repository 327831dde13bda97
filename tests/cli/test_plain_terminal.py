"""The report of a run on 80 columns and without colour: no longer line, no escape sequence."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.text import Text

from sixfold.cli.console import console
from sixfold.cli.doctor import doctor_command

from .conftest import Sixfold

WIDTH = 80
SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "run.txt"
ARGUMENTS = ("run", "deerflow", "deerflow-4667", "--max-histories", "40")
SHORT = ("run", "deerflow-4667", "--max-histories", "10")
SCRIPT = f"import sys; sys.argv = {['sixfold', *SHORT]!r}; from sixfold.cli.app import main; main()"


def test_a_run_in_a_pipe_is_the_snapshot(sixfold: Sixfold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    outcome = sixfold(*ARGUMENTS)
    assert outcome.code == 1
    assert outcome.out == SNAPSHOT.read_text(encoding="utf-8")
    assert [line for line in outcome.out.splitlines() if len(line) > WIDTH] == []
    assert "\x1b" not in outcome.out + outcome.err


def read_all(terminal: int) -> str:
    """Return what was sent to a pseudo terminal until its other end was closed."""
    sent = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        sent += part
    os.close(terminal)
    return sent.decode().replace("\r\n", "\n")


def environment(**more: str) -> dict[str, str]:
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM")}
    return plain | {"COLUMNS": str(WIDTH), "LINES": "24"} | more


def test_a_dumb_terminal_gets_text_only(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=environment(TERM="dumb"),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    sent = read_all(ours)
    assert running.wait(timeout=60) == 1
    assert "\x1b" not in sent
    assert "Candidates × invariants" in sent
    assert [line for line in sent.splitlines() if len(line) > WIDTH] == []


def test_doctor_writes_no_escape_sequence_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(TERM="xterm-256color", NO_COLOR="1").items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        with pytest.raises(typer.Exit):
            doctor_command("deerflow", histories=1, output_format="terminal", timeout=20.0, isolated=False)
    sent = read_all(ours)
    assert "is it deterministic?" in sent
    assert "\x1b" not in sent


def styled(monkeypatch: pytest.MonkeyPatch, **more: str) -> str:
    """Return what a terminal is sent for a styled text."""
    for name, value in {"NO_COLOR": "", **environment(**more)}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as file:
        console(file).print(Text("styled", style="bold italic red"))
    return read_all(ours)


@pytest.mark.parametrize(
    "wish", [{"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}, {"TERM": "unknown"}], ids=str
)
def test_without_colour_there_is_no_escape_sequence(
    monkeypatch: pytest.MonkeyPatch, wish: dict[str, str]
) -> None:
    assert styled(monkeypatch, **({"TERM": "xterm-256color"} | wish)) == "styled\n"


def test_a_colourful_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in styled(monkeypatch, TERM="xterm-256color")
