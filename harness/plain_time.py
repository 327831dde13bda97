"""Virtual time without time-machine: the functions of `time` show it, `datetime` and C code do not."""

from __future__ import annotations

import time
from typing import Any

_NANOSECONDS = 1_000_000_000


class travel:
    """Show the instant `destination` (seconds since the epoch) from `start` to `stop`. Time stands still."""

    def __init__(self, destination: float, *, tick: bool = False) -> None:
        self._now = destination
        self._real: dict[str, Any] = {}

    def move_to(self, destination: float, *, tick: bool = False) -> None:
        """Show another instant from now on."""
        self._now = destination

    def start(self) -> travel:
        """Show the instant from now on."""
        for name in ("time", "time_ns"):
            self._real[name] = getattr(time, name)
        time.time = lambda: self._now
        time.time_ns = lambda: int(self._now * _NANOSECONDS)
        return self

    def stop(self) -> None:
        """Show the real time again."""
        for name, real in self._real.items():
            setattr(time, name, real)
