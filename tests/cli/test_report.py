"""`sixfold report`: each format is a file, written whole or not at all, and GitHub gets what it reads."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sixfold.reports import standalone

from ..reports.runs import saved
from .conftest import Sixfold


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def written(run: Path) -> set[str]:
    return {path.name for path in (run / "reports").iterdir()} if (run / "reports").exists() else set()


def ids(run: Path) -> list[str]:
    return [finding["id"] for finding in json.loads((run / "verdicts.json").read_text())["findings"]]


def test_markdown_without_a_format(sixfold: Sixfold, run: Path) -> None:
    outcome = sixfold("report", "run")
    assert outcome.code == 0
    assert written(run) == {f"{each}.md" for each in ids(run)}
    assert outcome.out.splitlines() == [f"run/reports/{each}.md" for each in ids(run)]


def test_several_formats(sixfold: Sixfold, run: Path) -> None:
    assert sixfold("report", "run", "--format", "junit", "--format", "sarif").code == 0
    assert written(run) == {"junit.xml", "sixfold.sarif"}


def test_all_formats(sixfold: Sixfold, run: Path) -> None:
    outcome = sixfold("report", "run", "--format", "all")
    expected = {"junit.xml", "sixfold.sarif", "verdicts.json", "github-annotations.txt", "github-summary.md"}
    assert written(run) >= expected | {f"{each}.md" for each in ids(run)}
    assert {f"run/reports/{name}" for name in written(run)} == set(outcome.out.splitlines())
    assert (run / "reports" / "verdicts.json").read_bytes() == (run / "verdicts.json").read_bytes()


def test_a_report_written_twice_is_the_same(sixfold: Sixfold, run: Path) -> None:
    sixfold("report", "run", "--format", "all")
    first = {name: (run / "reports" / name).read_bytes() for name in written(run)}
    sixfold("report", "run", "--format", "all")
    assert {name: (run / "reports" / name).read_bytes() for name in written(run)} == first


def test_unknown_format(sixfold: Sixfold, run: Path) -> None:
    outcome = sixfold("report", "run", "--format", "junit", "--format", "pdf")
    assert outcome.code == 3
    assert "unknown format 'pdf'" in outcome.err
    assert "Use one of markdown, html, repro, junit, sarif, github, json" in outcome.err
    assert written(run) == set()


def test_formats_are_listed(sixfold: Sixfold) -> None:
    outcome = sixfold("report", "--list-formats")
    assert outcome.code == 0
    names = [line.split()[0] for line in outcome.out.splitlines()]
    assert names[:7] == ["markdown", "html", "repro", "junit", "sarif", "github", "json"]


def test_one_finding_is_printed(sixfold: Sixfold, run: Path) -> None:
    [first, *_] = ids(run)
    outcome = sixfold("report", "run", "--finding", first)
    assert outcome.out.startswith(f"# {first}: ")
    assert sixfold("report", "run", "--finding", first, "--format", "all").out.startswith(f"# {first}: ")
    assert written(run) == set()


def test_a_format_without_single_findings_says_so(sixfold: Sixfold, run: Path) -> None:
    outcome = sixfold("report", "run", "--finding", ids(run)[0], "--format", "junit")
    assert outcome.code == 3
    assert "the format junit is about a whole run" in outcome.err
    assert "markdown" in outcome.err


def test_github_gets_annotations_on_stdout(
    sixfold: Sixfold, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    outcome = sixfold("report", "run", "--format", "github")
    commands = [line for line in outcome.out.splitlines() if line.startswith("::")]
    assert len(commands) == len(ids(run))
    assert written(run) == {"github-annotations.txt", "github-summary.md"}
    assert (run / "reports" / "github-annotations.txt").read_text().splitlines() == commands


def test_github_summary_is_appended(
    sixfold: Sixfold, run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert sixfold("report", "run", "--format", "github").code == 0
    assert summary.read_text().startswith("# before\n## Sixfold: ")
    assert "github-summary.md" not in written(run)
    sixfold("report", "run", "--format", "all")
    assert summary.read_text().count("## Sixfold") == 1


def test_a_summary_that_cannot_be_written_is_an_error(
    sixfold: Sixfold, run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "missing" / "summary.md"))
    outcome = sixfold("report", "run", "--format", "github")
    assert outcome.code == 3
    assert "missing" in outcome.err


SCRIPT = """
import os, resource, signal, sys
from pathlib import Path
from sixfold.cli.app import main
{preparation}
sys.argv = ["sixfold", "report", "run", "--format", "junit"]
main()
"""
SMALL_DISK = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
KILLED = """
def killed(self, data, write=Path.write_bytes):
    write(self, data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
Path.write_bytes = killed
"""


def interrupted(preparation: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.format(preparation=preparation)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("preparation", "code"), [(SMALL_DISK, 3), (KILLED, -signal.SIGKILL)], ids=["full disk", "killed"]
)
@pytest.mark.parametrize("old", [None, "the old report"])
def test_an_interrupted_report_leaves_the_old_file_or_none(
    sixfold: Sixfold, run: Path, tmp_path: Path, preparation: str, code: int, old: str | None
) -> None:
    file = run / "reports" / "junit.xml"
    if old is not None:
        file.parent.mkdir()
        file.write_text(old)
    done = interrupted(preparation, tmp_path)
    assert done.returncode == code
    if code == 3:
        assert "error: the file cannot be written: File too large" in done.stderr
        assert "where: run/reports/junit.xml" in done.stderr
        assert "remedy: Make room" in done.stderr
        assert {path.name for path in file.parent.iterdir()} == ({file.name} if old else set())
    assert (file.read_text() if file.exists() else None) == old
    assert sixfold("report", "run", "--format", "junit").code == 0
    assert file.read_text().startswith("<?xml")
    assert {path.name for path in file.parent.iterdir()} == {file.name}


def test_a_full_disk_leaves_all_files_of_before(sixfold: Sixfold, run: Path, tmp_path: Path) -> None:
    assert sixfold("report", "run", "--format", "junit", "--format", "github").code == 0
    for path in (run / "reports").iterdir():
        path.write_text(f"old {path.name}")
    # The annotations are small enough for this disk, and the first to be written.
    script = SCRIPT.replace('"junit"', '"github", "--format", "junit"').format(preparation=SMALL_DISK)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 3
    for path in (run / "reports").iterdir():
        assert path.read_text() == f"old {path.name}"


def test_what_a_killed_report_left_is_deleted_at_the_next(
    sixfold: Sixfold, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    preparation = """
import sixfold.reports.fresh_process as fresh
def killed(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
fresh.subprocess.run = killed
"""
    script = SCRIPT.replace('"junit"', '"repro"').format(preparation=preparation)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == -signal.SIGKILL
    assert len(list(temporary.iterdir())) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    standalone._OUTCOMES.clear()
    sixfold("report", "run", "--format", "repro")
    assert list(temporary.iterdir()) == []
