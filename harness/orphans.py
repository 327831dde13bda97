"""Orphans: processes whose parent has been killed, and which nobody would end."""

from __future__ import annotations

import ctypes
import signal
import sys

#: The option of prctl(2) by which the kernel sends a signal when the parent has ended.
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let the kernel kill this process when the one that started it ends. Linux only; it is not inherited."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
