"""The run folder: whole files or none, the same bytes for the same run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.errors import ExitCode, SixfoldError
from sixfold.harness.events import Options
from sixfold.harness.history import history_from_json
from sixfold.harness.run_folder import RunFolder, write_atomically, write_together
from sixfold.harness.scenario import load
from sixfold.models.deerflow import DEERFLOW_4667

from ..helpers import explore


def saved(base: Path, *, seed: int = 0) -> RunFolder:
    folder = RunFolder(base, "run")
    Campaign([DEERFLOW_4667], Options(seed=seed, max_histories=60), [folder]).run(explore)
    return folder


def contents(folder: RunFolder) -> dict[str, bytes]:
    files = (path for path in folder.path.rglob("*") if path.is_file())
    return {path.relative_to(folder.path).as_posix(): path.read_bytes() for path in files}


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    first, second = contents(saved(tmp_path / "a")), contents(saved(tmp_path / "b"))
    assert first == second
    assert {"options.json", "verdicts.json"} < set(first)


def test_another_seed_visits_other_scenarios(tmp_path: Path) -> None:
    one, two = contents(saved(tmp_path, seed=1)), contents(saved(tmp_path, seed=2))
    assert one["options.json"] != two["options.json"]
    assert one["verdicts.json"] != two["verdicts.json"]


def test_every_finding_has_its_files(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    findings = json.loads((folder.path / "verdicts.json").read_text())["findings"]
    assert findings
    for finding in findings:
        assert load(folder.path / finding["scenario"]).steps
        history = history_from_json((folder.path / finding["history"]).read_text())
        assert history.candidate == finding["candidate"]
        assert 0 < finding["record"] < len(history.records)


def test_latest_points_at_the_newest_run(tmp_path: Path) -> None:
    saved(tmp_path)
    second = saved(tmp_path)
    assert second.path.name == "run-2"
    assert (tmp_path / "latest").resolve() == second.path.resolve()


def test_no_draft_is_left_behind(tmp_path: Path) -> None:
    saved(tmp_path)
    assert not list(tmp_path.rglob("*.tmp"))
    assert not list(tmp_path.rglob(".latest*"))


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    write_atomically(path, "old")

    def full(self: Path, *args: object, **more: object) -> int:
        with open(self, "w", encoding="utf-8") as half:
            half.write("ne")
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file.json"]


def test_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SixfoldError) as raised:
        RunFolder(tmp_path / "taken", "run")
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.place == str(tmp_path / "taken")


def a_dead_process() -> str:
    return subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True, text=True
    ).stdout.strip()


def test_drafts_of_killed_processes_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    dead = a_dead_process()
    drafts = [f".a.json.{dead}.tmp", f".a.json.{os.getppid()}.tmp", f".mine.{dead}.tmp", ".a.json.x.tmp"]
    for name in drafts:
        (tmp_path / name).write_text("draft")
    write_together({tmp_path / "a.json": "new", tmp_path / "deep" / "b.json": "new"})
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "deep", *drafts[1:]}


def test_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "folder").write_text("a file where a folder should be")
    with pytest.raises(SixfoldError, match="cannot be written") as caught:
        write_together({tmp_path / "a": "new", tmp_path / "folder" / "b": "new"})
    assert caught.value.place == str(tmp_path / "folder" / "b")
    assert (tmp_path / "a").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a", "folder"}
