"""All rules by code: the checks on single histories and the comparisons of several."""

from __future__ import annotations

from .comparisons import COMPARISONS
from .invariants.checks import Rule
from .invariants.registry import CHECKS

#: The lanes must agree on every history that both have played: a candidate on which they do not is
#: inconclusive; when they disagree on control, too, the run ends.
LANES = Rule(
    "6.lanes",
    "the lanes disagree",
    "The fast lane would not tell what the real agent does; no verdict on the candidate could be trusted.",
)

RULES: tuple[Rule, ...] = (*sorted((*CHECKS, *COMPARISONS), key=lambda rule: rule.code[0]), LANES)


def rule_by_code(code: str) -> Rule | None:
    """Return the rule with `code`, None when there is none."""
    return next((rule for rule in RULES if rule.code == code), None)
