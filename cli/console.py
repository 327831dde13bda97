"""The console of all commands: text without escape sequences wherever colour is not wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from rich.console import Console


def console(file: IO[str] | None = None) -> Console:
    """Return a console on `file` (stdout without one), as wide as the terminal, or 80 columns in a pipe.

    With NO_COLOR in the environment (whatever its value, unless empty) or on a dumb terminal it writes
    neither colour nor bold nor italics.
    """
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "") in ("dumb", "unknown")
    return Console(file=file, color_system=None if plain else "auto")


@contextmanager
def readers_may_leave() -> Iterator[None]:
    """Go on behind the block when nobody reads standard output any more: what was found was found."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except SystemExit as stop:
        # Rich ends the process itself then, once it has sent the rest of its output nowhere.
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
