"""Invariant 6: what counts is the net effect after the fold, not the shape of an update."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..deaths import aspect_of
from ..history import Fold, Happened, TurnEnded
from ..ledger import of_other_thread
from ..views import View, Views
from .checks import Check, Violation
from .reading import REQUEST, Change, Reading


def fold_incoherent(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds whose new messages are not neighbours, in order, after the fold.

    Messages that were there before and still carry the same words are updates in place; they are not
    part of the group. What stands after the fold as it was written, all of it, has not come apart.
    """
    for change in reading.changes_since(since):
        if not change.by_hook or _as_written(change):
            continue
        positions = _positions_of_new(change)
        if any(b != a + 1 for a, b in pairwise(positions)):
            labels = [change.fold.state[p].label() for p in positions]
            yield Violation(
                "6.fold-incoherent",
                change.record,
                change.fold.by,
                f"{', '.join(labels)} were written together and stand apart, at places "
                f"{', '.join(str(p + 1) for p in positions)}",
            )


def _as_written(change: Change) -> bool:
    """Tell whether the state is the update, message by message: one that replaced the whole history."""
    written = [view for view in change.fold.update if view.role != "remove"]
    return len(written) == len(change.fold.state) and all(
        view.id in (None, now.id) and view.text == now.text
        for view, now in zip(written, change.fold.state, strict=True)
    )


def _positions_of_new(change: Change) -> list[int]:
    before = {view.id: view for view in change.before}
    places = {view.id: place for place, view in enumerate(change.fold.state)}
    new = []
    for view in change.fold.update:
        if view.role == "remove" or view.id not in places:
            continue
        old = before.get(view.id)
        if old is None or old.role != view.role or (view.says is not None and view.says != old.says):
            new.append(places[view.id])
    return new


def recall(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests from which a fact has vanished: it is in no message, summary or prompt.

    What vanished together with a failed summary counts as `5.failed-summary-committed`, not here.
    """
    for sight in reading.sights_since(since):
        for kind, first_letters in (("tool_result", "t"), ("", "ua")):
            tokens = tuple(token for token in sight.vanished if token[0] in first_letters)
            if tokens:
                yield Violation(
                    "6.recall",
                    sight.record,
                    sight.blame,
                    f"{', '.join(tokens)} can no longer be seen, neither as a message nor in a summary",
                    tokens,
                    frozenset({kind} - {""}),
                )


def hook_error(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield turns that were aborted by an error of the candidate or of the fold of its update."""
    for index, record in enumerate(reading.history.records[since:], since):
        if isinstance(record, TurnEnded) and record.how == "aborted" and not record.injected:
            yield Violation(
                "6.hook-error",
                index,
                record.by or "fold",
                f"the turn ended with {record.error}",
                aspect=aspect_of(record.error),
            )


def ends_silently(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield turns that the candidate ended early without a word to the user at any time in the turn."""
    cuts = (r for r in reading.history.records[since:] if isinstance(r, TurnEnded))
    if not any(record.how == "cut" for record in cuts):
        return
    spoken = False
    by = "agent"
    before: Views = ()
    for index, record in enumerate(reading.history.records):
        if isinstance(record, Fold):
            if "." in record.by:
                by = record.by
            if record.by == "user":
                spoken = False
            last = record.state[-1] if record.state else None
            spoken |= last is not None and last not in before and _is_answer(last)
            before = record.state
        elif isinstance(record, TurnEnded) and record.how == "cut" and not spoken and index >= since:
            yield Violation("6.ends-silently", index, by, "the turn ended without a word to the user")


def leaked_words(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests in which the model sees words of another thread that the same instances serve."""
    for sight in reading.sights_since(since):
        tokens = tuple(sorted(filter(of_other_thread, sight.visible)))
        if tokens:
            detail = f"the model sees {', '.join(tokens)}, which another user said in another thread"
            yield Violation("6.leaked-words", sight.record, sight.blame, detail, tokens)
    for index, record in enumerate(reading.history.records[since:], since):
        if isinstance(record, Happened) and record.what == "leaked":
            detail = f"in another thread, of another user, the model sees {record.detail}"
            yield Violation("6.leaked-words", index, REQUEST, detail, tuple(record.detail.split(", ")))


def _is_answer(view: View) -> bool:
    return view.role == "ai" and bool(view.text.strip()) and not view.calls


CHECKS = (
    Check(
        "6.fold-incoherent",
        "messages that were written together stand apart after the fold",
        "The update looked right; the reducer replaced one part in the past and appended the other.",
        fold_incoherent,
        looks_at=frozenset({"hook change"}),
    ),
    Check(
        "6.recall",
        "a fact has vanished from what the model sees",
        "The user said it, the summariser kept what it was given, and still the model cannot know it.",
        recall,
        looks_at=frozenset({"vanished"}),
    ),
    Check(
        "6.hook-error",
        "a hook failed, or the reducer refused its update",
        "The turn is lost; when the cause is in the history, every further turn of the thread is too.",
        hook_error,
        looks_at=frozenset({"abort"}),
    ),
    Check(
        "6.ends-silently",
        "the turn ended without an answer",
        "The user waits for an answer that nobody will give, and nothing in the log says why.",
        ends_silently,
        looks_at=frozenset({"cut"}),
    ),
    Check(
        "6.leaked-words",
        "the model sees words of another thread",
        "One instance serves all users: what it keeps of one conversation turns up in the next.",
        leaked_words,
        looks_at=frozenset({"other thread"}),
    ),
)
