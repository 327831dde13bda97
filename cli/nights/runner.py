"""A process that plays shards one after the other for another process, and may die of one.

What it was playing lies in the folder of the shard then, as on one machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...harness.nights.shard import Shard
from ...harness.orphans import end_with_parent
from .crew import work_environment
from .spool import Spool
from .watch import ShardLimits, Watch

#: Seconds between two looks at a runner.
_LOOK = 0.05

#: The file by which a runner says that it is done with a shard.
_OVER = "over"


class Runner:
    """A process for shards. It begins with the first one, and anew after one that ended it."""

    def __init__(self, limits: ShardLimits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[str] | None = None

    def play(self, spool: Spool, shard: Shard, until: float | None, look: Callable[[], None]) -> str:
        """Play a shard in a fresh spool, where its result is then, its error, or the note of who died of it.

        `look` is called again and again meanwhile. Returns why it could not be tried; empty when it was.
        """
        spool.put(shard)
        spool.share(shard)
        process = self._living()
        watch = Watch(spool, process.pid, self._limits)
        assert process.stdin is not None
        over = spool.folder / _OVER
        try:
            process.stdin.write(json.dumps([str(spool.folder), shard.number, until]) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return "the process for shards ended before it had one"
        while not over.exists():
            if process.poll() is not None:
                told = spool.now(shard.number) or spool.has_result(shard.number)
                return "" if told else f"the process for shards ended with {process.returncode}"
            watch.look()
            look()
            time.sleep(_LOOK)
        return ""

    def _living(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env=work_environment(),
                text=True,
                start_new_session=True,
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()


def serve() -> None:
    """Play shards as they are asked for on standard input, until that ends."""
    from .worker import play_file

    end_with_parent()
    for line in sys.stdin:
        folder, number, until = json.loads(line)
        spool = Spool(Path(folder))
        # What is raised lies in the spool.
        with suppress(Exception):
            play_file(spool, spool.path_of(number), until)
        (spool.folder / _OVER).touch()
