"""What Linux tells of a process: its memory, and the time for which it had a processor."""

from __future__ import annotations

import os
import resource
from pathlib import Path


def resident(pid: int) -> int:
    """Return the bytes of memory that a process holds; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def busy_seconds(pid: int) -> float:
    """Return the seconds that a process has had a processor for; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0
