"""Verdicts and their algebra: holds, waived, inconclusive, violated; the worst one counts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Verdict(str, Enum):
    """What is known of an invariant for a candidate. `WAIVED` holds apart from declared exceptions."""

    HOLDS = "holds"
    WAIVED = "waived"
    INCONCLUSIVE = "inconclusive"
    VIOLATED = "violated"

    def __str__(self) -> str:
        return self.value


_SEVERITY = {Verdict.HOLDS: 0, Verdict.WAIVED: 1, Verdict.INCONCLUSIVE: 2, Verdict.VIOLATED: 3}


def merge(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the most severe verdict; of none, `INCONCLUSIVE`: a run that saw nothing proves nothing.

    The operation is associative, commutative and idempotent, so shards can be merged in any order.
    """
    return max(verdicts, key=_SEVERITY.__getitem__, default=Verdict.INCONCLUSIVE)
