"""docs/systems.md is what `make systems` measures: every link still shows its check, and nothing is missing.

After a change on purpose, measure anew (some minutes), read the difference, and look at each new finding by
hand (tests/reviewed_systems.py) before you keep it:

    make systems && git diff docs
"""

import re

import pytest

from sixfold.harness.on_wire import WIRE_ONLY
from sixfold.harness.scenario import load
from sixfold.models.catalogue import CATALOGUE, flaws
from sixfold.models.flaws import Flaw

from .claims import CLAIMS
from .helpers import codes, serialisers_for, violations
from .reviewed_systems import REVIEWED
from .short import short
from .systems.files import FOLDER, file_of, small_json
from .systems.measured import ABSENT, HISTORIES, PRESENT, show
from .systems.page import CLAIM_COLUMNS, COLUMNS, FILE, FLAW_COLUMNS, HEAD, UNREVIEWED, flaw_row, page
from .systems.regenerated import regenerated

WRITTEN = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
LINKED = sorted(FOLDER.glob("*.json"))
FLAWS = tuple(flaws())

# Histories that each system plays again in each run of the suite.
QUICK = 60


def cells(columns: tuple[str, ...]) -> list[list[str]]:
    """Return the cells of the table with this head, a list a row."""
    lines = iter(WRITTEN.splitlines())
    for line in lines:
        if line == f"| {' | '.join(columns)} |":
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("| "):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def section(name: str) -> str:
    return WRITTEN.partition(f"\n### {name}\n")[2].partition("\n##")[0]


def said_of(name: str) -> dict[str, str]:
    """Return the lines of what a system violates, by code."""
    found = re.finditer(r"^- \[`(.+?)`\]\(systems/(.+?)\), in .+$", section(name), re.MULTILINE)
    return {match[1]: match[0] for match in found}


def waived_by(name: str) -> set[str]:
    line = next((line for line in section(name).splitlines() if line.startswith("Waived: ")), "")
    return set(re.findall(r"`(.+?)`", line))


@pytest.mark.parametrize("file", LINKED, ids=lambda file: file.stem)
def test_linked_scenario_still_shows_its_check(file: object) -> None:
    [(name, code)] = [(n, c) for n in PRESENT for c in said_of(n) if file_of(n, c) == file]
    scenario = load(file_of(name, code))
    assert f": {short(scenario)}. " in said_of(name)[code]
    with serialisers_for(code):
        assert code in codes(CATALOGUE[name](), scenario, comparing=True)


def test_every_link_has_its_file_and_every_file_its_link() -> None:
    assert sorted(file_of(name, code) for name in PRESENT for code in said_of(name)) == LINKED
    assert all(file.read_text(encoding="utf-8") == small_json(load(file)) for file in LINKED)


def test_every_system_of_the_catalogue_was_measured() -> None:
    rows = cells(COLUMNS)
    assert WRITTEN.startswith(HEAD)
    assert [row[0] for row in rows] == [f"`{name}`" for name in ("control", *PRESENT)]
    assert len({row[1] for row in rows}) == 1
    absent = [line for line in WRITTEN.splitlines() if line.startswith("Not in the catalogue")]
    assert re.findall(r"`(.+?)`", "".join(absent)) == list(ABSENT)


@pytest.mark.parametrize("name", PRESENT)
def test_verdicts_say_what_the_section_says(name: str) -> None:
    verdicts = next(row for row in cells(COLUMNS) if row[0] == f"`{name}`")[2:8]
    violated = {code[0] for code in said_of(name)}
    waived = {code[0] for code in waived_by(name)} - violated
    assert {str(i) for i, verdict in enumerate(verdicts, 1) if verdict == "violated"} == violated
    assert {str(i) for i, verdict in enumerate(verdicts, 1) if verdict == "waived"} == waived


@pytest.mark.parametrize("name", PRESENT)
def test_a_few_histories_show_nothing_that_the_page_does_not_say(name: str) -> None:
    seen = violations(CATALOGUE[name](), histories=QUICK)
    assert set(seen) <= set(said_of(name))


def test_every_finding_was_looked_at() -> None:
    assert UNREVIEWED not in WRITTEN
    measured = {(name, code) for name in PRESENT for code in said_of(name)}
    assert {key for key in REVIEWED if key[0] in PRESENT} == measured
    for (name, code), words in REVIEWED.items():
        assert name not in PRESENT or words in said_of(name)[code]


def test_every_claim_on_a_measured_system_has_its_row() -> None:
    expected = [(f"`{claim.system}`", claim.claim) for claim in CLAIMS if claim.system in PRESENT]
    assert [(row[0], row[1]) for row in cells(CLAIM_COLUMNS)] == expected


def test_every_flaw_has_its_row_with_origin_and_codes() -> None:
    rows = cells(FLAW_COLUMNS)
    assert [row[0] for row in rows] == [f"`{flaw.candidate.name}`" for flaw in FLAWS]
    for row, flaw in zip(rows, FLAWS, strict=True):
        assert row[1:3] == [f"`{flaw.correct.name}`", flaw.origin]
        assert sorted(re.findall(r"`(\d\..+?)`", row[3])) == sorted(flaw.codes)


@pytest.mark.parametrize("flaw", FLAWS[:1], ids=lambda flaw: flaw.candidate.name)
def test_scenarios_of_a_flaw_are_current(flaw: Flaw) -> None:
    assert flaw_row(flaw, show(flaw)) in WRITTEN


@pytest.mark.slow
def test_page_is_current() -> None:
    assert {row[1] for row in cells(COLUMNS)} == {f"{HISTORIES:,}"}
    with serialisers_for(WIRE_ONLY):
        systems, shown = regenerated()
    assert page(systems, shown) == WRITTEN
    texts = {file_of(m.name, s.code): small_json(s.scenario) for m in systems for s in m.shown}
    assert {file: file.read_text(encoding="utf-8") for file in LINKED} == texts
