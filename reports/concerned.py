"""What a finding is about: the utterances, and the messages that a reader should look at first."""

from __future__ import annotations

import re

from ..harness.findings import Finding
from ..harness.invariants.reading import Reading
from ..harness.invariants.registry import CHECKS
from ..harness.views import View, Views


def concerned(finding: Finding) -> tuple[str, ...]:
    """Return the utterances that the finding is about: what its check says of its history.

    A comparison of histories names none.
    """
    reading = Reading(finding.ledger, finding.history)
    for check in CHECKS:
        if check.code != finding.signature.code:
            continue
        for violation in check.judge(reading, 0):
            if violation.record == finding.record and violation.place == finding.signature.by:
                return violation.tokens
    return ()


def offending(finding: Finding, before: Views, after: Views) -> tuple[frozenset[int], frozenset[int]]:
    """Return the places in two message lists of what is wrong: in the later one where it is there at all.

    Where a check names no utterance, it is the messages that its sentence names.
    """
    tokens = set(concerned(finding))
    words = set(re.findall(r"[^\s,;()]+", finding.detail))

    def says(view: View) -> bool:
        return bool(tokens & {view.says or "", *view.mentions.utterances}) and view.role != "remove"

    def is_named(view: View) -> bool:
        return not tokens and view.label() in words

    for means in (lambda view: view.says in tokens, says, is_named):
        later = frozenset(place for place, view in enumerate(after) if means(view))
        if later:
            return frozenset(), later
        earlier = frozenset(place for place, view in enumerate(before) if means(view))
        if earlier:
            return earlier, frozenset()
    return frozenset(), frozenset()
