"""Quiet: what candidates print while they are imported and played is counted, not shown.

Their text may hold anything, and a report on stdout must stay the report.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator


class Sink(io.StringIO):
    """Takes text and keeps only the number of lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = 0

    def write(self, text: str) -> int:
        """Count the lines of `text` and forget it."""
        self.lines += text.count("\n")
        return len(text)


@contextlib.contextmanager
def quiet() -> Iterator[Sink]:
    """Swallow what is printed to stdout and stderr inside the block."""
    sink = Sink()
    with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        yield sink
