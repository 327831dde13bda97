"""The canary: a planted bug that a night must find, and a correct candidate that must stay clean.

A night whose tools do not find what is surely there proves nothing (exit code 4).
"""

from __future__ import annotations

from ...harness.campaign import Campaign
from ...harness.errors import HarnessBrokenError
from ...harness.events import Options
from ...harness.steps import UserTurn
from ...models.catalogue import CATALOGUE
from ...strategies.scenarios import explore

#: The planted bug (deer-flow's #4667), what it must be found by, and the same without the bug.
PLANTED, CODES, CORRECT = "deerflow-4667", ("2.reorder", "3.stale-question"), "deerflow"

#: Histories in which the bug is always found, whatever else changes; it is mostly found within 40.
_HISTORIES = 200
_TURNS = 2


def watch_the_canary(planted: str = PLANTED, correct: str = CORRECT) -> None:
    """Raise `HarnessBrokenError` when the bug is not found in two turns, or the correct one is blamed."""
    result = Campaign([CATALOGUE[planted](), CATALOGUE[correct]()], Options(max_histories=_HISTORIES)).run(
        explore
    )
    for code in CODES:
        mine = (f for f in result.findings if f.signature.candidate == planted)
        witnesses = [f for f in mine if f.signature.code == code]
        if not any(_is_minimal(finding.scenario.steps) and finding.confirmed for finding in witnesses):
            raise _broken(f"{code} of {planted} was not found, shrunk to {_TURNS} turns and confirmed")
    blamed = sorted({f.signature.code for f in result.findings if f.signature.candidate == correct})
    if blamed:
        raise _broken(f"{correct}, which is correct, is blamed for {', '.join(blamed)}")


def _is_minimal(steps: tuple[object, ...]) -> bool:
    return len(steps) <= _TURNS and all(isinstance(step, UserTurn) for step in steps)


def _broken(why: str) -> HarnessBrokenError:
    return HarnessBrokenError(
        f"the canary is dead: {why}",
        place="canary",
        remedy="Nothing that this Sixfold says can be relied on; reinstall it, or report this.",
    )
