"""Invariant 5: a compaction is made once, stored, and replayed byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..history import Fold, Happened, HookRan, Summarised
from ..views import View
from .checks import Check, Violation
from .reading import Reading

#: What may change earlier messages of a request for a reason (see `Sight.causes`).
_REASONS = frozenset(
    {
        "change_state",
        "advance_clock",
        "edit_message",
        "delete_turn",
        "trim_state",
        "rewind",
        "configure",
        "fault",
        "compaction",
        "system lost",
    }
)

#: Turns in a row without relief that count as thrashing.
_THRASHING = 3


def failed_summary_committed(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that remove messages although the summary of them had failed.

    A fallback that keeps the facts (their tokens are still there after the fold) is no violation.
    """
    records = reading.history.records
    for change in reading.changes_since(since):
        if not change.gone:
            continue
        failure = _last_summary(records[: change.record], change.fold.by)
        if failure is None or failure.failure is None:
            continue
        kept = {token for view in change.fold.state for token in view.mentions.utterances}
        lost = [token for token in change.gone if token not in kept]
        if lost:
            yield Violation(
                "5.failed-summary-committed",
                change.record,
                change.fold.by,
                f"the summariser failed ({failure.failure}), and still {', '.join(lost)} went out of history",
                tuple(lost),
            )


def _last_summary(records: Sequence[object], by: str) -> Summarised | None:
    """Return the last summariser call of the hook run that ends `records`."""
    for record in reversed(records):
        if isinstance(record, Summarised) and record.by == by:
            return record
        if isinstance(record, Fold):
            return None
    return None


def regenerated(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield summariser calls over nothing but what a stored summary already covers.

    A message that no script wrote (a tool's complaint about its arguments) can be new, too, without a token.
    """
    if not reading.summaries:
        return
    covered: set[str] = set()
    open_call: Summarised | None = None
    committed = {change.record for change in reading.changes if change.gone and change.by_hook}
    for index, record in enumerate(reading.history.records):
        if isinstance(record, Summarised):
            if record.failure is not None:
                continue
            stale = covered and record.tokens and set(record.quoted) <= covered
            if stale and index >= since and not _folds_news(reading, index, record.by):
                yield Violation(
                    "5.regenerated",
                    index,
                    record.by,
                    f"{', '.join(record.tokens)} stood in a summary before, and went into another",
                    record.tokens,
                )
            open_call = record
        elif isinstance(record, Fold) and open_call is not None and index in committed:
            covered.update(open_call.quoted)
            open_call = None
        elif isinstance(record, HookRan) and record.outcome != "update":
            open_call = None
        elif isinstance(record, Happened) and record.what == "rewind":
            covered.clear()


def _folds_news(reading: Reading, call: int, by: str) -> bool:
    """Tell whether what a summariser call takes out of the state holds a text of no hook and no script."""
    commit = next((change for change in reading.changes if change.record > call), None)
    if commit is None or commit.fold.by != by:
        return False
    left = {view.id for view in commit.fold.state}
    strange = {
        view.id
        for view in commit.before
        if view.id not in left and view.text.strip() and not view.mentions.utterances
    }
    for change in reading.changes:
        if strange and change.by_hook:
            known = {view.id for view in change.before}
            strange -= {view.id for view in change.fold.state if view.id not in known}
    return bool(strange)


def prefix_broken(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests that stop being a prefix-extension of the previous one without a reason.

    Reasons are a state change, time passing, what a client does, a compaction, a system message that was cut
    away (with or without others: `4.system-lost` tells of it), and a fault in this turn or in the turn before
    its first request.
    """
    for sight in reading.sights_since(since):
        if sight.extends or sight.previous is None or sight.causes & _REASONS:
            continue
        earlier, later = sight.previous.request, sight.request
        if earlier.system != later.system:
            where = "the system prompt"
        else:
            pairs = zip(earlier.messages, later.messages, strict=False)
            where = next((f"message {a.label()}" for a, b in pairs if a != b), "a message that is gone")
        yield Violation(
            "5.prefix-broken",
            sight.record,
            sight.blame,
            f"the request no longer begins with the bytes of the previous one, from {where} on",
            facts=frozenset({"edited_in_place"} if "edit in place" in sight.causes else ()),
        )


def summary_rewritten(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that change a stored summary although nothing was compacted.

    What stands under the id of something said is what is left of it, and no summary.
    """
    for change in reading.changes_since(since):
        if not change.by_hook or change.gone:
            continue
        spoken = {utterance.id for utterance in reading.ledger.utterances.values()}
        before = {view.id: view for view in change.before if _is_summary(view) and view.id not in spoken}
        for view in change.fold.state:
            old = before.get(view.id)
            if old is not None and old.text != view.text:
                yield Violation(
                    "5.summary-rewritten",
                    change.record,
                    change.fold.by,
                    f"the stored summary {view.label()} was rewritten, and nothing was compacted",
                )


def _is_summary(view: View) -> bool:
    return view.says is None and bool(view.mentions.utterances) and view.role in ("human", "system", "ai")


def thrash(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield the third turn in a row in which the candidate summarised and no message left the state."""
    if not reading.summaries:
        return
    idle: list[int] = []
    for index, record in enumerate(reading.history.records):
        if not (isinstance(record, Fold) and "." in record.by):
            continue
        change = next((c for c in reading.changes if c.record == index), None)
        call = _last_summary(reading.history.records[:index], record.by)
        if call is None or call.failure is not None or change is None:
            continue
        if change.gone or len(record.state) < len(change.before):
            idle.clear()
        elif record.turn not in idle:
            idle.append(record.turn)
        if len(idle) >= _THRASHING and index >= since:
            yield Violation(
                "5.thrash",
                index,
                record.by,
                f"turns {', '.join(map(str, idle))} each summarised again, and nothing was compacted",
            )
            idle.clear()


CHECKS = (
    Check(
        "5.failed-summary-committed",
        "history was removed although the summary had failed",
        "The conversation is gone and an error message stands in its place.",
        failed_summary_committed,
        looks_at=frozenset({"hook removal"}),
    ),
    Check(
        "5.regenerated",
        "the same span was summarised again",
        "Each new summary of a summary forgets more, costs a model call, and breaks the cached prefix.",
        regenerated,
        looks_at=frozenset({"summary"}),
    ),
    Check(
        "5.prefix-broken",
        "a request stopped being an extension of the previous one",
        "The provider's prompt cache misses: the whole prefix is paid for and processed again.",
        prefix_broken,
        looks_at=frozenset({"break"}),
    ),
    Check(
        "5.summary-rewritten",
        "a stored summary was rewritten",
        "Every request starts with other bytes, and what the user was answered from is gone.",
        summary_rewritten,
        looks_at=frozenset({"hook change"}),
    ),
    Check(
        "5.thrash",
        "compaction runs every turn and gives no relief",
        "Each turn pays for a summary and a cold cache, and the context stays as full as it was.",
        thrash,
        looks_at=frozenset({"hook change"}),
    ),
)
