"""docs/systems.md, written from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from sixfold.harness.invariants.registry import INVARIANTS
from sixfold.models.catalogue import CATALOGUE, flaws
from sixfold.models.flaws import Flaw

from ..claims import CLAIMS, Claim
from ..reviewed_systems import REVIEWED
from ..short import short
from .files import DOCS, file_of
from .measured import ABSENT, FlawShown, Measured, Shown

FILE = DOCS / "systems.md"
UNREVIEWED = "NOT LOOKED AT"

HEAD = """# Reviewed systems, measured

Re-creations of what real systems do with their history, each in a campaign of its own: so many histories as
the table says, seed 0, default settings, with all faults that the system can suffer, and the providers'
serialisers. `make systems` writes this page and the scenarios that it links to. Systems that are not written
for LangGraph are judged on what their rules do under its reducer. The rules and their sources stand at the
top of each file in `models/`.

*Violated* is said of what the real `create_agent` graph shows, too. *Waived* is what a system does on purpose
and declares. Prefix reuse is the share of a request that the previous one sent already; tokens are those of
all requests of a turn, and summaries calls of the summarising model, both for each turn, on every fifth
history. The systems have different thresholds, scaled down for short histories: compare a system with itself.
"""

COLUMNS = ("system", "histories", *map(str, INVARIANTS), "prefix reuse", "tokens", "summaries")
CLAIM_COLUMNS = ("system", "claim", "checks that would contradict it", "measured")
FLAW_COLUMNS = ("flaw", "without it", "origin", "shows as, in the smallest scenario")


def _head(columns: Sequence[str]) -> str:
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"


def row(measured: Measured) -> str:
    """Return the line of a system in the first table."""
    figures = measured.figures
    reuse = "-" if figures.prefix_reuse is None else f"{figures.prefix_reuse:.0%}"
    costs = f"{reuse} | {figures.tokens_per_turn or 0:.0f} | {figures.summaries_per_turn or 0:.2f}"
    verdicts = " | ".join(measured.verdicts)
    return f"| `{measured.name}` | {measured.histories:,} | {verdicts} | {costs} |"


def link(name: str, code: str) -> str:
    """Return the link to the minimal scenario of a check that a system violates."""
    return f"[`{code}`](systems/{file_of(name, code).name})"


def line(name: str, shown: Shown) -> str:
    """Return what the page says of a check that a system violates."""
    words = REVIEWED.get((name, shown.code), UNREVIEWED)
    doubt = "" if shown.confirmed else " Inconclusive: the real graph does not show it."
    seen = f"in {shown.histories:,} histories: {short(shown.scenario)}"
    return f"- {link(name, shown.code)}, {seen}. {words}{doubt}"


def section(measured: Measured) -> str:
    """Return the section of a system."""
    parts = [f"\n### {measured.name}\n\n{CATALOGUE[measured.name]().source}.\n\n"]
    if measured.waived:
        waived = ", ".join(f"`{code}` (in {count:,} histories)" for code, count in measured.waived)
        parts.append(f"Waived: {waived}.\n\n")
    parts += [f"{line(measured.name, shown)}\n" for shown in measured.shown]
    if not measured.shown:
        parts.append("Nothing is violated.\n")
    return "".join(parts)


def claim_row(claim: Claim, measured: Measured) -> str:
    """Return the line of a claim; a check that is waived contradicts it as well as a violated one."""
    seen = measured.contradicting(claim.codes)
    violated = {shown.code for shown in measured.shown}
    told = [link(claim.system, c) if c in violated else f"`{c}` (declared)" for c in seen]
    verdict = f"**contradicted**: {', '.join(told)}" if seen else "not contradicted"
    return f"| `{claim.system}` | {claim.claim} | {_codes(claim.codes)} | {verdict} |"


def _codes(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def contradiction(claim: Claim, measured: Measured) -> str:
    """Return what the page says of a claim that measurement contradicts, empty when it does not."""
    seen = measured.contradicting(claim.codes)
    words = [f"{_codes([code])}: {REVIEWED.get((claim.system, code), 'declared')}" for code in seen]
    return f"- The article says of `{claim.system}`: {claim.claim}. {' '.join(words)}\n" if seen else ""


def claims(systems: Sequence[Measured]) -> str:
    """Return the section on the article's claims."""
    by_name = {measured.name: measured for measured in systems}
    known = [(claim, by_name[claim.system]) for claim in CLAIMS if claim.system in by_name]
    rows = "".join(f"{claim_row(*each)}\n" for each in known)
    said = "".join(contradiction(*each) for each in known)
    return (
        "\n## What the article claims\n\nThe claims of the article on the direction of context injection "
        "(sections 3 and 4), and whether any history contradicts them.\n\n"
        f"{_head(CLAIM_COLUMNS)}{rows}\n### Where measurement contradicts the article\n\n"
        f"{said or 'Nowhere.' + chr(10)}"
    )


def flaw_row(flaw: Flaw, shown: FlawShown) -> str:
    """Return the line of a named flaw."""
    told = [(short(scenario), code) for code, scenario in shown.scenarios]
    groups = groupby(sorted(told, key=itemgetter(0)), key=itemgetter(0))
    cell = "; ".join(f"{_codes(sorted(code for _, code in same))}: {plan}" for plan, same in groups)
    return f"| `{flaw.candidate.name}` | `{flaw.correct.name}` | {flaw.origin} | {cell} |"


def page(systems: Sequence[Measured], shown: Sequence[FlawShown]) -> str:
    """Return the page. The first of `systems` is control."""
    parts = [HEAD, f"\n{_head(COLUMNS)}", *(f"{row(measured)}\n" for measured in systems)]
    if ABSENT:
        parts.append(f"\nNot in the catalogue, and not measured: {_codes(ABSENT)}.\n")
    parts.append(
        "\n## What was found\n\nReplay any of them: `sixfold replay docs/systems/FILE.json SYSTEM`.\n"
    )
    parts += [section(measured) for measured in systems[1:]]
    parts.append(claims(systems[1:]))
    parts.append(
        "\n## Named flaws\n\nWhat each design avoids, built into a system that is otherwise as it was. "
        f"Each is found by default settings and shrunk.\n\n{_head(FLAW_COLUMNS)}"
    )
    by_name = {each.name: each for each in shown}
    parts += [f"{flaw_row(flaw, by_name[flaw.candidate.name])}\n" for flaw in flaws()]
    return "".join(parts)
