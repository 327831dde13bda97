"""Every item of the table of steps is drawn, or said not to be; docs/steps.md is that list.

After a change on purpose, write the file anew:

    SIXFOLD_UPDATE_DOCS=1 .venv/bin/pytest -n0 tests/strategies/test_vocabulary.py
"""

import functools
import os
from pathlib import Path

from sixfold.harness.steps import Step

from ..helpers import explored
from .vocabulary import DRAWN, NOT_DRAWN, ROWS

FILE = Path(__file__).resolve().parents[2] / "docs" / "steps.md"
UPDATING = bool(os.environ.get("SIXFOLD_UPDATE_DOCS"))
ENOUGH = 2_500

HEAD = f"""# The steps

What a scenario can be made of, item by item. *How* names the step or field of the scenario file. Everything
listed as drawn is found among {ENOUGH:,} generated scenarios by a test; what is odd is drawn seldom, so that
the usual failures are found as soon as without it.

A candidate whose contract says that something lies outside of its world does not meet it. Words in odd forms
carry their token as others do. Calls that the scenario itself leaves unanswered, or answers twice, are no
candidate's fault, unless it promises to repair them.
"""


@functools.cache
def steps() -> frozenset[Step]:
    return frozenset(step for scenario in explored(ENOUGH) for step in scenario.steps)


def text() -> str:
    drawn = "\n".join(f"| {item.row} | {item.what} | {item.how} |" for item in DRAWN)
    missing = "\n".join(f"| {item.row} | {item.what} | {item.why} |" for item in NOT_DRAWN)
    return (
        f"{HEAD}\n## Drawn\n\n| step | what | how |\n|---|---|---|\n{drawn}\n\n"
        f"## Not drawn\n\n| step | what | why |\n|---|---|---|\n{missing}\n"
    )


def test_every_item_is_drawn() -> None:
    # One test for all: two processes that share the items would draw the same scenarios twice.
    assert [f"{item.row}: {item.what}" for item in DRAWN if not any(map(item.seen, steps()))] == []


def test_no_item_is_listed_twice() -> None:
    names = [(item.row, item.what) for item in (*DRAWN, *NOT_DRAWN)]
    assert len(names) == len(set(names))
    assert {item.row for item in NOT_DRAWN} <= set(ROWS)


def test_document_is_current() -> None:
    if UPDATING:
        FILE.write_text(text(), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text()
