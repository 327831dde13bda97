"""Tool calls as a strict provider reads them: each answered once, directly behind its message.

These rules need no provider's package. What its serialiser makes of a request is judged in `on_wire`.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache

from ..views import View, Views

#: Check code, call id (with a leading `-` when call or result is missing altogether), and a sentence.
Problem = tuple[str, str, str]


_NONE: Counter[str] = Counter()


def calls_of(view: View) -> tuple[str, ...]:
    """Return the ids of the calls that a message makes.

    Calls that stand in `additional_kwargs` only, as the provider once sent them, are sent back to it.
    """
    return view.calls or (_raw_calls(view.extra) if view.extra and view.role == "ai" else ())


@lru_cache(maxsize=4_096)
def _raw_calls(extra: str) -> tuple[str, ...]:
    raw = json.loads(extra).get("tool_calls") or ()
    return tuple(str(call.get("id")) for call in raw if isinstance(call, dict))


def tool_problems(views: Views) -> list[Problem]:
    """Return everything that is wrong with the tool calls of a request, in order."""
    if _in_order(views):
        return []
    problems: list[Problem] = []
    made = {call for view in views for call in calls_of(view)}
    answered = {view.answers for view in views if view.role == "tool"}
    waiting: dict[str, None] = {}
    done = _NONE
    for view in views:
        if view.role != "tool":
            problems += [_unanswered(call, answered) for call in waiting]
            calls = calls_of(view)
            waiting = dict.fromkeys(calls)
            done = Counter(calls) if calls else _NONE
            continue
        call = str(view.answers)
        label = view.label()
        if call in waiting:
            del waiting[call]
            done[call] -= 1
        elif done[call] > 0:
            done[call] -= 1
        elif call in done:
            problems.append(("4.duplicate-result", call, f"{label} answers the call {call} once more"))
        elif call in made:
            problems.append(("4.orphan-result", call, f"{label} does not directly follow its call {call}"))
        else:
            problems.append(("4.orphan-result", f"-{call}", f"the call {call} of {label} is not there"))
    problems += [_unanswered(call, answered) for call in waiting]
    return problems


def _in_order(views: Views) -> bool:
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


def _unanswered(call: str, answered: set[str | None]) -> Problem:
    if call in answered:
        return "4.unanswered-call", call, f"the result of {call} is not directly behind it"
    return "4.unanswered-call", f"-{call}", f"the call {call} has no result"
