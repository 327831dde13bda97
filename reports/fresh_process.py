"""Running stand-alone files in a fresh process, where Sixfold cannot be imported unless they need it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..harness.harmless import harmless

#: Seconds that a file may take, and what a process takes besides.
SECONDS_A_FILE = 20
SECONDS_A_PROCESS = 40

#: What runs in the process: pytest without plugins and configuration; one line of JSON for each test.
_RUNNER = """
import json, sys
folder, result, blocked, path, names = json.loads(sys.argv[1])
sys.path[:0] = path
if blocked:
    sys.modules["sixfold"] = None
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


def rerun(scripts: Sequence[Script], *, python: str = sys.executable) -> tuple[str, ...]:
    """Run files in fresh processes; return for each what is wrong, empty when it fails as it should.

    Files are run together, and those that gave no result, each on its own.
    """
    reports: dict[Script, list[list[str]]] = {}
    for needs_sixfold in (False, True):
        together = [script for script in scripts if script.needs_sixfold == needs_sixfold]
        if together:
            reports.update(_run(together, python))
    alone = [script for script in scripts if not reports[script]] if len(scripts) > 1 else []
    for script in alone:
        reports.update(_run([script], python))
    return tuple(_judged(script, reports[script]) for script in scripts)


def _judged(script: Script, reports: list[list[str]]) -> str:
    if not reports:
        return "it came to no end"
    for _, outcome, kind, text in reports:
        if outcome == "passed":
            return "it passes"
        if kind != "AssertionError" or not text.startswith(script.message):
            return harmless(f"{outcome} with {kind or 'no error'}: {text}", 200)
    return ""


def _run(scripts: Sequence[Script], python: str) -> dict[Script, list[list[str]]]:
    """Run files in one process, and return the lines that it told about each."""
    with tempfile.TemporaryDirectory(prefix="repro-") as folder:
        for script in scripts:
            Path(folder, script.name).write_text(script.text, encoding="utf-8")
        result = Path(folder, "result.jsonl")
        names = [str(Path(folder, script.name)) for script in scripts]
        blocked = not scripts[0].needs_sixfold
        path = [str(Path.cwd()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        asked = json.dumps([folder, str(result), blocked, path, names])
        variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        variables.pop("PYTEST_ADDOPTS", None)
        seconds = SECONDS_A_PROCESS + SECONDS_A_FILE * len(scripts)
        command = [python, "-I", "-c", _RUNNER, asked]
        # What was told before the time was up counts; the rest came to no end.
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, env=variables, capture_output=True, timeout=seconds, check=False)
        lines = result.read_text(encoding="utf-8").splitlines() if result.is_file() else []
    told = [json.loads(line) for line in lines]
    return {script: [each for each in told if each[0] == script.name] for script in scripts}
