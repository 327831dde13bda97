"""Nights side by side: one worker, two, and two of a cluster, from the same ledger and on the same seeds.

Set SIXFOLD_BENCH_SECONDS for nights of another length than two minutes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sixfold.harness.nights.ledger import FindingsLedger

from .targets import CLUSTER_SHARE, WORKER_GAIN, Result

TARGETS = ("deerflow-4667", "langchain.summarization")

_PROGRAM = (sys.executable, "-c", "from sixfold.cli.app import main; main()")

#: Seconds beyond its budget after which a night is taken for stuck.
_PATIENCE = 600


def night(folder: Path, seconds: int, *crew: str) -> float:
    """Run a night in `folder`; return its histories for each second of the budget."""
    done = subprocess.run(
        [*_PROGRAM, "nightly", *TARGETS, "--budget", f"{seconds}s", *crew],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds + _PATIENCE,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(
            f"the night with {' '.join(crew)} ended with {done.returncode}: {done.stderr[-500:]}"
        )
    ledger = FindingsLedger(folder / ".sixfold" / "findings.db")
    played = ledger.nights()[-1].histories
    ledger.close()
    return played / seconds


def run() -> Iterator[Result]:
    """Let one night find what there is, then run each crew on a copy of its ledger."""
    seconds = int(os.environ.get("SIXFOLD_BENCH_SECONDS", "120"))
    with tempfile.TemporaryDirectory() as base:
        first = Path(base, "first")
        first.mkdir()
        night(first, seconds, "--workers", "2")

        def rate(name: str, *crew: str) -> float:
            return night(Path(shutil.copytree(first, Path(base, name))), seconds, *crew)

        one = rate("one", "--workers", "1")
        yield Result("night with 1 worker", one, " histories/s")
        two = rate("two", "--workers", "2")
        yield Result("night with 2 workers", two, " histories/s")
        yield Result("  2 workers against 1", two / one, "×", WORKER_GAIN)
        if importlib.util.find_spec("distributed") is None:
            yield Result("night on a cluster", 0, note="not measured: the extra cluster is not installed")
            return
        cluster = rate("cluster", "--cluster", "local:2", "--workers", "2")
        yield Result("night on a cluster of 2 workers", cluster, " histories/s")
        yield Result("  cluster against 2 workers", cluster / two, "×", CLUSTER_SHARE)
