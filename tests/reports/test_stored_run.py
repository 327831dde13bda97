"""Reading a run folder: what is damaged is named by its file, and nothing outside is read."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sixfold.harness.errors import SixfoldError
from sixfold.reports.stored_run import load_run


def changed(folder: Path, tmp_path: Path, change: Callable[[Any], None]) -> Path:
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    verdicts = copy / "verdicts.json"
    data = json.loads(verdicts.read_text())
    change(data)
    verdicts.write_text(json.dumps(data))
    return copy


def nothing(_data: Any) -> None:
    pass


@pytest.mark.parametrize("part", ["history", "ledger", "scenario"])
@pytest.mark.parametrize("text", ["[1, 2]", '{"a": 1}', "not JSON"])
def test_a_damaged_file_is_named(part: str, text: str, run_folder: Path, tmp_path: Path) -> None:
    copy = changed(run_folder, tmp_path, nothing)
    name = json.loads((copy / "verdicts.json").read_text())["findings"][0][part]
    (copy / name).write_text(text)
    with pytest.raises(SixfoldError) as caught:
        load_run(copy)
    assert caught.value.place.startswith(str(copy / name))


def test_a_run_of_a_later_version_is_refused(run_folder: Path, tmp_path: Path) -> None:
    copy = changed(run_folder, tmp_path, lambda data: data.update(sixfold_run=2))
    with pytest.raises(SixfoldError, match="saved in format 2"):
        load_run(copy)


@pytest.mark.parametrize("part", ["history", "ledger", "scenario"])
def test_nothing_outside_of_the_folder_is_read(part: str, run_folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    copy = changed(run_folder, tmp_path, lambda data: data["findings"][0].update({part: "../outside.json"}))
    with pytest.raises(SixfoldError, match="outside of the run folder"):
        load_run(copy)
