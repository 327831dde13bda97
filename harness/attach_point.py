"""Where a history attaches context, told so that it can be compared with a longer history of the same end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .faults import HOOKS, Fault
from .history import Fold, History, Requested
from .steps import Continue, DeleteTurn, EditMessage, LoadTurn, Rewind, Step, UserTurn
from .views import View


def idle_turn(members: int) -> UserTurn:
    """Return a turn in which no hook of a stack of `members` runs."""
    skips = (Fault("skip", hook, member=member, for_good=True) for hook in HOOKS for member in range(members))
    return UserTurn(faults=tuple(skips))


def of_itself(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps without those that would mean something else when turns came before them."""
    turns = 0
    for step in steps:
        match step:
            case UserTurn() | LoadTurn():
                turns += 1
            case EditMessage(turns_ago=back) | DeleteTurn(turns_ago=back) if back > turns:
                continue
            case Rewind(turns_ago=back):
                if back > turns:
                    continue
                turns -= back
            case Continue() if not turns:
                continue
        yield step


class Attached(NamedTuple):
    """Where a hook first put new messages: how far from the tail, and in which moment of the session."""

    places: tuple[int, ...]
    moment: tuple[int, str, int]


def attached(history: History, after_turn: int) -> Attached | None:
    """Return where a hook first put new messages after turn `after_turn`.

    None when none did, and when a hook took messages away before: from then on the histories of two
    plays need not be alike.
    """
    before: tuple[View, ...] = ()
    requests = 0
    for record in history.records:
        if isinstance(record, Requested):
            requests += record.turn > after_turn
        if not isinstance(record, Fold):
            continue
        if record.turn > after_turn and "." in record.by:
            places = _new_places(before, record.state)
            if places is None:
                return None
            if places:
                return Attached(places, (record.turn - after_turn, record.by, requests))
        before = record.state
    return None


def _new_places(before: tuple[View, ...], after: tuple[View, ...]) -> tuple[int, ...] | None:
    """Return how far from the tail messages stand that say nothing old; None when something old is gone.

    A message that took the id of somebody's words is new when the words live on elsewhere.
    """
    spoken = {view.says for view in after if view.says is not None}
    left = {view.id for view in after}
    if any(view.says not in spoken and view.id not in left for view in before):
        return None
    carriers = {(view.id, view.says) for view in after}
    known = {view.id for view in before if view.says not in spoken or (view.id, view.says) in carriers}
    return tuple(
        len(after) - place for place, view in enumerate(after) if view.says is None and view.id not in known
    )
