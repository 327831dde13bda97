"""docs/checks.md is what the tests measured, line by line.

After a change on purpose, write the file anew and read the difference before you keep it:

    SIXFOLD_UPDATE_DOCS=1 .venv/bin/pytest -n0 tests/test_docs_table.py && git diff docs/checks.md
"""

import os
from pathlib import Path

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Options
from sixfold.harness.invariants.registry import INVARIANTS
from sixfold.harness.rules import LANES, RULES, rule_by_code
from sixfold.harness.scenario import Scenario

from .flaws import lanes
from .helpers import (
    SIBLING_HISTORIES,
    explore,
    explored,
    find_scenario,
    first_found,
    serialisers_for,
    violations,
)
from .planted import ALSO_PLANTED, PLANTED, Planted
from .short import short

FILE = Path(__file__).resolve().parents[1] / "docs" / "checks.md"
UPDATING = bool(os.environ.get("SIXFOLD_UPDATE_DOCS"))

HEAD = f"""# The checks

What each check finds, shown on the smallest middleware that has the flaw. The table is written by a test
run: the minimal scenario is what the search finds and shrinks, *found after* the number of generated
histories until the first that shows it (seed 0, default settings), and *without the flaw* what the same
middleware without its flaw is blamed for in {SIBLING_HISTORIES} histories under all faults.

`3.head-dependent`, `5.replay-differs`, `6.sync-async` and `6.reducers` compare two plays of one scenario, and
`4.rejected-request` plays it again; a run does so for every fifth history. The flaw of `6.lanes` is in
Sixfold itself: the candidate becomes inconclusive, and the run ends where control shows it, too.
"""

COLUMNS = "| check | what goes wrong | planted flaw | minimal scenario | found after | without the flaw |"


def rows() -> list[Planted]:
    """Return the flaws in the order of their rules; that of the lanes has a row of its own."""
    flaws = [*PLANTED.values(), *ALSO_PLANTED.values()]
    return [item for rule in RULES for item in flaws if item.code == rule.code]


def flaw_of(described: object) -> str:
    what, _, flaw = " ".join((described.__doc__ or "").split()).partition(" Flaw: ")
    return f"{what} *Flaw:* {flaw}"


def known_cells(item: Planted) -> str:
    """Return the line of a flaw as far as it needs no long measurement."""
    rule = rule_by_code(item.code)
    assert rule is not None
    with serialisers_for(item.code):
        found = first_found(item.flawed, item.code)
    return f"| `{item.code}` | {rule.title} | {flaw_of(item.cls)} | {short(item.minimum)} | {found} |"


def blamed(item: Planted) -> str:
    with serialisers_for(item.code):
        seen = violations(item.correct, histories=SIBLING_HISTORIES, comparing=item.comparing)
    return ", ".join(f"`{each}`" for each in sorted(seen)) or "nothing"


def known_cells_of_lanes() -> str:
    """Return the line of the lanes, of which one is given a flaw."""
    tried: list[Scenario] = []
    with lanes.drops_a_write():
        find_scenario(lambda s: tried.append(s) or lanes.lanes_differ(s), seed=0, candidate=lanes.CANDIDATE)
    flaw = flaw_of(lanes.drops_a_write)
    return f"| `{LANES.code}` | {LANES.title} | {flaw} | {short(lanes.MINIMUM)} | {len(tried)} |"


def lanes_blamed() -> str:
    differing = filter(lanes.lanes_differ, explored(SIBLING_HISTORIES, candidate=lanes.CANDIDATE))
    return ", ".join(map(short, differing)) or "nothing"


def table() -> str:
    parts = [HEAD]
    for number, title in INVARIANTS.items():
        lines = [f"{known_cells(item)} {blamed(item)} |" for item in rows() if item.code[0] == str(number)]
        if number == LANES.invariant:
            lines.append(f"{known_cells_of_lanes()} {lanes_blamed()} |")
        parts.append(f"\n## {number}. {title}\n\n{COLUMNS}\n{'|---' * 6}|\n" + "\n".join(lines) + "\n")
    return "".join(parts)


@pytest.fixture(scope="module")
def written() -> str:
    if UPDATING:
        FILE.write_text(table(), encoding="utf-8")
    return FILE.read_text(encoding="utf-8")


def written_rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| `")]


def test_table_has_every_flaw_once(written: str) -> None:
    assert written.startswith(HEAD)
    expected = [*(item.code for item in rows()), LANES.code]
    assert [line.split("`")[1] for line in written_rows(written)] == expected
    assert set(expected) == {rule.code for rule in RULES}


# What a sibling is blamed for takes longer: see the last test, and the tests of the siblings.
def known_part(row: str) -> str:
    return row.rpartition(" | ")[0] + " |"


@pytest.mark.parametrize("item", rows(), ids=lambda item: f"{item.code}-{item.cls.__name__}")
def test_row_is_current(written: str, item: Planted) -> None:
    assert known_cells(item) in map(known_part, written_rows(written))


def test_row_of_the_lanes_is_current(written: str) -> None:
    assert known_part(written_rows(written)[-1]) == known_cells_of_lanes()


@pytest.mark.parametrize("code", ["1.state-in-history", "5.thrash", "6.reducers"])
def test_a_campaign_counts_the_same(code: str) -> None:
    found = first_found(PLANTED[code].flawed, code)
    result = Campaign([PLANTED[code].flawed], Options(max_histories=max(found, 20))).run(explore)
    assert min(f.histories for f in result.findings if f.signature.code == code) == found


@pytest.mark.slow
def test_every_cell_is_current(written: str) -> None:
    assert written == table()
