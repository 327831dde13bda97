"""A watch over the workers of a night: one that plays a scenario for ever, or eats the memory, is killed.

Its shard is lost with it, and the scenario that it was playing is left out, as with any worker that dies.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...harness.proc import resident
from .spool import Spool, number_of

#: Seconds between two looks.
_LOOK = 1.0


@dataclass(frozen=True, slots=True)
class ShardLimits:
    """What a worker may use: seconds for one scenario on all candidates, or to shrink one, and bytes.

    Candidates that are not Sixfold's own have tighter limits, in processes of their own
    (`harness/deaths.py`). These are for what goes wrong outside of them.
    """

    scenario: float = 600.0
    memory: int = 2 << 30

    @classmethod
    def of_timeout(cls, timeout: float) -> ShardLimits:
        """Return limits for candidates that may take `timeout` seconds for one history."""
        return cls(scenario=max(cls().scenario, 30 * timeout))


class Watch:
    """Watches the workers that play the shards of a spool, in the session of the process `leader`."""

    def __init__(self, spool: Spool, leader: int, limits: ShardLimits) -> None:
        self._spool = spool
        self._leader = leader
        self._limits = limits
        self._next = 0.0
        self._over: set[int] = set()

    def look(self) -> None:
        """Kill who is over the limits. Call it as often as you like."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LOOK
        for path in self._spool.notes():
            if number_of(path) not in self._over:
                self._look_at(number_of(path), path)

    def _look_at(self, number: int, path: Path) -> None:
        if self._spool.has_result(number):
            self._over.add(number)
            return
        now = self._spool.now(number)
        if now is not None and self._is_ours(now.pid):
            with suppress(OSError):
                late = time.time() - path.stat().st_mtime > self._limits.scenario
                if late or resident(now.pid) > self._limits.memory:
                    self._over.add(number)
                    os.kill(now.pid, signal.SIGKILL)

    def _is_ours(self, pid: int) -> bool:
        """Tell whether it is a worker still: a process id may belong to somebody else by now."""
        try:
            return os.getsid(pid) == os.getsid(self._leader)
        except ProcessLookupError:
            return False
