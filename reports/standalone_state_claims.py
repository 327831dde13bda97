"""Claims on dynamic state, order, ids and words: the invariants 1 and 2."""

from __future__ import annotations

import json

from ..harness.history import Mutated, Requested
from ..harness.tokens import bare
from ..harness.views import View
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


def state_in_history(shown: Shown) -> Claim:
    """Claim that no message of the state holds a state version."""
    return of_state(f'assert not any("⟦s" in text_of(m) for m in messages), {shown.because}')


def stale_state(shown: Shown) -> Claim:
    """Claim that a request which shows a state version shows the current one."""
    current = literal(bare(shown.reading.ledger.state_at(shown.violation.record)))
    return of_requests(
        shown,
        'shown = "\\n".join(map(text_of, request))',
        f'assert "⟦s" not in shown or {current} in shown, {shown.because}',
        first=shown.nth,
    )


def state_missing(shown: Shown) -> Claim:
    """Claim that each request shows a state version."""
    return of_requests(
        shown, f'assert any("⟦s" in text_of(m) for m in request), {shown.because}', first=shown.nth
    )


def speaks_as_user(shown: Shown) -> Claim:
    """Claim that the last user message holds the user's words."""
    return of_requests(
        shown,
        'last = [m for m in request if m.type == "human"][-1]',
        f"assert any(words in text_of(last) for words in {said_all(current(shown))}), {shown.because}",
        first=shown.nth,
    )


def reorder(shown: Shown) -> Claim:
    """Claim that what was said stands in the order in which it was said."""
    record = shown.reading.history.records[shown.violation.record]
    views = record.messages if isinstance(record, Requested) else shown.change.fold.state
    ledger = shown.reading.ledger
    carriers = shown.reading.said(views)
    tokens = [t for t, carried in carriers.items() if len(carried) == 1 and ledger.order(t) is not None]
    order = sorted(tokens, key=lambda token: ledger.order(token) or ())
    lines = [
        f"as_said = {listed([said(token) for token in order])}",
        "found = [words for m in {0} for words in as_said if words in text_of(m)]",
        f"assert found == [words for words in as_said if words in found], {shown.because}",
    ]
    if isinstance(record, Requested):
        lines[1] = lines[1].format("request")
        return of_requests(shown, *lines, first=shown.nth)
    lines[1] = lines[1].format("messages")
    return of_state(*lines)


def id_rewrite(shown: Shown) -> Claim:
    """Claim that words still stand under the id that they had."""
    token = shown.violation.tokens[0]
    before = [view.id for view in shown.reading.said(shown.change.before)[token]]
    if any(map(is_random_id, before)):
        raise NoClaim("the message had a random id before")
    return of_state(
        f"ids = [m.id for m in messages if {said(token)} in text_of(m)]",
        f"assert not ids or set(ids) & {{{', '.join(map(literal, before))}}}, {shown.because}",
    )


def duplicate(shown: Shown) -> Claim:
    """Claim that words stand in one message only."""
    token = shown.violation.tokens[0]
    record = shown.reading.history.records[shown.violation.record]
    if isinstance(record, Requested):
        return of_requests(
            shown,
            f"assert sum({said(token)} in text_of(m) for m in request) <= 1, {shown.because}",
            first=shown.nth,
        )
    return of_state(
        f"ids = [m.id for m in messages if {said(token)} in text_of(m)]",
        f"assert len(ids) <= 1, {shown.because}",
    )


def _unchanged(shown: Shown, was: View) -> Claim:
    """Claim that the message under the id of `was` still holds its words."""
    if is_random_id(was.id):
        raise NoClaim("the message has a random id")
    return of_state(
        f"texts = [text_of(m) for m in messages if m.id == {literal(was.id)}]",
        f"assert all({literal(was.text)} in text for text in texts), {shown.because}",
    )


def content_changed(shown: Shown) -> Claim:
    """Claim that a message still holds its words, its name and its metadata."""
    change, token = shown.change, shown.violation.tokens[0]
    was = shown.reading.said(change.before)[token][0]
    now = shown.reading.said(change.fold.state).get(token)
    if not now or was.text not in now[0].text:
        return _unchanged(shown, was)
    carriers = f"carriers = [m for m in messages if {said(token)} in text_of(m)]"
    if was.name != now[0].name:
        return of_state(
            carriers, f"assert all(m.name == {literal(was.name)} for m in carriers), {shown.because}"
        )
    if not was.extra.startswith("{"):
        raise NoClaim("what has changed is neither the words nor the name nor metadata")
    return of_state(
        carriers,
        f"metadata = {literal(json.loads(was.extra))}",
        f"assert all(metadata.items() <= m.additional_kwargs.items() for m in carriers), {shown.because}",
    )


def mutated(shown: Shown) -> Claim:
    """Claim that what was changed in place is stored as it was."""
    record = shown.reading.history.records[shown.violation.record]
    assert isinstance(record, Mutated)
    for was, now in zip(record.before, record.after, strict=False):
        if was.text != now.text and was.id == now.id:
            return _unchanged(shown, was)
    raise NoClaim("what was changed in place is no text")


def id_growth(shown: Shown) -> Claim:
    """Claim that no id was derived from one that was derived before."""
    token = shown.violation.tokens[0]
    grown = [view.id for view in shown.reading.said(shown.change.fold.state)[token]]
    if any(map(is_random_id, grown)):
        raise NoClaim("the id is random")
    return of_state(
        f"ids = [m.id for m in messages if {said(token)} in text_of(m)]",
        f"assert not set(ids) & {{{', '.join(map(literal, grown))}}}, {shown.because}",
    )
