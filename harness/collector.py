"""The cyclic garbage collector, kept from looking at every history while it is played.

A history is thousands of objects that all live until it has been judged; with Python's default
threshold the collector walks them several times over, for nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

#: Container objects that may be created before the collector looks at the young ones: some ten histories.
_YOUNG = 100_000


@contextmanager
def relaxed_collector() -> Iterator[None]:
    """Let the collector run once in some ten histories inside the block, and as before behind it."""
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@cache
def freeze_what_is_imported() -> None:
    """Take what is there by now, LangChain above all, out of the collector's sight: once in a process.

    Modules live as long as the process, and the collector need not walk them again. Whatever else is frozen
    with them is never collected when it is part of a cycle, as compiled graphs are: so not with every agent.
    """
    gc.collect()
    gc.freeze()
