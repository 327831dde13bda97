"""Tool calls as a strict provider reads them: each answered once, directly behind its message."""

from __future__ import annotations

from ..views import Views

#: Check code, call id (with a leading `-` when call or result is missing altogether), and a sentence.
Problem = tuple[str, str, str]


def tool_problems(views: Views) -> list[Problem]:
    """Return everything that is wrong with the tool calls of a request, in order."""
    if _in_order(views):
        return []
    problems: list[Problem] = []
    made = {call for view in views for call in view.calls}
    answered = {view.answers for view in views if view.role == "tool"}
    waiting: dict[str, None] = {}
    done: set[str] = set()
    for view in views:
        if view.role != "tool":
            problems += [_unanswered(call, answered) for call in waiting]
            waiting = dict.fromkeys(view.calls)
            done = set()
            continue
        call = str(view.answers)
        label = view.label()
        if call in waiting:
            del waiting[call]
            done.add(call)
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
        elif view.calls:
            waiting = list(view.calls)
    return not waiting


def _unanswered(call: str, answered: set[str | None]) -> Problem:
    if call in answered:
        return "4.unanswered-call", call, f"the result of {call} is not directly behind it"
    return "4.unanswered-call", f"-{call}", f"the call {call} has no result"
