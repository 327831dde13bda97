"""The part of a cluster's worker: a shard, played in a process of its own. Needs `dask.distributed`.

A process that dies of a shard leaves its note, and Dask's worker lives.
"""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed

from ...harness.nights.shard import shard_from_json
from .runner import Runner
from .spool import ShardError, Spool
from .watch import ShardLimits

#: Seconds between two looks at whether the night is to end.
_LOOK = 2.0


class Runners(distributed.WorkerPlugin):  # type: ignore[misc]
    """A plugin of Dask workers: the processes for shards, one for each thread.

    Workers that are `ours` share a terminal with the coordinator, which alone is to hear of Ctrl-C: they
    must live to hand in what they have.
    """

    def __init__(self, limits: ShardLimits, *, ours: bool) -> None:
        self._limits = limits
        self._ours = ours

    def setup(self, worker: Any) -> None:
        """Begin with none. Dask calls it."""
        if self._ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.lock = threading.Lock()
        self.runners: dict[int, Runner] = {}

    def teardown(self, worker: Any) -> None:
        """End all of them. Dask calls it."""
        with self.lock:
            for runner in self.runners.values():
                runner.close()

    def of_this_thread(self) -> Runner:
        """Return the one that the thread may use."""
        with self.lock:
            return self.runners.setdefault(threading.get_ident(), Runner(self._limits))


#: What came of a shard on a cluster: its result as JSON, what it was lost with, and why it failed.
CameBack = tuple[str | None, str | None, ShardError | None]


def play_elsewhere(night: str, text: str, until: float | None) -> CameBack:
    """Play a shard (as JSON) on a worker of a cluster; return what came of it: nothing without time for it.

    `night` names the plugin, and the event that is set when the user wants an end.
    """
    runner = distributed.get_worker().plugins[night].of_this_thread()
    wanted = distributed.Event(night)
    next_look = time.monotonic()

    with TemporaryDirectory(prefix="sixfold-") as folder:
        spool = Spool(Path(folder))
        shard = shard_from_json(text)

        def look() -> None:
            nonlocal next_look
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + _LOOK
                if wanted.is_set():
                    spool.ask_to_stop()

        if wrong := runner.play(spool, shard, until, look):
            error = ShardError(
                shard.number,
                f"a worker of the cluster cannot play: {wrong}",
                distributed.get_worker().address,
                "Install this Sixfold and the targets on all workers.",
                False,
            )
            return None, None, error
        if spool.has_result(shard.number):
            [result] = spool.handed_in()
            return result.read_text(encoding="utf-8"), None, None
        now = spool.now(shard.number)
        return None, None if now is None else now.scenario, next(iter(spool.errors()), None)
