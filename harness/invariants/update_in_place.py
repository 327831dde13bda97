"""Invariant 2: history is updated in place; ids are not rewritten and messages do not move."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..history import Mutated
from ..ledger import Ledger
from ..views import Views
from .checks import Check, Violation
from .reading import Reading


def _out_of_order(reading: Reading, views: Views, before: Views = ()) -> tuple[str, str] | None:
    """Return the first pair of utterances that stand in the wrong order, each carried once.

    What was carried twice `before` says nothing either: whichever of the two is left is not moved.
    """
    ledger, carriers = reading.ledger, reading.said(views)
    twice = {token for token, views in reading.said(before).items() if len(views) > 1}
    last: tuple[int, ...] = ()
    last_token = ""
    for view in views:
        if view.says is None or len(carriers[view.says]) > 1 or view.says in twice:
            continue
        order = ledger.order(view.says)
        if order is None:
            continue
        if order < last:
            return last_token, view.says
        last, last_token = order, view.says
    return None


def reorder(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield folds and edited requests in which utterances no longer stand in the order of the session."""
    ledger = reading.ledger
    for change in reading.changes_since(since):
        if change.by_client:
            continue
        pair = _out_of_order(reading, change.fold.state, change.before)
        if pair is not None and _out_of_order(reading, change.before) is None:
            yield Violation(
                "2.reorder",
                change.record,
                change.fold.by,
                f"after the fold, {pair[1]} stands behind {pair[0]}, which was said later",
                (pair[1],),
                facts=_moved(pair),
                aspect=_reach(ledger, pair),
            )
    for sight in reading.sights_since(since):
        if not sight.request.edited_by:
            continue
        pair = _out_of_order(reading, sight.request.messages, sight.state)
        if pair is not None and _out_of_order(reading, sight.state) is None:
            yield Violation(
                "2.reorder",
                sight.record,
                sight.blame,
                f"in the request, {pair[1]} stands behind {pair[0]}, which was said later",
                (pair[1],),
                facts=_moved(pair),
                aspect=_reach(ledger, pair),
            )


def _moved(pair: tuple[str, str]) -> frozenset[str]:
    return frozenset({"tool_result"} if "t" in (pair[0][0], pair[1][0]) else ())


def _reach(ledger: Ledger, pair: tuple[str, str]) -> str:
    turns = {ledger.utterances[token].turn for token in pair}
    return "across turns" if len(turns) > 1 else "within a turn"


