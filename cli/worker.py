"""The worker process: `python -m sixfold.cli.worker READING WRITING`, two pipes given by number.

What the candidate prints goes nowhere; the pipes are the only way out. With one socket it is a nursery.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import NoReturn

from ..harness.errors import ExitCode
from ..harness.interrupts import noticed
from ..harness.nursery import serve_children
from ..harness.orphans import end_with_parent
from ..harness.worker import Pipes, serve, warm_up
from .project import candidate_of
from .quiet import quiet


def work(reading: int, writing: int) -> NoReturn:
    """Serve until the watchdog has gone; threads that the candidate left behind end, too."""
    end_with_parent()
    for end in (reading, writing):
        os.set_inheritable(end, False)
    code = 1
    try:
        # The user's Ctrl-C does not reach this process: whatever looks like it is the candidate's.
        with quiet() as printed, noticed():
            serve(candidate_of, Pipes(reading, writing), lambda: printed.lines)
        code = 0
    except KeyboardInterrupt:
        code = int(ExitCode.INTERRUPTED)
    finally:
        os._exit(code)


if __name__ == "__main__":
    end_with_parent()
    warm_up()
    numbers = [int(number) for number in sys.argv[1:]]
    if numbers[1:]:
        work(*numbers)
    serve_children(socket.socket(fileno=numbers[0]), work)
