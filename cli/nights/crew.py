"""The crew of one machine: pytest-xdist workers on the shards of a spool."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...harness.errors import HarnessBrokenError
from .spool import Spool

#: Seconds between two looks at what the workers have done, and for which they are waited for in the end.
_LOOK = 0.25
_PATIENCE = 60.0

#: Exit codes of pytest that say that it did its work: all passed, some failed, or there was none.
_WORKED = (0, 1, 5)


def work_through(spool: Spool, workers: int, until: float | None, look: Callable[[], None]) -> None:
    """Let workers play all shards of the spool; `look` is called again and again meanwhile.

    `until` is the end, in seconds since the epoch. Raises `HarnessBrokenError` when pytest cannot work, and
    `KeyboardInterrupt`, once the workers have handed in what they have, when the user wants an end.
    """
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "sixfold.cli.nights.shard_items"),
        *("-p", "no:cacheprovider", "-n", str(workers), "--dist", "load", "--maxschedchunk", "1"),
        f"--sixfold-coordinator={os.getpid()}",
        *("--rootdir", str(spool.folder), "-c", os.devnull, str(spool.folder)),
    ]
    if until is not None:
        command.append(f"--sixfold-until={until}")
    folders = [path or os.getcwd() for path in sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONHASHSEED": "0"}
    log = spool.folder / "workers.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=environment,
            start_new_session=True,
        )
        try:
            _wait(process, look)
        except KeyboardInterrupt:
            spool.ask_to_stop()
            with suppress(KeyboardInterrupt):
                _wait(process, look, _PATIENCE)
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


def _wait(process: subprocess.Popen[bytes], look: Callable[[], None], seconds: float | None = None) -> None:
    began = time.monotonic()
    while process.poll() is None and (seconds is None or time.monotonic() - began < seconds):
        look()
        time.sleep(_LOOK)


def _tail(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
