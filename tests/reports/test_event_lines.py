"""The event stream: documented, the same bytes for the same run, and never in the way of a verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.errors import SixfoldError
from sixfold.harness.events import (
    Disagreed,
    Disagreement,
    Event,
    Found,
    HarnessBroke,
    Options,
    Progressed,
    RunFinished,
    RunResult,
    Stage,
)
from sixfold.harness.scenario import Scenario
from sixfold.models.deerflow import DEERFLOW_4667
from sixfold.reports.event_lines import FILE, LONGEST_TEXT, EventLines, line
from sixfold.reports.stored_run import StoredRun
from sixfold.strategies.scenarios import explore

from .runs import DOCUMENTED, closed, saved, validator

#: A device that is always full.
FULL = Path("/dev/full")


def schema(name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((DOCUMENTED / name).read_text(encoding="utf-8"))
    return told


def problems(name: str, data: Any) -> list[str]:
    """Validate against a documented schema, in which everything that is not named is refused."""
    referencing = pytest.importorskip("referencing", reason="the extra `dev` is not installed")
    registry = referencing.Registry().with_contents(
        [("verdicts.schema.json", closed(schema("verdicts.schema.json")))]
    )
    checked = validator(closed(schema(name)), registry=registry)
    return [f"{error.json_path}: {error.message}" for error in checked.iter_errors(data)]


def told(text: str) -> list[dict[str, Any]]:
    return [json.loads(each) for each in text.splitlines()]


def test_verdicts_of_a_real_run_are_documented(run_folder: Path) -> None:
    assert problems("verdicts.schema.json", json.loads((run_folder / "verdicts.json").read_text())) == []


def test_verdicts_with_hostile_text_are_documented(hostile_run: StoredRun) -> None:
    assert problems("verdicts.schema.json", json.loads(hostile_run.verdicts_json)) == []


@pytest.mark.parametrize(
    ("key", "wrong"),
    [("complete", "yes"), ("histories", -1), ("sixfold_run", 2), ("extra", 1), ("candidates", {})],
)
def test_the_schema_of_verdicts_refuses(run_folder: Path, key: str, wrong: object) -> None:
    data = json.loads((run_folder / "verdicts.json").read_text())
    assert problems("verdicts.schema.json", {**data, key: wrong})


def test_json_is_the_file_of_the_run_folder(run_folder: Path, real_run: StoredRun) -> None:
    assert real_run.verdicts_json.encode() == (run_folder / "verdicts.json").read_bytes()


def test_events_of_a_real_run_are_documented(run_folder: Path) -> None:
    events = told((run_folder / FILE).read_text(encoding="ascii"))
    assert [event["sequence"] for event in events] == list(range(len(events)))
    assert events[0]["event"] == "run-started"
    assert events[-1]["event"] == "run-finished"
    names = {event["event"] for event in events}
    assert names == {"run-started", "stage", "progressed", "found", "run-finished"}
    assert [problems("events.schema.json", event) for event in events] == [[]] * len(events)


def test_events_agree_with_the_verdicts(run_folder: Path) -> None:
    events = told((run_folder / FILE).read_text())
    verdicts = json.loads((run_folder / "verdicts.json").read_text())
    assert [event["finding"] for event in events if event["event"] == "found"] == verdicts["findings"]
    assert events[-1]["candidates"] == verdicts["candidates"]
    assert events[-1]["findings"] == [finding["id"] for finding in verdicts["findings"]]


def test_equal_runs_give_equal_bytes(run_folder: Path, tmp_path: Path) -> None:
    assert (saved(tmp_path) / FILE).read_bytes() == (run_folder / FILE).read_bytes()


def rare_events(text: str) -> list[Event]:
    scenario = Scenario(())
    return [
        Disagreed(Disagreement(text, scenario, text)),
        HarnessBroke(text, scenario, text),
        Stage(text),
        Progressed(1, 2, 3),
    ]


def test_hostile_text_stays_on_its_line(hostile_text: str) -> None:
    for number, event in enumerate(rare_events(hostile_text)):
        text = line(event, number)
        assert text.isascii()
        assert text.isprintable() or text[:-1].isprintable()
        assert len(text) < 6 * 3 * LONGEST_TEXT
        [data] = told(text)
        assert data["sequence"] == number
        assert problems("events.schema.json", data) == []
        assert str(data).encode()


def test_hostile_findings_stay_on_their_line(hostile_run: StoredRun) -> None:
    for finding in hostile_run.findings:
        [data] = told(line(Found(finding), 0))
        assert data["finding"]["id"] == finding.id
        assert problems("events.schema.json", data) == []


def test_an_event_of_a_later_version_is_named() -> None:
    class CandidateDied:
        """An event that this module does not know."""

    data = json.loads(line(CandidateDied(), 3))  # type: ignore[arg-type]
    assert data == {"sixfold_events": 1, "sequence": 3, "event": "candidate-died"}
    assert problems("events.schema.json", data) == []


def campaign(listener: EventLines | None) -> tuple[RunResult, list[tuple[str, Exception]]]:
    running = Campaign([DEERFLOW_4667], Options(max_histories=20), [] if listener is None else [listener])
    return running.run(explore), running.stream.broken


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_a_full_disk_is_reported_and_changes_no_verdict() -> None:
    result, broken = campaign(EventLines.to_file(FULL, place="--events"))
    assert result == campaign(None)[0]
    [(name, error)] = broken
    assert name == f"--events {FULL}"
    assert isinstance(error, OSError)


def test_a_file_that_cannot_be_opened_is_an_error_of_usage(tmp_path: Path) -> None:
    with pytest.raises(SixfoldError, match="cannot be written") as caught:
        EventLines.to_file(tmp_path / "missing" / "events", place="--events")
    assert caught.value.exit_code == 3
    assert caught.value.place.startswith("--events ")


def test_readers_can_follow(tmp_path: Path) -> None:
    file = tmp_path / "events"
    listener = EventLines.to_file(file, place="--events")
    listener(Stage("one"))
    assert len(told(file.read_text())) == 1
    listener(Stage("two"))
    assert [event["stage"] for event in told(file.read_text())] == ["one", "two"]


def test_the_file_is_closed_after_the_last_event() -> None:
    closed_files: list[str] = []
    listener = EventLines(lambda text: None, lambda: closed_files.append("x"))
    listener(Stage("one"))
    assert closed_files == []
    listener(RunFinished(RunResult(Options(), {}, 0, True, (), (), 0)))
    assert closed_files == ["x"]
