"""Room on the interpreter's stack, so that deep calls do not map and unmap memory over and over.

CPython 3.11 and later keep frames in chunks of 16 KB. Where a call crosses the end of a chunk, each such
call maps a new one and each return unmaps it (`_PyThreadState_BumpFramePointerSlow` and
`_PyThreadState_PopFrame` in Python/pystate.c): a loop that happens to run at that depth takes up to twice
as long. Which loop it is depends on how deep the caller stands, as below pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

#: Slots of eight bytes, a little more than a half of a chunk of a megabyte: the rest is for the calls below.
_SLOTS = 70_000


def with_room(function: Callable[..., T], *arguments: Any) -> T:
    """Return what the function returns for the arguments, called on a chunk of its own."""
    return function(*arguments)


with_room.__code__ = with_room.__code__.replace(co_stacksize=_SLOTS)
