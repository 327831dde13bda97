"""Virtual time: no scenario reads the wall clock or really sleeps.

While a step is performed, `time.time`, `datetime.now` and friends show the virtual instant
(time-machine), and `time.sleep` moves it. Where time-machine is not installed, as it may be in somebody
else's environment, only the functions of `time` do.
"""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta, timezone
from types import TracebackType
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
UTC = timezone.utc

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

    def running(self) -> AbstractContextManager[None]:
        """Make the whole process see virtual time inside the block; blocks may be nested."""
        return _NOTHING if self._travellers else _Travel(self, self._travellers)


_NOTHING = nullcontext()


class _Travel(AbstractContextManager[None]):
    """The time of the process is that of a clock, and so is `time.sleep`."""

    def __init__(self, clock: VirtualClock, travellers: list[Any]) -> None:
        self._clock = clock
        self._travellers = travellers

    def __enter__(self) -> None:
        self._travel = travel(self._clock.now().timestamp(), tick=False)
        self._travellers.append(self._travel.start())
        self._real_sleep = time.sleep
        time.sleep = self._clock.sleep  # type: ignore[assignment]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        time.sleep = self._real_sleep
        self._travellers.pop()
        self._travel.stop()
