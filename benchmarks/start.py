"""What Sixfold costs those who do not use it right now: the plugin, imports, `--help`.

Each is a process of its own; pytest runs with the plugin and without it take turns. Processor time is taken,
and the least of many runs on each side: other work on the machine only ever adds to it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .targets import HELP_TIME, IMPORT_TIME, PLUGIN_SHARE, PLUGIN_START, Result
from .timing import NotMeasuredError

RUNS = 9
TESTS = 1_000
PLUGIN = "sixfold.cli.pytest_plugin"

#: What everybody imports who uses Sixfold at all, with or without it.
_WITHOUT = (
    "import langchain.agents, langchain.agents.middleware, langgraph.graph, hypothesis.stateful, pytest"
)
_IMPORTS = {
    "import sixfold.harness": "import sixfold.harness",
    "import sixfold.strategies": "import sixfold.strategies",
    "machine_for, scenarios, check": "from sixfold.strategies import machine_for, scenarios\n"
    "from sixfold.harness import check",
}


def processor_seconds(command: Sequence[str], folder: Path) -> float:
    """Return the processor time of a command. Raises `NotMeasuredError` when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise NotMeasuredError(f"{' '.join(command)} ends with {done.returncode}: {done.stdout[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment() -> dict[str, str]:
    # Other people's plugins are none of ours; and what is installed is compiled once, not at each start.
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**known, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def pairs(
    without: Sequence[str], with_it: Sequence[str], folder: Path, runs: int = RUNS
) -> list[tuple[float, float]]:
    """Time two commands in alternation; what the first run of each leaves in caches is not counted."""
    processor_seconds(without, folder)
    processor_seconds(with_it, folder)
    return [(processor_seconds(without, folder), processor_seconds(with_it, folder)) for _ in range(runs)]


def _least(timed: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the least of each side."""
    fast, slow = (min(side) for side in zip(*timed, strict=True))
    return fast, slow


def _note(timed: Sequence[tuple[float, float]]) -> str:
    fast, slow = _least(timed)
    return f"{fast * 1000:,.0f} ms without, {slow * 1000:,.0f} ms with it, least of {len(timed)} pairs"


def plugin() -> Iterator[Result]:
    """Measure the plugin on a suite that has nothing to do with it."""
    pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A little work in each, as in any suite.
        body = "    assert sorted(range(500, 0, -1))[0] == 1\n"
        for part in range(10):
            text = "".join(f"def test_{number}():\n{body}" for number in range(TESTS // 10))
            (folder / f"test_{part}.py").write_text(text, encoding="utf-8")
        (folder / "empty").mkdir()
        (folder / "empty" / "test_one.py").write_text("def test_one(): pass\n", encoding="utf-8")
        start = pairs((*pytest, "empty"), (*pytest, "-p", PLUGIN, "empty"), folder)
        whole = pairs((*pytest,), (*pytest, "-p", PLUGIN), folder)
    begin, end = _least(start), _least(whole)
    started = longer(begin)
    yield Result("start-up of the plugin", started * 1000, " ms", PLUGIN_START, _note(start))
    # What a start costs is counted above: here it is what a thousand tests cost.
    share = 100 * (longer(end) - started) / end[0]
    yield Result(f"plugin on {TESTS:,} unrelated tests", max(share, 0.0), " %", PLUGIN_SHARE, _note(whole))


def longer(sides: tuple[float, float]) -> float:
    """Return how much longer the slow side takes."""
    return sides[1] - sides[0]


def imports() -> Iterator[Result]:
    """Measure what importing Sixfold costs beyond LangChain, LangGraph and Hypothesis."""
    for what, text in _IMPORTS.items():
        script = (
            f"{_WITHOUT}\nfrom time import process_time\nbefore = process_time()\n"
            f"{text}\nprint(process_time() - before)"
        )
        timed = []
        for _ in range(RUNS + 1):
            done = subprocess.run(
                [sys.executable, "-c", script], env=_environment(), capture_output=True, text=True, check=True
            )
            timed.append(float(done.stdout))
        least, most = min(timed[1:]), max(timed[1:])
        note = f"least of {RUNS} processes, at most {most * 1000:,.0f} ms"
        yield Result(what, least * 1000, " ms", IMPORT_TIME, note)


def help_text() -> Iterator[Result]:
    """Measure how long `sixfold --help` takes."""
    script = "import sys; sys.argv = ['sixfold', '--help']; from sixfold.cli.app import main; main()"
    command = (sys.executable, "-c", script)
    with tempfile.TemporaryDirectory() as name:
        timed = [processor_seconds(command, Path(name)) for _ in range(RUNS + 1)][1:]
    note = f"{min(timed) * 1000:,.0f} to {max(timed) * 1000:,.0f} ms, {len(timed)} runs"
    yield Result("sixfold --help", min(timed) * 1000, " ms", HELP_TIME, note)


def run() -> Iterator[Result]:
    """Yield the results."""
    yield from plugin()
    yield from imports()
    yield from help_text()
