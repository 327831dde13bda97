"""A hundred thousand histories: memory, and what lies on the disk, at ten marks.

Half of the work is one run with its run folder, half are shards that are entered in a findings ledger. Set
SIXFOLD_BENCH_HISTORIES for another number.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Event, Options, Progressed
from sixfold.harness.nights.ledger import FindingsLedger
from sixfold.harness.nights.shard import Shard, play_shard, seed_of_shard
from sixfold.harness.proc import resident
from sixfold.harness.run_folder import RunFolder
from sixfold.harness.subject import subject_of
from sixfold.models.catalogue import CATALOGUE
from sixfold.strategies.scenarios import explore

from .targets import MEMORY_GROWTH, Result

TARGETS = ("deerflow-4667", "langchain.summarization")
MARKS = 10
SHARD = 1_000


def memory() -> float:
    """Return the memory that the process holds now, in MB; the most that it held where nobody tells."""
    held = resident(os.getpid())
    return held / (1 << 20) if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size_of(folder: Path) -> float:
    """Return the bytes of all files below `folder`, in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / (1 << 20)


class _Marks:
    """Prints a line at each mark, and keeps what it measured."""

    def __init__(self, what: str, total: int, folder: Path) -> None:
        self._what, self._total, self._folder = what, total, folder
        self._began = time.perf_counter()
        self.held: list[float] = []

    def passed(self, histories: int) -> None:
        """Print a line when `histories` have passed a mark."""
        if histories * MARKS < (len(self.held) + 1) * self._total:
            return
        self.held.append(memory())
        line = f"{self._what}: {histories:,} histories, {self.held[-1]:.0f} MB held, "
        line += f"{size_of(self._folder):.2f} MB on the disk, {time.perf_counter() - self._began:,.0f} s"
        print(line, file=sys.stderr, flush=True)

    @property
    def growth(self) -> float:
        """What is held at the last mark against the first one."""
        return self.held[-1] / self.held[0]


def one_run(histories: int) -> Iterator[Result]:
    """Play one run with its run folder."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base, "runs")
        marks = _Marks("run folder", histories, folder)

        def look(event: Event) -> None:
            if isinstance(event, Progressed):
                marks.passed(event.histories)

        candidates = [CATALOGUE[name]() for name in TARGETS]
        listeners = [RunFolder(folder, "long"), look]
        Campaign(candidates, Options(max_histories=histories), listeners).run(explore)
        marks.passed(histories)
        yield Result("memory at the last mark against the first, one run", marks.growth, "×", MEMORY_GROWTH)
        yield Result("  its run folder", size_of(folder), " MB")


def many_shards(histories: int) -> Iterator[Result]:
    """Play shards one after the other, and enter them in a ledger."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base, "night")
        ledger = FindingsLedger(folder / "findings.db")
        marks = _Marks("ledger", histories, folder)
        night = ledger.begin_night("2026-01-05", "none", TARGETS)
        subjects = [subject_of(CATALOGUE[name]()) for name in TARGETS]
        size = min(SHARD, histories // MARKS)
        for number in range(histories // size):
            shard = Shard(
                number=number,
                seed=seed_of_shard("none", number, night),
                targets=TARGETS,
                histories=size,
                known=ledger.masks(night, ()),
                settled=ledger.settled(),
                reached=tuple(ledger.novelties()),
            )
            ledger.record(night, play_shard(subjects, shard, explore))
            marks.passed((number + 1) * size)
        ledger.close()
        yield Result("memory at the last mark against the first, shards", marks.growth, "×", MEMORY_GROWTH)
        yield Result("  their ledger", size_of(folder), " MB")


def run() -> Iterator[Result]:
    """Play both halves."""
    half = int(os.environ.get("SIXFOLD_BENCH_HISTORIES", "100000")) // 2
    yield from one_run(half)
    yield from many_shards(half)
