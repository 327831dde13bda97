"""What Sixfold costs those who do not use it right now: the plugin, imports, `--help`.

Each is a process of its own, of which the processor time is taken, not the time on the wall. Other work on
the machine still changes it by some per cent (shared caches, shared cores): so pytest runs with the plugin
and without it in pairs, and what counts is the median of the differences within the pairs. Pairs are added
until that median is known well enough. What the plugin does for each test is counted besides, which no load
can change.
"""

from __future__ import annotations

import os
import pstats
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .targets import HELP_TIME, IMPORT_TIME, PLUGIN_CALLS, PLUGIN_SHARE, PLUGIN_START, Result
from .timing import NotMeasuredError

RUNS = 9
TESTS = 1_000
FILES = 10
PLUGIN = "sixfold.cli.pytest_plugin"

#: Pairs of runs, at least and at most.
FEWEST, MOST = 8, 60

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
    """Return the processor time of a command, user and system. Raises `NotMeasuredError` when it fails."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        # `os.times` counts in hundredths of a second; this is the same in millionths, of this child alone.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            text = said.read().decode(errors="replace")[-500:]
            raise NotMeasuredError(f"{' '.join(command)} ends with {process.returncode}: {text}")
    return used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    # Other people's plugins are none of ours; and what is installed is compiled once, not at each start.
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**known, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Processor seconds without the plugin and with it, measured next to each other."""

    timed: tuple[tuple[float, float], ...]

    @property
    def without(self) -> float:
        """The median of the runs without it."""
        return statistics.median(fast for fast, _ in self.timed)

    @property
    def longer(self) -> float:
        """The median of how much longer the run with it takes than the one beside it."""
        return statistics.median(slow - fast for fast, slow in self.timed)

    @property
    def error(self) -> float:
        """The standard error of that median, from the quartiles: one disturbed pair must not count."""
        low, _, high = statistics.quantiles((slow - fast for fast, slow in self.timed), n=4)
        # A normal distribution has its quartiles 1.349 deviations apart, and its median an error of 1.253.
        return float(1.253 / 1.349 * (high - low) / len(self.timed) ** 0.5)

    def note(self) -> str:
        """Return the absolute numbers."""
        return (
            f"{self.longer * 1000:,.1f} ± {self.error * 1000:,.1f} ms on {self.without * 1000:,.0f} ms, "
            f"median of {len(self.timed)} pairs"
        )


def pairs(without: Sequence[str], with_it: Sequence[str], folder: Path, enough: float) -> Pairs:
    """Time two commands side by side until the error of the median is `enough` (seconds), or `MOST` times.

    Either goes first in turn. What the first run of each leaves in caches is not counted.
    """
    processor_seconds(without, folder)
    processor_seconds(with_it, folder)
    timed: list[tuple[float, float]] = []
    while len(timed) < FEWEST or (len(timed) < MOST and Pairs(tuple(timed)).error > enough):
        if len(timed) % 2:
            slow = processor_seconds(with_it, folder)
            timed.append((processor_seconds(without, folder), slow))
        else:
            fast = processor_seconds(without, folder)
            timed.append((fast, processor_seconds(with_it, folder)))
    return Pairs(tuple(timed))


def _suite(folder: Path, tests: int) -> None:
    """Write a suite of so many tests into `FILES` files."""
    folder.mkdir()
    # A little work in each, as in any suite.
    body = "    assert sorted(range(500, 0, -1))[0] == 1\n"
    for part in range(FILES):
        text = "".join(f"def test_{number}():\n{body}" for number in range(tests // FILES))
        (folder / f"test_{part}.py").write_text(text, encoding="utf-8")


def calls_of_the_plugin(arguments: Sequence[str], folder: Path) -> int:
    """Return how many calls of Sixfold's functions a run of pytest makes, by cProfile."""
    file = folder / "profile"
    processor_seconds((sys.executable, "-m", "cProfile", "-o", str(file), "-m", *arguments), folder)
    stats: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = pstats.Stats(str(file)).stats  # type: ignore[attr-defined]
    ours = Path(__file__).resolve().parents[1] / "cli"
    return sum(
        calls
        for (path, _, name), (_, calls, *_) in stats.items()
        if name != "<module>" and path.endswith(".py") and Path(path).resolve().is_relative_to(ours)
    )


def plugin() -> Iterator[Result]:
    """Measure the plugin on a suite that has nothing to do with it."""
    run = ("pytest", "-q", "-p", "no:cacheprovider")
    without, with_it = (sys.executable, "-m", *run), (sys.executable, "-m", *run, "-p", PLUGIN)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suite, tests in (("empty", FILES), ("few", TESTS // 10), ("whole", TESTS)):
            _suite(folder / suite, tests)
        start = pairs((*without, "empty"), (*with_it, "empty"), folder, PLUGIN_START.bound / 1000 / 20)
        enough = PLUGIN_SHARE.bound / 100 / 4 * processor_seconds((*without, "whole"), folder)
        whole = pairs((*without, "whole"), (*with_it, "whole"), folder, enough)
        processor_seconds((*without, "few"), folder)  # what has run once has one file more: its bytecode
        few, many = (calls_of_the_plugin((*run, "-p", PLUGIN, suite), folder) for suite in ("few", "whole"))
    yield Result("start-up of the plugin", start.longer * 1000, " ms", PLUGIN_START, start.note())
    # What a start costs is counted above: here it is what a thousand tests cost.
    share = 100 * (whole.longer - start.longer) / whole.without
    yield Result(f"plugin on {TESTS:,} unrelated tests", share, " %", PLUGIN_SHARE, whole.note())
    note = f"{many} calls in a run of {TESTS:,} tests in {FILES} files, {few} in one of {TESTS // 10}"
    yield Result(
        "calls of the plugin for each test", (many - few) / (TESTS - TESTS // 10), "", PLUGIN_CALLS, note
    )


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
