"""Virtual time: no scenario reads the wall clock or really sleeps.

While a step is performed, `time.time`, `datetime.now` and friends show the virtual instant
(time-machine), and `time.sleep` moves it. Where time-machine is not installed, as it may be in somebody
else's environment, only the functions of `time` do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

try:
    # Sides that are compared must see the same time: none sees more of it than the others can.
    if os.environ.get("SIXFOLD_PLAIN_TIME"):
        raise ImportError
    from time_machine import travel
except ImportError:
    from .plain_time import travel  # type: ignore[assignment]

#: Whether `datetime` shows virtual time, too, and not the functions of `time` only.
SHOWS_DATETIME = travel.__module__.startswith("time_machine")

#: Environments that are compared may have Python 3.10, which has no `datetime.UTC`.
UTC = timezone.utc  # noqa: UP017

#: Every history begins at this instant.
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

#: The range of the clock: what every platform's time functions can show.
EARLIEST = datetime(1971, 1, 1, tzinfo=UTC)
LATEST = datetime(2261, 1, 1, tzinfo=UTC)


class VirtualClock:
    """A clock that only moves when the scenario, or a sleeping candidate, moves it."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._travellers: list[Any] = []

    def now(self) -> datetime:
        """Return the virtual instant, in UTC."""
        return self._now

    @property
    def is_running(self) -> bool:
        """Tell whether the process sees virtual time now."""
        return bool(self._travellers)

    def advance(self, *, minutes: float = 0, seconds: float = 0) -> None:
        """Move the clock; at the ends of its range it stands still."""
        try:
            moved = self._now + timedelta(minutes=minutes, seconds=seconds)
        except OverflowError:
            return
        if EARLIEST <= moved <= LATEST:
            self._now = moved
        for traveller in self._travellers:
            traveller.move_to(self._now.timestamp(), tick=False)

    def sleep(self, seconds: float) -> None:
        """Stand in for `time.sleep`: the time passes at once."""
        self.advance(seconds=max(0.0, float(seconds)))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make the whole process see virtual time inside the block; blocks may be nested."""
        if self._travellers:
            yield
            return
        real_sleep = time.sleep
        with travel(self._now.timestamp(), tick=False) as traveller:
            self._travellers.append(traveller)
            time.sleep = self.sleep  # type: ignore[assignment]
            try:
                yield
            finally:
                time.sleep = real_sleep
                self._travellers.pop()
