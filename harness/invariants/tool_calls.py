"""Tool calls as a strict provider reads them: each answered once, directly behind its message.

These rules need no provider's package. What its serialiser makes of a request is judged in `on_wire`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Literal

from ..views import View, Views

#: Check code, call id (with a leading `-` when call or result is missing altogether), and a sentence.
Problem = tuple[str, str, str]


_Kind = Literal["unanswered", "duplicate", "orphan"]


def calls_of(view: View) -> tuple[str, ...]:
    """Return the ids of the calls that a message makes.

    Calls that stand in `additional_kwargs` only, as the provider once sent them, are sent back to it.
    """
    return view.calls or (_raw_calls(view.extra) if view.extra and view.role == "ai" else ())


@lru_cache(maxsize=4_096)
def _raw_calls(extra: str) -> tuple[str, ...]:
    raw = json.loads(extra).get("tool_calls")
    calls = raw if isinstance(raw, list) else ()
    return tuple(str(call.get("id")) for call in calls if isinstance(call, dict))


class CallScan:
    """The tool calls and results of a request, read message by message.

    A request that goes on where another one ended is read on from a `copy` of its scan.
    """

    __slots__ = ("_answered", "_done", "_found", "_made", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[str, None] = {}
        self._done: dict[str, int] = {}
        self._made: set[str] = set()
        self._answered: set[str] = set()
        self._found: list[tuple[_Kind, str, str]] = []

    def copy(self) -> CallScan:
        """Return a scan that has read the same messages."""
        scan = CallScan()
        scan._waiting = self._waiting.copy()
        scan._done = self._done.copy()
        scan._made = self._made.copy()
        scan._answered = self._answered.copy()
        scan._found = self._found.copy()
        return scan

    def read(self, views: Views) -> CallScan:
        """Read more messages of the request; return the scan."""
        found = self._found
        for view in views:
            if view.role != "tool":
                found += [("unanswered", call, "") for call in self._waiting]
                calls = calls_of(view)
                self._made.update(calls)
                self._waiting = dict.fromkeys(calls)
                self._done = {call: calls.count(call) for call in calls}
                continue
            call = str(view.answers)
            self._answered.add(call)
            if call in self._waiting:
                del self._waiting[call]
                self._done[call] -= 1
            elif self._done.get(call, 0) > 0:
                self._done[call] -= 1
            else:
                found.append(("duplicate" if call in self._done else "orphan", call, view.label()))
        return self

    def problems(self) -> list[Problem]:
        """Return everything that is wrong with the messages read so far, in order."""
        return [
            *(self._told(*each) for each in self._found),
            *(self._told("unanswered", call, "") for call in self._waiting),
        ]

    def _told(self, kind: _Kind, call: str, label: str) -> Problem:
        if kind == "duplicate":
            return "4.duplicate-result", call, f"{label} answers the call {call} once more"
        if kind == "orphan" and call in self._made:
            return "4.orphan-result", call, f"{label} does not directly follow its call {call}"
        if kind == "orphan":
            return "4.orphan-result", f"-{call}", f"the call {call} of {label} is not there"
        if call in self._answered:
            return "4.unanswered-call", call, f"the result of {call} is not directly behind it"
        return "4.unanswered-call", f"-{call}", f"the call {call} has no result"


def tool_problems(views: Views) -> list[Problem]:
    """Return everything that is wrong with the tool calls of a request, in order."""
    return [] if in_order(views) else CallScan().read(views).problems()


def in_order(views: Views) -> bool:
    """Tell whether nothing is wrong: the usual case, told at the price of one look at each message."""
    waiting: list[str] = []
    for view in views:
        if view.role == "tool":
            if view.answers not in waiting:
                return False
            waiting.remove(view.answers)
        elif waiting:
            return False
        elif view.calls or view.extra:
            waiting = list(calls_of(view))
    return not waiting


def closed_before(views: Views, place: int, *, cut: bool) -> int:
    """Return from where to look at a request whose messages up to `place` were in order once.

    `cut` tells whether others stood behind them then: results among those answer their calls no longer.
    """
    start = min(place, len(views) - 1)
    while start > 0:
        before = views[start - 1]
        if views[start].role != "tool" and not calls_of(before) and not (cut and before.role == "tool"):
            break
        start -= 1
    return start
