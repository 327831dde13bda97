"""What a finding is about: the utterances, and the messages that a reader should look at first."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..harness.findings import Finding
from ..harness.invariants.reading import Reading
from ..harness.invariants.registry import CHECKS
from ..harness.ledger import SYSTEM_ID
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
    """Return the places of what is wrong in two message lists: in one of them only.

    These are the messages that say the utterances concerned, or else that mention them, or else that the
    check's sentence names; and of these rather those that came or left than those that stayed. What the
    model reads in the wrong place (invariant 3) is looked for in the later list first.
    """
    tokens = frozenset(concerned(finding))
    words = set(re.findall(r"[^\s,;()]+", finding.detail))
    if "the system message" in finding.detail:
        words.add(SYSTEM_ID)
    meanings: tuple[Callable[[View], bool], ...] = (
        lambda view: view.says in tokens,
        lambda view: not tokens.isdisjoint(view.mentions.utterances),
        lambda view: view.label() in words,
    )
    came = [view not in before for view in after]
    left = [view not in after for view in before]
    for new, old in ((came, left), ([True] * len(after), [True] * len(before))):
        found = [
            (
                frozenset(n for n, view in enumerate(before) if old[n] and is_meant(view)),
                frozenset(n for n, view in enumerate(after) if new[n] and is_meant(view)),
            )
            for is_meant in meanings
        ]
        if finding.signature.code.startswith("3."):
            found.sort(key=lambda pair: not pair[1])
        for earlier, later in found:
            if later:
                return frozenset(), later
            if earlier:
                return earlier, frozenset()
    return frozenset(), frozenset()
