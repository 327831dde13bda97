"""Invariant 4: cuts land on turn boundaries, and what remains is a valid conversation."""

from __future__ import annotations

from collections.abc import Iterator

from .checks import Check, Violation
from .reading import Reading


def cut_inside_turn(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that remove a part of a turn and leave another part of it."""
    utterances = reading.ledger.utterances
    for change in reading.changes_since(since):
        if not change.by_hook or not change.gone:
            continue
        left = reading.said(change.fold.state)
        for turn in sorted({utterances[t].turn for t in change.gone if t in utterances} - {0}):
            stays = [t for t in left if t in utterances and utterances[t].turn == turn]
            if not stays:
                continue
            gone = [t for t in change.gone if t in utterances and utterances[t].turn == turn]
            finished = frozenset({"finished_turn"}) if turn < change.fold.turn else frozenset()
            yield Violation(
                "4.cut-inside-turn",
                change.record,
                change.fold.by,
                f"of turn {turn}, {', '.join(gone)} went and {', '.join(stays)} stayed",
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


def _tool_problems(reading: Reading, since: int, wanted: str) -> Iterator[Violation]:
    """Yield requests that a strict provider rejects for their tool calls.

    What the scenario itself left unanswered or out of place has the fact `scenario_made`; only
    candidates that promise to repair it are held to it, and not for calls that only the provider's raw
    view of a message names (`raw_only`). A call or result that has gone missing is never excused by being
    out of place.
    """
    ledger = reading.ledger
    for sight, problems in reading.rejected_since(since):
        for code, call, detail in problems:
            if code != wanted:
                continue
            excused = call.lstrip("-") in ledger.irregular
            if call.startswith("-") and code != "4.unanswered-call":
                excused = False
            facts = frozenset({"scenario_made"}) if excused else frozenset()
            if excused and "fault" in sight.causes:
                facts |= {"faulted"}
            if excused and not any(call.lstrip("-") in view.calls for view in sight.request.messages):
                facts |= {"raw_only"}
            yield Violation(code, sight.record, sight.blame, detail, facts=facts)


def orphan_result(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests with a tool result that does not directly follow its call."""
    return _tool_problems(reading, since, "4.orphan-result")


def unanswered_call(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests with a tool call that has no result directly behind it."""
    return _tool_problems(reading, since, "4.unanswered-call")


def duplicate_result(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests in which one tool call is answered twice."""
    return _tool_problems(reading, since, "4.duplicate-result")


def hole(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds after which what is left is not the end of the conversation.

    The words of the current turn may be kept from before a cut: that is a rescue, not a hole. Where the user
    has sent an old message again, that message is the turn's request. What stands in the history twice counts
    where it stands last: a cut may go between the two.
    """
    for change in reading.changes_since(since):
        if not change.by_hook or not change.gone:
            continue
        words = reading.ledger.words_at(change.fold.turn, change.record)
        if not words:
            words = tuple(v.says for v in change.before if v.says and v.role == "human")[-1:]
        left = {view.says for view in change.fold.state} - set(words)
        order = [view.says for view in change.before if view.says]
        last_at = {token: place for place, token in enumerate(order)}
        first_kept = min((place for token, place in last_at.items() if token in left), default=len(order))
        behind = [token for token in order[first_kept:] if token in change.gone]
        if behind:
            yield Violation(
                "4.hole",
                change.record,
                change.fold.by,
                f"{order[first_kept]} stayed, and {', '.join(behind)}, said later, went",
                tuple(behind),
            )


def system_lost(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that remove the system message a client put into the state.

    It may be added to: what counts is that its words still stand in a system message.
    """
    for change in reading.changes_since(since):
        if change.loses_system:
            yield Violation(
                "4.system-lost",
                change.record,
                change.fold.by,
                "the system message in state is gone",
            )


CHECKS = (
    Check(
        "4.cut-inside-turn",
        "a turn was cut in two",
        "What is left of the turn has lost its beginning: answers without their question, tool work "
        "without its purpose.",
        cut_inside_turn,
        looks_at=frozenset({"hook removal"}),
    ),
    Check(
        "4.question-lost",
        "the question being worked on is no longer in the request",
        "The model continues without the user's words, from a summary at best, and may answer "
        "something that was not asked.",
        question_lost,
        looks_at=frozenset({"request"}),
    ),
    Check(
        "4.orphan-result",
        "a tool result stands without its call",
        "Strict providers reject the request, and the thread is stuck: every further turn fails too.",
        orphan_result,
        looks_at=frozenset({"request"}),
    ),
    Check(
        "4.unanswered-call",
        "a tool call stands without its result",
        "Strict providers reject the request, and the thread is stuck: every further turn fails too.",
        unanswered_call,
        looks_at=frozenset({"request"}),
    ),
    Check(
        "4.duplicate-result",
        "a tool call is answered twice",
        "Strict providers reject the request, and the thread is stuck: every further turn fails too.",
        duplicate_result,
        looks_at=frozenset({"request"}),
    ),
    Check(
        "4.hole",
        "a piece was cut out of the middle",
        "The model sees an answer to something that is no longer there, and fills the gap with invention.",
        hole,
        looks_at=frozenset({"hook removal"}),
    ),
    Check(
        "4.system-lost",
        "the system message in state was cut away",
        "The agent goes on without its instructions.",
        system_lost,
        looks_at=frozenset({"hook change"}),
    ),
)
