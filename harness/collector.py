"""The cyclic garbage collector, kept from looking at every history while it is played.

A history is thousands of objects that all live until it has been judged; with Python's default
threshold the collector walks them several times over, for nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

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
