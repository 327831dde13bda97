"""Ctrl-C of the user, told from a `KeyboardInterrupt` that a candidate raises.

Python raises the same error for both. Inside `noticed()` a signal handler of ours notes which were the
user's; outside of it every one counts as the user's.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Noticed:
    """Whether the handler is in place, and whether the user has pressed Ctrl-C since."""

    def __init__(self) -> None:
        self.watching = False
        self.pressed = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        signal.default_int_handler(number, frame)


_noticed = _Noticed()


@contextmanager
def noticed() -> Iterator[None]:
    """Note inside the block when the user presses Ctrl-C. Without effect outside of the main thread."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _noticed.watching, _noticed.pressed = True, False
    signal.signal(signal.SIGINT, _noticed.handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _noticed.watching = False


def is_the_users(error: BaseException) -> bool:
    """Tell whether `error` is the user's Ctrl-C, which nothing may swallow."""
    return type(error) is KeyboardInterrupt and (_noticed.pressed or not _noticed.watching)


def check() -> None:
    """Raise `KeyboardInterrupt` when the user has pressed Ctrl-C and a candidate has swallowed it."""
    if _noticed.watching and _noticed.pressed:
        raise KeyboardInterrupt
