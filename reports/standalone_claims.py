"""What a stand-alone file asserts, for each check."""

from __future__ import annotations

from collections.abc import Callable

from ..harness.findings import Finding
from ..harness.history import Summarised
from ..harness.invariants.reading import Reading, lasting
from ..harness.invariants.registry import CHECKS
from ..harness.tokens import bare
from . import standalone_state_claims as state_claims
from . import standalone_turn_claims as turn_claims
from .standalone_claim import Claim, NoClaim, Shown, is_random_id, of_requests, of_state, said
from .standalone_text import literal


def claim(finding: Finding, asked: int) -> Claim:
    """Return what to assert about the finding; `asked` is the number of requests before the last step.

    Raises `NoClaim` with the reason when there is nothing that one history can show.
    """
    code = finding.signature.code
    check = next((check for check in CHECKS if check.code == code), None)
    if check is None or code not in _CLAIMS:
        raise NoClaim(f"{code} is shown by no single run: it compares several, or asks a provider's package")
    reading = Reading(finding.ledger, finding.history)
    found = [v for v in check.judge(reading, 0) if v.record == finding.record]
    same = [v for v in found if v.detail == finding.detail] or found
    if not same:
        raise NoClaim("the stored history does not show the failure")
    return _CLAIMS[code](Shown(finding, same[0], reading, asked))


def _failed_summary(shown: Shown) -> Claim:
    marks = [literal(bare(token)) for token in shown.violation.tokens]
    return of_state(
        'left = "\\n".join(map(text_of, messages))',
        f"assert all(mark in left for mark in [{', '.join(marks)}]), {shown.because}",
    )


def _regenerated(shown: Shown) -> Claim:
    calls = [r for r in shown.reading.history.records if isinstance(r, Summarised)]
    if any(call.failure is not None for call in calls):
        raise NoClaim("a summary had failed, and had to be made again")
    because = shown.because.replace("\n", "\n    ")
    return Claim(
        [
            "covered = set()",
            "for prompt in summary_model.prompts:",
            '    words = set(re.findall(r"⟦[uat]\\d[\\w.]*⟧ [a-z]+:", prompt))',
            f'    assert not covered or "⟦" not in prompt or words - covered, {because}',
            "    covered |= words",
        ],
        parts=frozenset({"re", "summary_model"}),
    )


def _prefix_broken(shown: Shown) -> Claim:
    sight = shown.sight
    if sight.previous is None:
        raise NoClaim("there is no request before it")
    earlier = sight.previous
    size = lasting(earlier.request, earlier.state) + bool(earlier.request.system)
    base = "asked + " if shown.asked else ""
    nth = shown.nth
    previous = f"asked - {1 - nth}" if shown.asked and nth < 1 else f"{base}{nth - 1}"
    return Claim(
        [
            f"earlier, later = model.requests[{previous}], model.requests[{base}{nth}]",
            f"kept = [on_wire(m) for m in earlier[:{size}]]",
            f"assert [on_wire(m) for m in later[:{size}]] == kept, {shown.because}",
        ],
        ["asked = len(model.requests)"] if shown.asked else [],
        frozenset({"text_of", "on_wire"}),
    )


def _summary_rewritten(shown: Shown) -> Claim:
    return of_state(
        "now = {m.id: text_of(m) for m in messages}",
        f"assert all(now.get(id, text) == text for id, text in stored.items()), {shown.because}",
        before=('stored = {m.id: text_of(m) for m in agent.get_state(thread).values.get("messages", [])}',),
    )


def _fold_incoherent(shown: Shown) -> Claim:
    labels = shown.violation.detail.partition(" were written together")[0].split(", ")
    views = [view for view in shown.change.fold.state if view.label() in labels]
    if any(is_random_id(view.id) for view in views):
        raise NoClaim("what was written together has random ids")
    ids = [view.id for view in views]
    return of_state(
        f"places = [place for place, m in enumerate(messages) if m.id in {literal(ids)}]",
        f"assert places == list(range(places[0], places[0] + len(places))), {shown.because}",
        parts=frozenset(),
    )


def _recall(shown: Shown) -> Claim:
    marks = [literal(bare(token)) for token in shown.violation.tokens]
    return of_requests(
        shown,
        'seen = "\\n".join(map(text_of, request))',
        f"assert all(mark in seen for mark in [{', '.join(marks)}]), {shown.because}",
        first=shown.nth,
    )


def _hook_error(shown: Shown) -> Claim:
    return Claim([f"assert failure is None, {shown.because}"])


def _ends_silently(shown: Shown) -> Claim:
    words = shown.reading.ledger.words_at(
        shown.finding.history.records[shown.violation.record].turn, shown.violation.record
    )
    if not words:
        raise NoClaim("the turn has no words of the user")
    return of_state(
        f"asked_at = max(place for place, m in enumerate(messages) if {said(words[0])} in text_of(m))",
        'answers = [m for m in messages[asked_at:] if m.type == "ai" and not m.tool_calls]',
        "answers = [m for m in answers if text_of(m).strip()]",
        f"assert answers, {shown.because}",
    )


_CLAIMS: dict[str, Callable[[Shown], Claim]] = {
    "1.state-in-history": state_claims.state_in_history,
    "1.stale-state": state_claims.stale_state,
    "1.state-missing": state_claims.state_missing,
    "1.speaks-as-user": state_claims.speaks_as_user,
    "2.reorder": state_claims.reorder,
    "2.id-rewrite": state_claims.id_rewrite,
    "2.duplicate": state_claims.duplicate,
    "2.mutated-in-place": state_claims.mutated,
    "2.content-changed": state_claims.content_changed,
    "2.id-growth": state_claims.id_growth,
    "3.stale-question": turn_claims.stale_question,
    "3.attach-not-latest": turn_claims.attach_not_latest,
    "4.cut-inside-turn": turn_claims.cut_inside_turn,
    "4.question-lost": turn_claims.question_lost,
    "4.orphan-result": turn_claims.tool_calls,
    "4.unanswered-call": turn_claims.tool_calls,
    "4.duplicate-result": turn_claims.tool_calls,
    "4.hole": turn_claims.hole,
    "4.system-lost": turn_claims.system_lost,
    "5.failed-summary-committed": _failed_summary,
    "5.regenerated": _regenerated,
    "5.prefix-broken": _prefix_broken,
    "5.summary-rewritten": _summary_rewritten,
    "6.fold-incoherent": _fold_incoherent,
    "6.recall": _recall,
    "6.hook-error": _hook_error,
    "6.ends-silently": _ends_silently,
}
