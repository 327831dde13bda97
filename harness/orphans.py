"""Orphans: processes whose parent has been killed, and files of processes that have been killed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

#: The option of prctl(2) by which the kernel sends a signal when the parent has ended.
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let the kernel kill this process when the one that started it ends. Linux only; it is not inherited."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_marked(variable: str) -> None:
    """Kill all processes that were started with this `NAME=VALUE` in their environment. Linux only.

    They may have left the group and the session of the one that started them, and outlived it.
    """
    for environment in Path("/proc").glob("[0-9]*/environ"):
        # Processes of others cannot be read, and some end meanwhile.
        with suppress(OSError):
            if variable.encode() in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)


def lives(pid: int) -> bool:
    """Tell whether there is a process with this number, whosever it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
