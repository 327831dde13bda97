"""A fleet on paper: how many workers one coordinator can serve, from what it does for each shard.

What a coordinator does for a shard is measured here, on a real result and a real ledger; the fleet itself is
simulated: workers ask, wait for their turn at the coordinator, and play for the length of a shard.
"""

from __future__ import annotations

import heapq
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sixfold.harness.nights.ledger import FindingsLedger
from sixfold.harness.nights.shard import Shard, play_shard, result_from_json, result_to_json, shard_to_json
from sixfold.harness.subject import subject_of
from sixfold.models.catalogue import CATALOGUE, DEFAULT_TARGETS
from sixfold.strategies.scenarios import explore

from .targets import Result

WORKERS = (1, 2, 10, 100, 300, 1_000)

#: Seconds of a shard, as a night of an hour or longer has them, and of the simulated night.
SHARD = 120.0
NIGHT = 3_600.0

#: Shards whose results are entered to measure one.
ENTERED = 100

#: A fleet is saturated when its workers play for less than this share of the night.
ENOUGH = 0.95


def seconds_for_a_shard() -> float:
    """Return what the coordinator needs to take one result and to hand out one shard, in seconds."""
    subjects = [subject_of(CATALOGUE[name]()) for name in DEFAULT_TARGETS if name != "control"]
    result = play_shard(subjects, Shard(number=0, seed=1, targets=DEFAULT_TARGETS, histories=300), explore)
    text = result_to_json(result)
    times = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = FindingsLedger(Path(folder, "findings.db"))
        night = ledger.begin_night("2026-01-05", "none", DEFAULT_TARGETS)
        for number in range(ENTERED):
            began = time.perf_counter()
            ledger.record(night, replace(result_from_json(text), number=number))
            known = tuple(entry.known for entry in ledger.findings())
            shard_to_json(
                Shard(
                    number=number,
                    seed=number,
                    targets=DEFAULT_TARGETS,
                    histories=1,
                    known=known,
                    settled=ledger.settled(),
                    reached=tuple(ledger.novelties()),
                )
            )
            times.append(time.perf_counter() - began)
        ledger.close()
    return statistics.median(times)


def share_at_work(workers: int, service: float, *, shard: float = SHARD, night: float = NIGHT) -> float:
    """Return the share of the night for which workers play, when a coordinator serves one at a time."""
    waiting = [(0.0, number) for number in range(workers)]
    free_at = played = 0.0
    while waiting:
        asked, number = heapq.heappop(waiting)
        free_at = max(free_at, asked) + service
        if free_at >= night:
            continue
        played += min(shard, night - free_at)
        if free_at + shard < night:
            heapq.heappush(waiting, (free_at + shard, number))
    return played / (workers * night)


def run() -> Iterator[Result]:
    """Measure the coordinator's work, then simulate fleets of growing size."""
    service = seconds_for_a_shard()
    note = f"so some {SHARD / service:,.0f} workers keep it busy"
    yield Result("coordinator's work for a shard of two minutes", 1000 * service, " ms", note=note)
    for workers in WORKERS:
        share = share_at_work(workers, service)
        verdict = "" if share >= ENOUGH else "saturated"
        yield Result(f"  fleet of {workers:,}: share of the night at work", 100 * share, " %", note=verdict)
