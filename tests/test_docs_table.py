"""docs/checks.md is what the tests measured, line by line.

After a change on purpose, write the file anew and read the difference before you keep it:

    SIXFOLD_UPDATE_DOCS=1 .venv/bin/pytest -n0 tests/test_docs_table.py && git diff docs/checks.md
"""

import os
from pathlib import Path

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Options
from sixfold.harness.invariants.registry import CHECKS, INVARIANTS, check_by_code
from sixfold.strategies.scenarios import explore

from .helpers import SIBLING_HISTORIES, first_found, violations
from .planted import PLANTED
from .short import short

FILE = Path(__file__).resolve().parents[1] / "docs" / "checks.md"
UPDATING = bool(os.environ.get("SIXFOLD_UPDATE_DOCS"))

HEAD = f"""# The checks

What each check finds, shown on the smallest middleware that has the flaw. The table is written by a test
run: the minimal scenario is what the search finds and shrinks, *found after* the number of generated
histories until the first that shows it (seed 0, default settings), and *without the flaw* what the same
middleware without its flaw is blamed for in {SIBLING_HISTORIES} histories under all faults.
"""

COLUMNS = "| check | what goes wrong | planted flaw | minimal scenario | found after | without the flaw |"


def flaw_of(code: str) -> str:
    what, _, flaw = " ".join((PLANTED[code].cls.__doc__ or "").split()).partition(" Flaw: ")
    return f"{what} *Flaw:* {flaw}"


def known_cells(code: str) -> str:
    """Return the line of a check as far as it needs no long measurement."""
    check = check_by_code(code)
    assert check is not None
    found = first_found(PLANTED[code].flawed, code)
    return f"| `{code}` | {check.title} | {flaw_of(code)} | {short(PLANTED[code].minimum)} | {found} |"


def blamed(code: str) -> str:
    seen = violations(PLANTED[code].correct, histories=SIBLING_HISTORIES)
    return ", ".join(f"`{each}`" for each in sorted(seen)) or "nothing"


def table() -> str:
    parts = [HEAD]
    for number, title in INVARIANTS.items():
        rows = [check.code for check in CHECKS if check.invariant == number]
        lines = [f"{known_cells(code)} {blamed(code)} |" for code in rows]
        parts.append(f"\n## {number}. {title}\n\n{COLUMNS}\n{'|---' * 6}|\n" + "\n".join(lines) + "\n")
    return "".join(parts)


@pytest.fixture(scope="module")
def written() -> str:
    if UPDATING:
        FILE.write_text(table(), encoding="utf-8")
    return FILE.read_text(encoding="utf-8")


def rows_of(text: str) -> list[str]:
    return [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]


def test_table_has_every_check_once(written: str) -> None:
    assert written.startswith(HEAD)
    assert rows_of(written) == [check.code for check in CHECKS]


@pytest.mark.parametrize("code", PLANTED)
def test_row_is_current(written: str, code: str) -> None:
    [row] = [line for line in written.splitlines() if line.startswith(f"| `{code}` ")]
    # What a sibling is blamed for takes longer: see the last test, and the tests of the siblings.
    assert row.rpartition(" | ")[0] + " |" == known_cells(code)


@pytest.mark.parametrize("code", ["1.state-in-history", "5.thrash"])
def test_a_campaign_counts_the_same(code: str) -> None:
    found = first_found(PLANTED[code].flawed, code)
    result = Campaign([PLANTED[code].flawed], Options(max_histories=max(found, 20))).run(explore)
    assert min(f.histories for f in result.findings if f.signature.code == code) == found


@pytest.mark.slow
def test_every_cell_is_current(written: str) -> None:
    assert written == table()
