"""Labels: what candidates are called where there is little room, each by a name that no other one has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from ..harness.harmless import harmless

#: Longer names are cut; what tells the targets of one file apart stands at their end.
_LONGEST = 60


def labels(names: Sequence[str]) -> dict[str, str]:
    """Return a label for each name: a target in a file without its folders, where that is enough."""
    short = {name: _without_folders(name) for name in names}
    times = Counter(short.values())
    return {name: _tail(each if times[each] == 1 else name, _LONGEST) for name, each in short.items()}


def cell(label: str, width: int) -> str:
    """Return a label that fits into a column."""
    return _tail(label, width)


def _without_folders(name: str) -> str:
    path, colon, thing = name.rpartition(":")
    return f"{PurePosixPath(path).name}:{thing}" if colon and path.endswith(".py") else name


def _tail(text: str, width: int) -> str:
    clean = harmless(text, 400)
    return clean if len(clean) <= width else "…" + clean[len(clean) - width + 1 :]
