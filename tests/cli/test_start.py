"""The installed command: it answers at once, because heavy packages are imported only when needed."""

import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("sixfold")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(COMMAND), *arguments], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["replay", "--help"], ["--version"]])
def test_help_answers_within_a_second(arguments: list[str]) -> None:
    # Processor time: other tests compete for the wall clock.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run(*arguments).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nsys.argv = ['sixfold', '--help']\nfrom sixfold.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0, stop.code\n"
        "heavy = {'langchain', 'langchain_core', 'langgraph', 'hypothesis', 'pydantic', 'pytest'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_help_names_the_exit_codes() -> None:
    text = " ".join(run("--help").stdout.split())
    for code in ("0 nothing", "1 findings", "2 inconclusive", "3 usage", "4 the harness"):
        assert code in text


def test_version_is_the_installed_one() -> None:
    assert run("--version").stdout.strip() == f"sixfold {version('sixfold')}"


def test_catalogue_is_listed() -> None:
    done = run("list")
    assert done.returncode == 0
    assert {line.split()[0] for line in done.stdout.splitlines()} >= {"control", "deerflow", "deerflow-4667"}


def test_usage_error_in_a_real_process(tmp_path: Path) -> None:
    done = run("run", "deerflo", "--report-dir", str(tmp_path))
    assert done.returncode == 3
    assert done.stderr.startswith("error: unknown target")
    assert not list(tmp_path.iterdir())


def test_closed_pipe_is_no_error(tmp_path: Path) -> None:
    run = f"{COMMAND} run deerflow-4667 --max-histories 20 --report-dir {tmp_path}"
    command = f"set -o pipefail; {run} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1  # there are findings, whoever reads them
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr
