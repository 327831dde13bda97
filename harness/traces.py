"""Traces: what histories of a candidate leave behind in the process, which no history shows.

Threads that go on running, and functions of the process that were replaced. They are told as warnings and
are no findings: a library may have its reasons, and no invariant speaks of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import thread as pools
from contextlib import contextmanager
from weakref import WeakSet

from .undisturbed import take_patched

#: A thread that is started once and serves for ever is no leak; one that so many histories leave behind is.
LEAKS = 3


class Traces:
    """Watches the histories of one candidate. Workers of thread pools do not count: pools reuse them."""

    def __init__(self) -> None:
        self._left: list[WeakSet[threading.Thread]] = []
        self._patched: set[str] = set()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch one history."""
        take_patched()
        count = threading.active_count()
        before = set(threading.enumerate()) if count > 1 else {threading.main_thread()}
        try:
            yield
        finally:
            self._patched |= take_patched()
            if threading.active_count() != count:
                self._note(before)

    def _note(self, before: set[threading.Thread]) -> None:
        pooled = getattr(pools, "_threads_queues", {})
        new = [t for t in threading.enumerate() if t not in before and t not in pooled]
        if new:
            self._left.append(WeakSet(new))

    def warnings(self) -> tuple[str, ...]:
        """Return one sentence for each kind of trace, in a fixed order."""
        running = sum(any(thread.is_alive() for thread in left) for left in self._left)
        leaks = ("leaves threads running behind its histories",) if running >= LEAKS else ()
        patches = tuple(
            f"replaces {name} while it runs; Sixfold put it back" for name in sorted(self._patched)
        )
        return leaks + patches
