"""States of a history against each other: who carries which words, and what has left."""

from __future__ import annotations

from ..ledger import SYSTEM_ID
from ..views import View, Views


def said(views: Views) -> dict[str, list[View]]:
    """Return the views that carry each utterance, by token."""
    carriers: dict[str, list[View]] = {}
    for view in views:
        if view.says is not None:
            carriers.setdefault(view.says, []).append(view)
    return carriers


def edited_in_place(before: Views, after: Views) -> bool:
    """Tell whether a message has another text under the same id."""
    texts = {view.id: view.text for view in after}
    return any(texts.get(view.id, view.text) != view.text for view in before)


def gone(before: Views, after: Views) -> dict[str, View]:
    """Return the views whose utterance is left neither in its words nor under its id, by token."""
    if after[: len(before)] == before:
        return {}
    left = {view.id for view in after}
    spoken = {view.says for view in after}
    return {
        view.says: view
        for view in before
        if view.says is not None and view.says not in spoken and view.id not in left
    }


def loses_system(before: Views, after: Views) -> bool:
    """Tell whether the words of the system message that a client put into the state are in none any more."""
    system = next((view for view in before if view.role == "system" and view.id == SYSTEM_ID), None)
    if system is None:
        return False
    return not any(system.text in view.text for view in after if view.role == "system")
