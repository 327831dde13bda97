"""What a checkpoint would hold: messages that no load can give back as they are."""

from __future__ import annotations

from .history import Fold, History


def unnamed(history: History) -> str | None:
    """Say which message a hook left in the state without an id, None when there is none.

    A reducer names every message; an `Overwrite` goes past it. Each load of such a state, and each replay
    of its writes, names the message anew, so nothing that was stored about it applies to it any more.
    """
    known: set[object] = set()
    for record in history.records:
        if not isinstance(record, Fold):
            continue
        nameless = [view for view in record.state if view.id is None]
        new = [view for view in nameless if view not in known]
        if new and "." in record.by:
            what = f"result of {new[0].answers}" if new[0].answers else f"{new[0].role} message"
            return f"{record.by} left a {what} in the state without an id: each load gives it another one"
        known.update(nameless)
    return None