def id_rewrite(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds after which old words stand under a new id only."""
    for change in reading.changes_since(since):
        if not change.by_hook:
            continue
        before, after = reading.said(change.before), reading.said(change.fold.state)
        latest = next((v.says for v in reversed(change.before) if v.says and v.says[0] == "u"), None)
        for token, views in before.items():
            old, new = {v.id for v in views}, {v.id for v in after.get(token, ())}
            if new and None not in old and not old & new:
                yield Violation(
                    "2.id-rewrite",
                    change.record,
                    change.fold.by,
                    f"the words of {token} moved from id {_ids(old)} to id {_ids(new)}",
                    (token,),
                    frozenset({"latest_user_message"}) if token == latest else frozenset(),
                )


def _ids(ids: set[str | None]) -> str:
    return ", ".join(sorted(map(str, ids)))


def duplicate(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield folds and edited requests in which an utterance stands twice that stood once before."""
    for change in reading.changes_since(since):
        if change.by_client:
            continue
        yield from _twice(reading, change.record, change.fold.by, change.before, change.fold.state)
    for sight in reading.sights_since(since):
        if sight.request.edited_by:
            yield from _twice(reading, sight.record, sight.blame, sight.state, sight.request.messages)


def _twice(reading: Reading, record: int, by: str, before: Views, after: Views) -> Iterator[Violation]:
    earlier = reading.said(before)
    for token, views in reading.said(after).items():
        if len(views) > 1 and len(views) > len(earlier.get(token, ())):
            ids = ", ".join(view.label() for view in views)
            yield Violation("2.duplicate", record, by, f"{token} stands {len(views)} times: {ids}", (token,))


def mutated_in_place(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook calls that changed messages of the state without returning them in an update."""
    for index, record in enumerate(reading.history.records[since:], since):
        if isinstance(record, Mutated):
            changed = [view.label() for view in record.before] or [view.label() for view in record.after]
            yield Violation(
                "2.mutated-in-place",
                index,
                record.by,
                f"state messages {', '.join(changed)} were changed in place, without an update",
            )


_IN_PART = "is only partly there"


def content_changed(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that alter what was said, or lose its name and metadata."""
    for change in reading.changes_since(since):
        if not change.by_hook:
            continue
        after_by_id = {view.id: view for view in change.fold.state}
        after_by_token = {view.says: view for view in change.fold.state}
        for view in change.before:
            if view.says is None:
                continue
            now = after_by_token.get(view.says)
            if now is view:
                continue
            if now is None:
                now = after_by_id.get(view.id)
                if now is None or now.role != view.role or view.text in now.text:
                    continue
                what = "has lost its words"
            elif view.text not in now.text:
                what = _IN_PART
            elif view.name != now.name or not _keeps(view.extra, now.extra):
                what = f"has lost its {'name' if view.name != now.name else 'metadata'}"
            else:
                continue
            kind = frozenset({"tool_result"} if view.says[0] == "t" else ())
            if what == _IN_PART:
                kind |= {"in_part"}
            yield Violation(
                "2.content-changed",
                change.record,
                change.fold.by,
                f"{view.says} {what} after the fold",
                (view.says,),
                kind,
            )


def _keeps(before: str, after: str) -> bool:
    """Tell whether metadata (as JSON) still has every entry it had; more may have been added."""
    if not before or before == after:
        return True
    return bool(after) and all(item in json.loads(after).items() for item in json.loads(before).items())


def id_growth(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that derive a new id from an id that was derived before."""
    for change in reading.changes_since(since):
        if not change.by_hook:
            continue
        before = {view.says: view.id for view in change.before if view.says}
        for view in change.fold.state:
            old = before.get(view.says) if view.says else None
            if not old or not view.id or view.id == old:
                continue
            utterances = reading.ledger.utterances
            original = utterances[view.says].id if view.says in utterances else None
            if not original:
                continue
            if old != original and old.startswith(original) and view.id.startswith(old):
                yield Violation(
                    "2.id-growth",
                    change.record,
                    change.fold.by,
                    f"the id of {view.says} grew from {old} to {view.id}",
                    (str(view.says),),
                )


CHECKS = (
    Check(
        "2.reorder",
        "an old message moved in the history",
        "The model reads the conversation in an order in which it never happened; what moved to the "
        "end is taken for what the user wants now.",
        reorder,
        looks_at=frozenset({"change", "edited request"}),
    ),
    Check(
        "2.id-rewrite",
        "old words stand under a new id",
        "The reducer merges by id: words under a new id are a new message to it, and land at the end.",
        id_rewrite,
        looks_at=frozenset({"hook change"}),
    ),
    Check(
        "2.duplicate",
        "the same words stand in the history twice",
        "The model sees a request repeated that was made once, and answers it again.",
        duplicate,
        looks_at=frozenset({"change", "edited request"}),
    ),
    Check(
        "2.mutated-in-place",
        "messages of the state were changed without an update",
        "No checkpoint records the change: what the model saw cannot be replayed, and after a restart "
        "the history is a different one.",
        mutated_in_place,
        looks_at=frozenset({"mutation"}),
    ),
    Check(
        "2.content-changed",
        "what was said has been altered",
        "The model works from words that nobody said, or no longer knows who said them.",
        content_changed,
        looks_at=frozenset({"hook change"}),
    ),
    Check(
        "2.id-growth",
        "an id grows with every turn",
        "The middleware no longer recognises its own work and does it again, and again.",
        id_growth,
        looks_at=frozenset({"hook change"}),
    ),
)
