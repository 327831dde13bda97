"""Running stand-alone files in fresh processes, where Sixfold cannot be imported unless they need it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..harness.errors import SixfoldError
from ..harness.harmless import harmless
from ..harness.orphans import lives

#: Seconds that a file may take, and what a process takes besides.
SECONDS_A_FILE = 20
SECONDS_A_PROCESS = 40

#: Files for which another process is worth its start.
_FILES_A_PROCESS = 3

#: Seconds between two looks at how far the processes are.
_GLANCE = 0.2

#: Where files are run: a folder that names the process which made it, and so is known to be left over.
_PLACE = "sixfold-repro-"

#: The file in which a process tells of its tests.
_RESULT = "result.jsonl"

#: Told how many files have been run so far.
Follow = Callable[[int], None]

#: What runs in the process: pytest without plugins and configuration; one line of JSON for each test.
_RUNNER = """
import json, sys
folder, result, blocked, path, names = json.loads(sys.argv[1])
sys.path[:0] = path
if blocked:
    sys.modules["sixfold"] = None
if sys.platform == "linux":
    import ctypes
    # Whoever waits for this process may be killed: then the kernel ends it (PR_SET_PDEATHSIG, SIGKILL).
    ctypes.CDLL(None).prctl(1, 9)
import pytest

class Listener:
    def pytest_exception_interact(self, node, call, report):
        error = call.excinfo.value
        text = str(error).replace(folder, "")
        if report.when == "collect":
            text = text.strip().splitlines()[-1]
        self.tell(report, "failed", type(error).__name__, text)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and not report.failed:
            self.tell(report, report.outcome, "", "")

    def tell(self, report, *told):
        name = report.nodeid.partition("::")[0].rpartition("/")[2]
        line = json.dumps([name, *told])
        with open(result, "a", encoding="utf-8") as out:
            print(line, file=out)

options = ["-q", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null", "--rootdir", folder]
sys.exit(pytest.main([*options, *names], plugins=[Listener()]))
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A file to run: its name and text, whether it may import Sixfold, and how its assertion begins."""

    name: str
    text: str
    needs_sixfold: bool
    message: str


def rerun(
    scripts: Sequence[Script], *, python: str = sys.executable, follow: Follow | None = None
) -> tuple[str, ...]:
    """Run files in fresh processes; return for each what is wrong, empty when it fails as it should.

    Files are run together, on all cores, and those that gave no result, each on its own.
    """
    reports = _run_all([part for both in _parted(scripts) for part in both], python, follow)
    alone = [script for script in scripts if not reports[script]] if len(scripts) > 1 else []
    for script in alone:
        reports |= _run_all([[script]], python, None)
    return tuple(_judged(script, reports[script]) for script in scripts)


def _parted(scripts: Sequence[Script]) -> Iterator[list[list[Script]]]:
    """Yield the scripts without and those with Sixfold, each in parts for the cores that there are."""
    for needs_sixfold in (False, True):
        together = [script for script in scripts if script.needs_sixfold == needs_sixfold]
        parts = min(_cores(), -(-len(together) // _FILES_A_PROCESS))
        yield [together[first::parts] for first in range(parts)]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _run_all(
    parts: Sequence[Sequence[Script]], python: str, follow: Follow | None
) -> dict[Script, list[list[str]]]:
    """Run each part in a process of its own, as many at a time as there are cores."""
    reports: dict[Script, list[list[str]]] = {}
    with _workplace() as base, ThreadPoolExecutor(_cores()) as pool:
        folders = [base / str(number) for number in range(len(parts))]
        running = {pool.submit(_run, part, python, at) for part, at in zip(parts, folders, strict=True)}
        waiting = running
        while waiting:
            _, waiting = wait(waiting, _GLANCE)
            if follow is not None:
                follow(sum(len({name for name, *_ in _told(folder)}) for folder in folders))
        for done in running:
            reports |= done.result()
    return reports


@contextmanager
def _workplace() -> Iterator[Path]:
    """Make a folder that is deleted behind the block, and delete those of processes that were killed.

    Raises `SixfoldError` when its disk is full.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PLACE}*"):
        pid = left.name.removeprefix(_PLACE).partition("-")[0]
        ours = not left.is_symlink() and left.lstat().st_uid == os.geteuid()
        if ours and pid.isdigit() and not lives(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{_PLACE}{os.getpid()}-") as folder:
            yield Path(folder)
    except OSError as error:
        raise SixfoldError(
            f"the stand-alone tests cannot be run: {error.strerror or error}",
            place=str(error.filename or tempfile.gettempdir()),
            remedy="Make room there, or name another folder for temporary files in TMPDIR.",
        ) from error


def _judged(script: Script, reports: list[list[str]]) -> str:
    if not reports:
        return "it came to no end"
    for _, outcome, kind, text in reports:
        if outcome == "passed":
            return "it passes"
        if kind != "AssertionError" or not text.startswith(script.message):
            return harmless(f"{outcome} with {kind or 'no error'}: {text}", 200)
    return ""


def _run(scripts: Sequence[Script], python: str, folder: Path) -> dict[Script, list[list[str]]]:
    """Run files in one process, in a new `folder`, and return the lines that it told about each."""
    folder.mkdir()
    for script in scripts:
        (folder / script.name).write_text(script.text, encoding="utf-8")
    names = [str(folder / script.name) for script in scripts]
    blocked = not scripts[0].needs_sixfold
    path = [str(Path.cwd()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    asked = json.dumps([str(folder), str(folder / _RESULT), blocked, path, names])
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    variables.pop("PYTEST_ADDOPTS", None)
    seconds = SECONDS_A_PROCESS + SECONDS_A_FILE * len(scripts)
    command = [python, "-I", "-c", _RUNNER, asked]
    # What was told before the time was up counts; the rest came to no end.
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(command, env=variables, capture_output=True, timeout=seconds, check=False)
    told = _told(folder)
    return {script: [each for each in told if each[0] == script.name] for script in scripts}


def _told(folder: Path) -> list[list[str]]:
    """Return what the process in `folder` has told so far."""
    result = folder / _RESULT
    lines = result.read_text(encoding="utf-8").split("\n") if result.is_file() else []
    # The last line is empty, or still being written.
    return [json.loads(line) for line in lines[:-1]]
