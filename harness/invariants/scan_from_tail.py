"""Invariant 3: attach points are found from the tail; the current question stays the last one."""

from __future__ import annotations

from collections.abc import Iterator

from ..views import View, Views
from .checks import Check, Violation
from .reading import Change, Reading


def stale_question(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests in which the last user words are not those of the current turn.

    When the current words are gone altogether, a summary in the user's role that speaks of earlier
    turns stands in their place, and counts.
    """
    utterances = reading.ledger.utterances
    for sight in reading.sights_since(since):
        turn = sight.request.turn
        last = next(
            (v for v in reversed(sight.request.messages) if v.role == "human" and v.mentions.utterances), None
        )
        words = reading.ledger.words_at(turn, sight.record)
        if last is None or not words or last.says in words:
            continue
        turns = {utterances[token].turn for token in last.mentions.utterances if token in utterances}
        if last.says is None and _shows_words(sight.request.messages, words):
            continue
        if turns - {turn}:
            yield Violation(
                "3.stale-question",
                sight.record,
                sight.blame,
                f"in turn {turn} {_last_words(last)}, of turn {', '.join(map(str, sorted(turns)))}",
                last.mentions.utterances,
            )


def _last_words(view: View) -> str:
    told = ", ".join(view.mentions.utterances)
    if view.says is not None:
        return f"the last user words that the model sees are {told}"
    return f"the last message in the user's role is a summary of {told}"


def _shows_words(messages: Views, words: tuple[str, ...]) -> bool:
    return any(view.role == "human" and set(words) & set(view.mentions.quoted) for view in messages)


def attach_not_latest(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that attach a new message before words of an earlier turn.

    Judged on additions only: an update that removes messages is a compaction, and a message that
    stood there before may be refreshed in place. One object that is handed over in two turns is no
    refreshing: the hook left its id to the reducer, which finds it named already and puts the second
    injection in the place of the first.
    """
    for change in reading.changes_since(since):
        if not change.by_hook or change.gone or any(v.role == "remove" for v in change.fold.update):
            continue
        turn = change.fold.turn
        words = reading.ledger.words_at(turn, change.record)
        state = change.fold.state
        latest = next((i for i in reversed(range(len(state))) if state[i].says in words), None)
        if latest is None:
            continue
        for position, view in _attached(change):
            passed = [
                later.says
                for later in change.fold.state[position + 1 : latest]
                if later.says in reading.ledger.utterances
                and reading.ledger.utterances[str(later.says)].turn < turn
            ]
            if passed:
                yield Violation(
                    "3.attach-not-latest",
                    change.record,
                    change.fold.by,
                    f"{view.label()} was attached before {passed[0]}, not at the latest user message",
                    (str(passed[0]),),
                )
                break


def _attached(change: Change) -> Iterator[tuple[int, View]]:
    foreign_before = {view.id for view in change.before if view.says is None}
    for position, view in enumerate(change.fold.state):
        if view.says is not None or view.role not in ("human", "system"):
            continue
        if view.id not in foreign_before or view.id in change.fold.again:
            yield position, view


CHECKS = (
    Check(
        "3.stale-question",
        "the model answers a question of an earlier turn",
        "The last user words the model sees are not the current ones, so it works on a request that "
        "was settled turns ago.",
        stale_question,
        looks_at=frozenset({"request"}),
    ),
    Check(
        "3.attach-not-latest",
        "context was attached to an earlier turn than the current one",
        "Context about now is read as context of then, and every cached prefix from that point is lost.",
        attach_not_latest,
        looks_at=frozenset({"hook change"}),
    ),
)
