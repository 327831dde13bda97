"""`sixfold run --events`: a stream for programs beside the report for people, and no part of the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Sixfold

FEW = ("deerflow-4667", "--max-histories", "20", "--report-dir", "runs")


def told(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_file_and_run_folder_hold_the_same(sixfold: Sixfold, tmp_path: Path) -> None:
    assert sixfold("run", *FEW, "--events", "events.ndjson").code == 1
    text = (tmp_path / "events.ndjson").read_text()
    assert text == (tmp_path / "runs" / "latest" / "events.ndjson").read_text()
    assert [event["sequence"] for event in told(text)] == list(range(len(told(text))))
    assert told(text)[-1]["event"] == "run-finished"


def test_stdout_holds_events_only(sixfold: Sixfold, tmp_path: Path) -> None:
    outcome = sixfold("run", *FEW, "--events", "-")
    assert outcome.code == 1
    assert outcome.out == (tmp_path / "runs" / "latest" / "events.ndjson").read_text()
    assert "Candidates × invariants" in outcome.err


def test_what_candidates_print_stays_out_of_the_stream(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "from langchain.agents.middleware import AgentMiddleware\n"
        "class Loud(AgentMiddleware):\n"
        "    def before_agent(self, state, runtime):\n"
        "        print('noise', flush=True)\n"
    )
    outcome = sixfold("run", "loud.py:Loud", *FEW[1:], "--events", "-")
    assert told(outcome.out)[-1]["event"] == "run-finished"
    assert "noise" not in outcome.out


def test_two_documents_on_stdout_are_refused(sixfold: Sixfold, tmp_path: Path) -> None:
    outcome = sixfold("run", *FEW, "--events", "-", "--format", "json")
    assert outcome.code == 3
    assert "mixed on stdout" in outcome.err
    assert not (tmp_path / "runs").exists()


def test_a_file_that_cannot_be_opened_is_told_before_the_run(sixfold: Sixfold, tmp_path: Path) -> None:
    outcome = sixfold("run", *FEW, "--events", "missing/events")
    assert outcome.code == 3
    assert "--events missing/events" in outcome.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_stream_that_breaks_is_reported_and_changes_nothing(sixfold: Sixfold, tmp_path: Path) -> None:
    broken = sixfold("run", *FEW, "--events", "/dev/full")
    assert "warning: --events /dev/full broke and was left out: OSError" in broken.err
    whole = sixfold("run", *FEW)
    assert (broken.code, broken.out) == (whole.code, whole.out)
    runs = sorted(path for path in (tmp_path / "runs").iterdir() if not path.is_symlink())
    first, second = ((path / "verdicts.json").read_bytes() for path in runs)
    assert first == second
