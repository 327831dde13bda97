"""Invariant 4: cuts land on turn boundaries, and what remains is a valid conversation."""

from __future__ import annotations

from collections.abc import Iterator

from ..history import TurnEnded
from .checks import Check, Violation
from .reading import Reading, said


def cut_inside_turn(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that remove a part of a turn and leave another part of it."""
    utterances = reading.ledger.utterances
    for change in reading.changes_since(since):
        if not change.by_hook or not change.gone:
            continue
        left = said(change.fold.state)
        for turn in sorted({utterances[t].turn for t in change.gone if t in utterances}):
            stays = [t for t in left if t in utterances and utterances[t].turn == turn]
            if not stays:
                continue
            gone = [t for t in change.gone if t in utterances and utterances[t].turn == turn]
            finished = frozenset({"finished_turn"}) if turn < change.fold.turn else frozenset()
            yield Violation(
                "4.cut-inside-turn",
                change.record,
                change.fold.by,
                f"of turn {turn}, {', '.join(gone)} is gone and {', '.join(stays)} stays",
                tuple(gone),
                finished,
            )


def question_lost(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests in which the words of the current turn are not there as the user's words."""
    for sight in reading.sights_since(since):
        missing = set(reading.ledger.words_at(sight.request.turn, sight.record))
        for view in reversed(sight.request.messages):
            if not missing:
                break
            if view.role == "human":
                missing.difference_update(view.mentions.quoted)
        if missing:
            yield Violation(
                "4.question-lost",
                sight.record,
                sight.blame,
                f"the words {', '.join(sorted(missing))} of the current turn are not in the request",
                tuple(sorted(missing)),
            )


def _aborted_turns(reading: Reading) -> set[int]:
    return {r.turn for r in reading.history.records if isinstance(r, TurnEnded) and r.how == "aborted"}


def _tool_problems(reading: Reading, since: int) -> Iterator[tuple[Violation, str]]:
    """Yield, for each request, results without their call and calls without their result.

    A call whose result the harness never delivered, because the turn was aborted, is not counted.
    """
    aborted: set[int] | None = None
    for sight in reading.sights_since(since):
        waiting: dict[str, None] = {}
        last: list[tuple[str, tuple[str, ...]]] = []
        for view in sight.request.messages:
            if view.role == "tool":
                if view.answers in waiting:
                    del waiting[str(view.answers)]
                else:
                    last.append(("4.orphan-result", (view.label(), str(view.answers))))
                continue
            last += [("4.unanswered-call", (call,)) for call in waiting]
            waiting = dict.fromkeys(view.calls)
        last += [("4.unanswered-call", (call,)) for call in waiting]
        for code, what in last:
            if code == "4.orphan-result":
                detail = f"the result {what[0]} does not directly follow its call {what[1]}"
            else:
                if aborted is None:
                    aborted = _aborted_turns(reading)
                if what[0] not in reading.ledger.delivered and _turn_of_call(what[0]) in aborted:
                    continue
                detail = f"the call {what[0]} has no result directly behind it"
            yield Violation(code, sight.record, sight.blame, detail), code


def _turn_of_call(call: str) -> int | None:
    number = call[1:].partition(".")[0]
    return int(number) if call[:1] == "c" and number.isdigit() else None


def orphan_result(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests with a tool result that does not directly follow its call."""
    return (violation for violation, code in _tool_problems(reading, since) if code == "4.orphan-result")


def unanswered_call(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests with a tool call that has no result directly behind it."""
    return (violation for violation, code in _tool_problems(reading, since) if code == "4.unanswered-call")


CHECKS = (
    Check(
        "4.cut-inside-turn",
        "a turn was cut in two",
        "What is left of the turn has lost its beginning: answers without their question, tool work "
        "without its purpose.",
        cut_inside_turn,
    ),
    Check(
        "4.question-lost",
        "the question being worked on is no longer in the request",
        "The model continues without the user's words, from a summary at best, and may answer "
        "something that was not asked.",
        question_lost,
    ),
    Check(
        "4.orphan-result",
        "a tool result stands without its call",
        "Strict providers reject the request, and the thread is stuck: every further turn fails too.",
        orphan_result,
    ),
    Check(
        "4.unanswered-call",
        "a tool call stands without its result",
        "Strict providers reject the request, and the thread is stuck: every further turn fails too.",
        unanswered_call,
    ),
)
