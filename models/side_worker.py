"""The worker of a side that is compared: `python -m sixfold.models.side_worker`.

It reads questions from stdin and writes answers to stdout, as lines of JSON (docs/protocol.md). It needs
LangChain, LangGraph and the target, and of Sixfold the harness and this folder.
"""

from __future__ import annotations

import os
import sys

from ..harness.candidate import Candidate
from ..harness.orphans import end_with_parent
from ..harness.worker import Pipes, serve, warm_up
from .resolve import resolve


def main() -> None:
    """Serve until nobody asks. What the target prints goes nowhere."""
    end_with_parent()
    reading, writing, nowhere = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)

    def load(target: str) -> Candidate:
        candidate = resolve(target)
        # What libraries import late belongs to the time for loading, and not to that of some history.
        warm_up()
        # Why a target cannot be loaded is worth reading; what it complains of later is not.
        sys.stderr.flush()
        os.dup2(nowhere, 2)
        return candidate

    code = 1
    try:
        serve(load, Pipes(reading, writing), lambda: 0)
        code = 0
    finally:
        if code:
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
