"""Pictures of histories: the message list as one line, as in the article that began it all.

    [reminder id=u1] [a1] [u2 "…"] [u1__user "…"]   ← the stale prompt, moved to the tail

All text of candidates is made harmless here: control characters never reach a terminal.
"""

from __future__ import annotations

from .harmless import harmless
from .history import (
    FaultFired,
    Fold,
    Happened,
    History,
    HookRan,
    Mutated,
    Requested,
    Summarised,
    TurnEnded,
)
from .ledger import SYSTEM_ID
from .views import View, Views


def _kind(view: View) -> str:
    if view.says is not None:
        return ""
    if view.role == "tool":
        return "result "
    if view.id == SYSTEM_ID:
        return "system "
    if view.mentions.utterances:
        return "summary "
    if view.role == "human" and not view.text.strip():
        return "empty "
    return "reminder " if view.role in ("system", "human") else f"{view.role} "


def box(view: View) -> str:
    """Draw one message: what it is, its id, and the user's words in short."""
    kind = _kind(view)
    label = harmless(view.label(), 30)
    if kind:
        told = "".join(f" {token}" for token in view.mentions.utterances[:6])
        return f"[{kind}id={label}{':' + told if told else ''}]"
    words = ' "…"' if view.role == "human" else ""
    calls = f" calls {len(view.calls)}" if view.calls else ""
    moved = (
        f" says {view.says}" if view.says and view.id != view.says and not label.startswith(view.says) else ""
    )
    return f"[{label}{words}{calls}{moved}]"


def line(views: Views) -> str:
    """Draw a message list on one line."""
    return " ".join(box(view) for view in views) if views else "[]"


def timeline(history: History) -> list[tuple[str, str, int]]:
    """Draw a history, record by record: who, what, and the index of the record.

    Folds that only append what was said are left out, so that what the candidate did stands out.
    """
    drawn = ((_draw(record), index) for index, record in enumerate(history.records))
    return [(*row, index) for row, index in drawn if row is not None]


def _draw(record: object) -> tuple[str, str] | None:
    match record:
        case Fold(by="user", turn=turn, state=state):
            return f"turn {turn}: user", line(state)
        case Fold(by=by, state=state) if "." in by or by == "edit":
            return harmless(by, 60), line(state)
        case Requested(messages=messages, call=call):
            return f"model call {call} sees", line(messages)
        case FaultFired(kind=kind, by=by):
            return "fault", f"{kind} at {harmless(by, 60)}"
        case Summarised(failure=failure, tokens=tokens):
            return (
                "summariser",
                f"failed ({failure})" if failure else f"summarises {' '.join(tokens) or 'nothing'}",
            )
        case Mutated(by=by, after=after):
            return harmless(by, 60), f"changed in place: {line(after)}"
        case HookRan(by=by, outcome="raised", error=error):
            return harmless(by, 60), f"raised {harmless(str(error), 120)}"
        case Happened(what=what, detail=detail):
            return what.replace("_", " "), harmless(detail, 80)
        case TurnEnded(how="aborted", error=error, turn=turn):
            return f"turn {turn}", f"aborted: {harmless(str(error), 120)}"
        case TurnEnded(how="cut", turn=turn):
            return f"turn {turn}", "ended before the model's last answer"
    return None
