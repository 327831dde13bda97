"""Claims on the current question and on cuts: the invariants 3 and 4."""

from __future__ import annotations

from ..harness.invariants.tool_calls import tool_problems
from ..harness.ledger import SYSTEM_ID
from .standalone_claim import (
    Claim,
    NoClaim,
    Shown,
    current,
    is_random_id,
    of_requests,
    of_state,
    said,
    said_all,
)
from .standalone_text import listed, literal


def stale_question(shown: Shown) -> Claim:
    """Claim that the last words of the user in a request are the current ones."""
    tokens = current(shown)
    return of_requests(
        shown,
        'last = [m for m in request if m.type == "human" and re.search("⟦[uat]", text_of(m))][-1]',
        f"assert any(words in text_of(last) for words in {said_all(tokens)}), {shown.because}",
        first=shown.nth,
        parts=frozenset({"text_of", "re"}),
    )


#: What stood in the state before the last step.
_STORED = 'stored = {m.id: text_of(m) for m in stored.get("messages", [])}'


def attach_not_latest(shown: Shown) -> Claim:
    """Claim that what was attached does not stand before words of an earlier turn."""
    passed = shown.violation.tokens[0]
    state = shown.change.fold.state
    place = next(i for i, view in enumerate(state) if view.says == passed)
    known = {view.id for view in shown.change.before if view.says is None}
    again = shown.change.fold.again
    attached = [
        v
        for v in state[:place]
        if v.says is None and v.role in ("human", "system") and (v.id not in known or v.id in again)
    ]
    label = shown.violation.detail.partition(" was attached")[0]
    view = next((v for v in attached if v.label() == label), None)
    if view is None:
        raise NoClaim("what was attached cannot be told from the rest")
    lines = [
        f"earlier = [place for place, m in enumerate(messages) if {said(passed)} in text_of(m)]",
        f"assert not attached or not earlier or attached[-1] > earlier[-1], {shown.because}",
    ]
    same_text = f"text_of(m) == {literal(view.text)}"
    if view.id in again:
        # The reducer has put the object in the place where it stood before: nothing is new.
        return of_state(f"attached = [place for place, m in enumerate(messages) if {same_text}]", *lines)
    found = same_text if is_random_id(view.id) else f"m.id == {literal(view.id)}"
    return of_state(
        "new = [m for m in messages if stored.get(m.id) != text_of(m)]",
        f"attached = [place for place, m in enumerate(messages) if m in new and {found}]",
        'words = re.compile("⟦[uat][^⟧]*⟧ [a-z]+:")',
        "attached = [place for place in attached if not words.search(text_of(messages[place]))]",
        *lines,
        before=("stored = agent.get_state(thread).values", _STORED),
        parts=frozenset({"text_of", "re"}),
    )


def cut_inside_turn(shown: Shown) -> Claim:
    """Claim that a turn is there as a whole, or gone as a whole."""
    ledger, change = shown.reading.ledger, shown.change
    turn = ledger.utterances[shown.violation.tokens[0]].turn
    both = [view.says for view in (*change.gone.values(), *change.fold.state) if view.says]
    mine = [t for t in both if t in ledger.utterances and ledger.utterances[t].turn == turn]
    order = sorted(dict.fromkeys(mine), key=lambda token: ledger.order(token) or ())
    return of_state(
        f"turn = {listed([said(token) for token in order])}",
        "left = [words for words in turn if any(words in text_of(m) for m in messages)]",
        f"assert left in ([], turn), {shown.because}",
    )


def question_lost(shown: Shown) -> Claim:
    """Claim that the current words are there as the user's words."""
    return of_requests(
        shown,
        'asked_now = "\\n".join(text_of(m) for m in request if m.type == "human")',
        f"assert all(words in asked_now for words in {said_all(current(shown))}), {shown.because}",
        first=shown.nth,
    )


#: What `call_problems` of the file finds, by check code and whether a call or result is missing altogether.
_PROBLEMS = {
    ("4.orphan-result", True): ["orphan"],
    ("4.orphan-result", False): ["orphan", "apart"],
    ("4.unanswered-call", True): ["unanswered"],
    ("4.unanswered-call", False): ["unanswered", "apart"],
    ("4.duplicate-result", False): ["duplicate"],
}


def tool_calls(shown: Shown) -> Claim:
    """Claim that no call has the problem; that this one has not, where the scenario itself made others."""
    code = shown.violation.code
    problems = tool_problems(shown.sight.request.messages)
    call = next(
        (c for wrong, c, detail in problems if (wrong, detail) == (code, shown.violation.detail)), None
    )
    if call is None:
        raise NoClaim("the tool call cannot be told from the rest")
    kinds = literal(_PROBLEMS[code, call.startswith("-")])
    mine = f" and call == {literal(call.lstrip('-'))}" if shown.reading.ledger.irregular else ""
    return of_requests(
        shown,
        f"wrong = [call for what, call in call_problems(request) if what in {kinds}{mine}]",
        f"assert not wrong, {shown.because}",
        first=shown.nth,
        parts=frozenset({"text_of", "call_problems"}),
    )


def hole(shown: Shown) -> Claim:
    """Claim that what is left is the end of the conversation."""
    change = shown.change
    words = shown.reading.ledger.words_at(change.fold.turn, change.record)
    order = [view.says for view in change.before if view.says and view.says not in words]
    return of_state(
        f"as_said = {listed([said(token) for token in order])}",
        "left = [words for words in as_said if any(words in text_of(m) for m in messages)]",
        f"assert left == as_said[len(as_said) - len(left) :], {shown.because}",
    )


def system_lost(shown: Shown) -> Claim:
    """Claim that the system message is still in the state."""
    text = next(view.text for view in shown.change.before if view.id == SYSTEM_ID)
    return of_state(f"assert any({literal(text)} == text_of(m) for m in messages), {shown.because}")
