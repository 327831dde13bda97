"""Crews: who plays the shards of a spool. The crew of one machine are pytest-xdist workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...harness.errors import HarnessBrokenError
from .spool import Spool
from .watch import ShardLimits, Watch

#: Seconds between two looks at what the workers have done, and for which they are waited for in the end.
_LOOK = 0.25
_PATIENCE = 60.0

#: The file of a spool that holds what the workers of this machine said.
WORKERS_LOG = "workers.log"

#: Exit codes of pytest that say that it did its work: all passed, some failed, or there was none.
_WORKED = (0, 1, 5)


@dataclass(frozen=True, slots=True)
class Crew:
    """So many workers, and the function that lets them play all shards of a spool.

    It takes the spool, the end of the night in seconds since the epoch (None: when all is played), and a
    function to call again and again meanwhile. It returns what went wrong without ending the night.
    """

    workers: int
    work_through: Callable[[Spool, float | None, Callable[[], None]], tuple[str, ...]]


def crew_of_this_machine(workers: int, limits: ShardLimits | None = None) -> Crew:
    """Return a crew of so many processes."""
    return Crew(workers, partial(_work_through, workers, limits or ShardLimits()))


def work_environment() -> dict[str, str]:
    """Return the environment of workers: they import what this process could import."""
    folders = [path or os.getcwd() for path in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONHASHSEED": "0"}


def _work_through(
    workers: int, limits: ShardLimits, spool: Spool, until: float | None, look: Callable[[], None]
) -> tuple[str, ...]:
    """Let workers play all shards of the spool.

    Raises `HarnessBrokenError` when pytest cannot work, and `KeyboardInterrupt`, once the workers have handed
    in what they have, when the user wants an end.
    """
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "sixfold.cli.nights.shard_items"),
        *("-p", "no:cacheprovider", "-n", str(workers), "--dist", "load", "--maxschedchunk", "1"),
        f"--sixfold-coordinator={os.getpid()}",
        *("--rootdir", str(spool.folder), "-c", os.devnull, str(spool.folder)),
    ]
    if until is not None:
        command.append(f"--sixfold-until={until}")
    log = spool.folder / WORKERS_LOG
    with log.open("ab") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=work_environment(),
            start_new_session=True,
        )
        watch = Watch(spool, process.pid, limits)

        def look_twice() -> None:
            watch.look()
            look()

        try:
            _wait(process, look_twice)
        except KeyboardInterrupt:
            spool.ask_to_stop()
            with suppress(KeyboardInterrupt):
                _wait(process, look_twice, _PATIENCE)
            raise
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
    look()
    if code not in _WORKED and code >= 0:
        raise HarnessBrokenError(
            f"the workers could not begin: pytest exited with {code}: {_tail(log)}",
            place=str(log),
            remedy="Check that pytest and pytest-xdist are installed as Sixfold needs them.",
        )
    return ()


def _wait(process: subprocess.Popen[bytes], look: Callable[[], None], seconds: float | None = None) -> None:
    began = time.monotonic()
    while process.poll() is None and (seconds is None or time.monotonic() - began < seconds):
        look()
        time.sleep(_LOOK)


def _tail(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
