"""The status of a finding from one night to the next: pure, so that it can be tabulated and tested."""

from __future__ import annotations

from typing import Literal

#: `new`: first seen tonight. `known`: seen before, and tonight. `returned`: it was fixed or closed, and is
#: back. `fixed`: its smallest scenario was played tonight and passes. `unobserved`: nothing was played that
#: could show it. `closed`: somebody said that it is done with.
Status = Literal["new", "known", "returned", "fixed", "unobserved", "closed"]

#: What its smallest scenario did tonight; None when it was not played.
Replayed = Literal["fails", "passes"]

#: Statuses that a run reports as news.
NEWS: tuple[Status, ...] = ("new", "returned", "fixed")


def status_after(before: Status | None, *, seen: bool, replayed: Replayed | None) -> Status:
    """Return the status after a night in which the finding was `seen` among generated histories or not.

    `before` is its status after the night before; None for a finding that nobody knew.
    """
    shows = seen or replayed == "fails"
    if before is None:
        return "new"
    if before in ("fixed", "closed"):
        return "returned" if shows else before
    if shows:
        return "known"
    return "fixed" if replayed == "passes" else "unobserved"
