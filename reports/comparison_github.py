"""A comparison as annotations of GitHub Actions: regressions as errors, doubts and changes as warnings."""

from __future__ import annotations

from collections.abc import Sequence

from ..harness.baseline import Sorted
from ..harness.harmless import harmless
from ..harness.sides.result import ComparisonResult, Difference
from .comparison_words import heading, title_of
from .findings_in_words import counted, target_file
from .github import MOST_OF_A_KIND, message, property_value

_LEVELS = {"regressed": "error", "newly inconclusive": "warning", "changed": "warning", "fixed": "notice"}


def commands(results: Sequence[ComparisonResult], held: Sorted | None = None) -> str:
    """Return workflow commands, one a line. What is accepted is no error; what both sides violate is none."""
    accepted = frozenset[str]() if held is None else held.accepted
    lines: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for result in results:
        for each in result.differences:
            level = _LEVELS.get(each.kind)
            if level is not None:
                level = "notice" if result.id_of(each) in accepted else level
                lines[level].append(_command(level, each, result))
        for side in result.sides:
            for trouble in side.troubles:
                title = property_value(f"Sixfold: {harmless(side.label, 80)} is inconclusive")
                lines["warning"].append(f"::warning title={title}::{message(harmless(trouble, 600))}")
    left = [
        counted(len(found) - MOST_OF_A_KIND, level)
        for level, found in lines.items()
        if len(found) > MOST_OF_A_KIND
    ]
    # GitHub shows ten of a kind and drops the rest: the tenth notice counts them.
    more = [f"::notice title=Sixfold::{' and '.join(left)} more: see the job summary"] if left else []
    notices = lines["notice"][: MOST_OF_A_KIND - len(more)]
    shown = [*lines["error"][:MOST_OF_A_KIND], *lines["warning"][:MOST_OF_A_KIND], *notices, *more]
    return "".join(f"{line}\n" for line in shown)


def _command(level: str, difference: Difference, result: ComparisonResult) -> str:
    target = result.target_of(difference)
    path = target_file(target)
    place = "" if path is None else f"file={property_value(path.removeprefix('./'))},"
    kind = heading(difference, result).lower()
    code = f" {difference.code}" if difference.code else ""
    title = property_value(f"{result.id_of(difference)} {kind}{code} {harmless(target, 60)}")
    detail = f": {harmless(difference.detail, 500)}" if difference.detail else ""
    return f"::{level} {place}title={title}::{message(title_of(difference) + detail)}"
