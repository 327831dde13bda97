"""Running files in a fresh process: what is told of each, whatever it does."""

import errno
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from sixfold.harness.errors import SixfoldError
from sixfold.reports import fresh_process
from sixfold.reports.fresh_process import Script, rerun
from sixfold.reports.progress import counting

GOOD = Script("test_good.py", "def test_it():\n    assert 1 == 2, 'the claim'\n", False, "the claim")

BODIES = {
    "it passes": "assert True, 'the claim'",
    "failed with AssertionError: another": "assert False, 'another'",
    "failed with ValueError: the claim": "raise ValueError('the claim')",
    "failed with ModuleNotFoundError: No module named 'sixfold.harness'": "import sixfold.harness.steps",
}


def test_each_file_is_told_by_what_it_does() -> None:
    scripts = [
        replace(GOOD, name=f"test_{n}.py", text=f"def test_it():\n    {body}\n")
        for n, body in enumerate(BODIES.values())
    ]
    outcomes = rerun([GOOD, *scripts])
    assert outcomes[0] == ""
    for outcome, expected in zip(outcomes[1:], BODIES, strict=True):
        assert outcome.startswith(expected)


def test_a_file_that_needs_sixfold_can_import_it() -> None:
    text = f"import sixfold.harness.steps\n\n\n{GOOD.text}"
    assert rerun([replace(GOOD, text=text, needs_sixfold=True)]) == ("",)


def test_a_file_that_cannot_be_read_fails_in_another_way() -> None:
    [outcome] = rerun([replace(GOOD, text="import nothing_of_that_name\n")])
    assert "nothing_of_that_name" in outcome


def test_a_file_that_ends_the_process_spoils_no_other() -> None:
    ends = replace(GOOD, name="test_a_ends.py", text="import os\n\n\ndef test_it():\n    os._exit(3)\n")
    assert rerun([ends, GOOD]) == ("it came to no end", "")


def test_a_file_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_process, "SECONDS_A_PROCESS", 3)
    monkeypatch.setattr(fresh_process, "SECONDS_A_FILE", 0)
    hangs = replace(GOOD, name="test_a_hangs.py", text="def test_it():\n    while True:\n        pass\n")
    assert rerun([hangs]) == ("it came to no end",)


def test_whoever_follows_is_told_how_many_files_have_been_run() -> None:
    scripts = [replace(GOOD, name=f"test_{number}.py") for number in range(5)]
    told: list[int] = []
    assert rerun(scripts, follow=told.append) == ("",) * 5
    assert told == sorted(told)
    assert told[-1] == 5


@pytest.mark.parametrize(("cores", "files", "parts"), [(1, 9, 1), (4, 2, 1), (4, 9, 3), (2, 9, 2), (4, 0, 0)])
def test_files_are_run_on_the_cores_that_are_worth_it(
    monkeypatch: pytest.MonkeyPatch, cores: int, files: int, parts: int
) -> None:
    monkeypatch.setattr(fresh_process, "_cores", lambda: cores)
    scripts = [replace(GOOD, name=f"test_{number}.py") for number in range(files)]
    without, with_sixfold = fresh_process._parted(scripts)
    assert (len(without), with_sixfold) == (parts, [])
    assert sorted(script.name for part in without for script in part) == [each.name for each in scripts]


def test_a_temporary_folder_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(SixfoldError, match="stand-alone tests cannot be run") as caught:
        rerun([GOOD])
    assert str(tmp_path / "missing") in caught.value.place
    assert "TMPDIR" in caught.value.remedy


def test_a_full_temporary_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(SixfoldError, match="No space left on device") as caught:
        rerun([GOOD])
    assert caught.value.place


def test_the_bar_is_drawn_on_a_terminal_and_nowhere_else() -> None:
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=80)
        with counting(console, "running stand-alone tests") as follow:
            follow(2, 7)
        assert isinstance(console.file, io.StringIO)
        text = console.file.getvalue()
        assert ("running stand-alone tests" in text, "2/7" in text) == (terminal, terminal)
