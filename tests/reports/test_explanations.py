"""Every check is explained, and the reference page is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from sixfold.harness.rules import RULES
from sixfold.reports.explanations import EXPLANATIONS, explain, reference

PAGE = Path(__file__).parents[2] / "docs" / "faults-and-invariants.md"


def test_every_check_has_an_explanation_and_nothing_else_has() -> None:
    assert set(EXPLANATIONS) == {check.code for check in RULES}


@pytest.mark.parametrize("check", RULES, ids=lambda check: check.code)
def test_explanation_is_complete(check) -> None:
    text = explain(check)
    assert text.startswith(f"{check.code}: {check.title}")
    for part in ("judged", "why", "picture", "way out", "public bugs"):
        line = next(line for line in text.splitlines() if line.startswith(part))
        assert line.removeprefix(part).strip()


def test_reference_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference()
