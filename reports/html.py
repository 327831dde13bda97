"""The run as one HTML page: the matrix, the figures, and each finding with a timeline of its history.

The page needs nothing but itself: no network, no script to be read. A script that is allowed by its hash
filters the findings. Text of candidates and models is escaped by the templates, all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from ..harness.faults import PACKAGES
from ..harness.findings import Finding
from ..harness.history import History
from ..harness.invariants.registry import INVARIANTS
from ..harness.rules import rule_by_code
from ..harness.views import View
from .concerned import concerned
from .explanations import EXPLANATIONS
from .findings_in_words import replay_of
from .html_frames import Frame, Note, frames
from .html_lanes import Lane, lane
from .html_overview import matrix, plots
from .html_page import asset, policy, template
from .html_text import shown
from .picture import timeline
from .stored_run import StoredRun

NAME = "report.html"

#: Messages that are quoted below a timeline, and the characters of each.
_MOST_QUOTED = 40
_QUOTED = 240


class Entry(NamedTuple):
    """A finding as the page shows it; all texts are shown as they are, once escaped."""

    id: str
    code: str
    title: str
    candidate: str
    invariant: int
    status: str
    what: str
    why: str
    facts: tuple[tuple[str, str], ...]
    lanes: tuple[Lane, ...]
    others: int
    words: tuple[str, ...]
    messages: tuple[tuple[str, str, str], ...]
    command: str
    siblings: tuple[str, ...]


def files(run: StoredRun) -> dict[str, str]:
    """Return the page by its name below the run folder's `reports/`. Equal runs give equal text."""
    style, script = asset("report.css"), asset("report.js")
    page = template("report.html.j2").render(
        style=Markup(style),
        script=Markup(script),
        policy=policy(style, script),
        run=run,
        seed=run.seed,
        versions=[f"{shown(name)} {shown(number)}" for name, number in sorted(run.versions.items())],
        matrix=matrix(run),
        plots=plots(run),
        entries=_entries(run),
        candidates=_names(run),
        invariants=INVARIANTS,
    )
    return {NAME: page}


def _names(run: StoredRun) -> list[str]:
    names = [candidate.name for candidate in run.candidates]
    names += [finding.signature.candidate for finding in run.findings]
    return [shown(name, 80) for name in dict.fromkeys(names)]


def _entries(run: StoredRun) -> list[Entry]:
    same: dict[tuple[str, str], list[str]] = {}
    for finding in run.findings:
        same.setdefault(_origin(finding), []).append(finding.id)
    return [_entry(finding, run, same[_origin(finding)]) for finding in run.findings]


def _origin(finding: Finding) -> tuple[str, str]:
    return finding.signature.candidate, finding.scenario.digest()


def _entry(finding: Finding, run: StoredRun, same: Sequence[str]) -> Entry:
    signature = finding.signature
    rule = rule_by_code(signature.code)
    title = "see the documentation" if rule is None else rule.title
    return Entry(
        finding.id,
        shown(signature.code, 60),
        title,
        shown(signature.candidate, 80),
        0 if rule is None else rule.invariant,
        {True: "confirmed", False: "not confirmed", None: "inconclusive"}[finding.confirmed],
        f"{title[:1].upper()}{title[1:]}: {shown(finding.detail, 300).rstrip('.')}.",
        "" if rule is None else rule.why,
        tuple(_facts(finding, run)),
        tuple(_lanes(finding, run)),
        len(run.beside.get(finding.id, ())),
        tuple(shown(f"{who}: {what}".rstrip(": "), 2_000) for who, what, _ in timeline(finding.history)),
        tuple(_messages(finding.history)),
        replay_of(finding, run, shown),
        tuple(other for other in same if other != finding.id),
    )


def _facts(finding: Finding, run: StoredRun) -> list[tuple[str, str]]:
    signature = finding.signature
    faults = "; ".join(f"{kind}: {PACKAGES[kind].meaning}" for kind in signature.faults)
    steps = len(finding.scenario.steps)
    size = f"{steps} step{'s' * (steps != 1)}"
    facts = [
        ("Fault needed", faults or "none"),
        ("Real graph", _confirmation(finding, run)),
        (
            "Holds on the same history",
            ", ".join(shown(n, 80) for n in finding.held_by) or "no other candidate",
        ),
        ("Shows at", shown(signature.by, 120)),
        ("First seen", f"in history {finding.histories} of {run.histories or 'an unknown number'}"),
        (
            "Size",
            size
            + (", and without any one of them it passes" if finding.minimal else ", not shown to be minimal"),
        ),
    ]
    if finding.members:
        facts.append(("Needs of the stack only", ", ".join(shown(name, 80) for name in finding.members)))
    if finding.providers:
        facts.append(("Providers", "; ".join(shown(str(answer), 300) for answer in finding.providers)))
    if signature.code in EXPLANATIONS:
        facts.append(("What helps", EXPLANATIONS[signature.code].avoid))
    return facts


def _confirmation(finding: Finding, run: StoredRun) -> str:
    if finding.confirmed is None:
        doubted = finding.signature.candidate in run.disagreed
        why = "the lanes disagree on the candidate" if doubted else "two replays of the same history differ"
        return f"inconclusive: {why}"
    return (
        "confirmed in create_agent with a checkpointer"
        if finding.confirmed
        else "not confirmed in create_agent"
    )


def _lanes(finding: Finding, run: StoredRun) -> list[Lane]:
    code = shown(finding.signature.code, 60)
    offence = {finding.record: f"{code}: {shown(finding.detail, 300)}"}
    violating = frames(finding.history, offence, concerned(finding))
    lanes = [lane(shown(finding.signature.candidate, 80), f"violates {code}", violating)]
    alike: dict[tuple[str, tuple[Frame | Note, ...]], list[str]] = {}
    for history in run.beside.get(finding.id, ()):
        verdict = "holds" if history.candidate in finding.held_by else "does not hold"
        # Hooks that did nothing leave records, too: equal pictures need not have equal numbers.
        drawn = tuple(item._replace(record=0) for item in frames(history))
        alike.setdefault((verdict, drawn), []).append(shown(history.candidate, 80))
    return lanes + [lane(", ".join(names), verdict, drawn) for (verdict, drawn), names in alike.items()]


def _messages(history: History) -> list[tuple[str, str, str]]:
    """Return each message of the history once, in order of appearance: label, role, text."""
    seen: dict[View, None] = {}
    for record in history.records:
        for view in (*getattr(record, "state", ()), *getattr(record, "messages", ())):
            seen.setdefault(view)
    return [
        (shown(view.label(), 60), view.role, shown(view.text, _QUOTED)) for view in list(seen)[:_MOST_QUOTED]
    ]
