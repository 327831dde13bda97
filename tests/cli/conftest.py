"""Runs the command line in this process, through its guard, in an empty folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sixfold.cli.app import app
from sixfold.cli.guard import guarded


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Sixfold = Callable[..., Outcome]


@pytest.fixture
def sixfold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Sixfold:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    # A worker takes seconds to start; what is played in one is tested with --isolate.
    monkeypatch.setenv("SIXFOLD_ISOLATE", "0")

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr("sys.argv", ["sixfold", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            guarded(app)
        captured = capsys.readouterr()
        code = stop.value.code
        assert isinstance(code, int)
        return Outcome(code, captured.out, captured.err)

    return run
