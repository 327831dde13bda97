"""A finding as an issue text in Markdown, ready to be pasted into a tracker.

All text of candidates and models stands in code spans and fenced blocks, where trackers neither render,
link nor notify.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import fields, is_dataclass
from difflib import SequenceMatcher
from typing import Any

from ..harness.faults import PACKAGES
from ..harness.findings import Finding
from ..harness.harmless import harmless
from ..harness.history import Fold, Requested
from ..harness.invariants.registry import INVARIANTS
from ..harness.rules import rule_by_code
from ..harness.scenario import SCHEMA_VERSION, Scenario
from ..harness.views import View, Views
from .concerned import offending
from .explanations import EXPLANATIONS
from .picture import box, timeline
from .standalone import NoFile, promise
from .stored_run import StoredRun

_TEXT = 60

#: How an agent without middleware is told to people who do not know Sixfold.
_CONTROL = "the agent without middleware"

_LEGEND = (
    "`u1` is what the user says in turn 1, `a1` the model's last answer there, `a1.1` its first one with "
    "tool calls, `t1.1.0` the first result of these."
)


def code_span(text: str, limit: int = 200) -> str:
    """Return `text` as an inline code span that its own back-ticks cannot end."""
    clean = harmless(text, limit).replace("`", "ˋ").strip() or " "
    return f"`{clean}`"


def fenced(lines: list[str], language: str = "") -> str:
    """Return `lines` as a fenced block that no line can end."""
    longest = max((len(run) for line in lines for run in _runs_of_backticks(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def _runs_of_backticks(text: str) -> list[str]:
    return [part for part in "".join(c if c == "`" else " " for c in text).split(" ") if part]


def files(run: StoredRun) -> dict[str, str]:
    """Return an issue text for each finding."""
    return {f"{finding.id}.md": render(finding, run) for finding in run.findings}


def render(finding: Finding, run: StoredRun) -> str:
    """Return the issue text of one finding."""
    signature = finding.signature
    rule = rule_by_code(signature.code)
    title = "see the documentation" if rule is None else rule.title
    parts = [f"# {finding.id}: {code_span(signature.candidate)} {signature.code}, {title}"]
    if rule is not None:
        number = rule.invariant
        parts.append(
            f"{rule.why} Invariant {number}: *{INVARIANTS[number]}*. "
            f"Here{_at(signature.by)}: {code_span(finding.detail, 300)}."
        )
    before, after = _before_and_after(finding)
    if before or after:
        parts += ["## What happens", fenced(_difference(finding, before, after), "diff")]
    drawn = [f"{who}: {what}".rstrip(": ") for who, what, _ in timeline(finding.history)]
    parts += ["## The history", fenced(drawn, "text"), _LEGEND, _needs(finding)]
    parts += ["## How sure", *_how_sure(finding, disagreed=signature.candidate in run.disagreed)]
    if signature.code in EXPLANATIONS:
        parts += ["## What helps", EXPLANATIONS[signature.code].avoid]
    parts += ["## To reproduce", *_reproduce(finding, run)]
    return "\n\n".join(parts) + "\n"


def _at(by: str) -> str:
    """Return where it shows, when that is a hook."""
    hook = by.partition(", ")[0]
    return f", at {code_span(hook)}" if "." in hook else ""


def _row(view: View) -> str:
    text = harmless(view.text, _TEXT)
    return f"{box(view)}  {view.role}: {text}".rstrip()


def _difference(finding: Finding, before: Views, after: Views) -> list[str]:
    """Return the two message lists as one: what left, what came, and an arrow at what is wrong."""
    old, new = [_row(view) for view in before], [_row(view) for view in after]
    here = f"  ← {finding.signature.code}"
    wrong_before, wrong_after = offending(finding, before, after)
    lines: list[str] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            wrong = {place - c + a for place in wrong_after} | wrong_before
            lines += [f"  {old[n]}{here * (n in wrong)}" for n in range(a, b)]
            continue
        lines += [f"- {old[n]}{here * (n in wrong_before)}" for n in range(a, b)]
        lines += [f"+ {new[n]}{here * (n in wrong_after)}" for n in range(c, d)]
    return lines


def _before_and_after(finding: Finding) -> tuple[Views, Views]:
    """Return what a reader compares: the state when the turn began, and what the record shows.

    What was there only in between, and is gone again, is compared with the last state that had it.
    """
    records = finding.history.records
    shows = records[finding.record] if finding.record < len(records) else None
    if not isinstance(shows, (Fold, Requested)):
        return (), ()
    before: Views = ()
    for record in records[: finding.record]:
        if isinstance(record, Fold) and (record.by == "user" or isinstance(shows, Fold)):
            before = record.state
    after = shows.state if isinstance(shows, Fold) else shows.messages
    if not any(offending(finding, before, after)):
        held = [r.state for r in records[: finding.record] if isinstance(r, Fold)]
        before = next((state for state in reversed(held) if any(offending(finding, state, after))), before)
    return before, after


def _needs(finding: Finding) -> str:
    faults = [f"{kind} ({PACKAGES[kind].meaning})" for kind in finding.signature.faults]
    needs = f"Needs {'the fault ' + ', '.join(faults) if faults else 'no fault'}"
    if finding.members:
        needs += f", and of the stack only {', '.join(map(code_span, finding.members))}"
    size = " The history is minimal: without any one of its steps the check passes."
    return f"{needs}.{size * finding.minimal}"


def _how_sure(finding: Finding, *, disagreed: bool) -> list[str]:
    why = "the lanes disagree on the candidate" if disagreed else "two replays of the same history differ"
    confirmed = {
        True: "Confirmed in the real `create_agent` graph with a checkpointer.",
        False: "Not confirmed in the real `create_agent` graph.",
        None: f"Inconclusive: {why}.",
    }[finding.confirmed]
    held = ", ".join(_CONTROL if name == "control" else code_span(name) for name in finding.held_by)
    providers = [f"Providers: {', '.join(code_span(str(a), 300) for a in finding.providers)}."]
    return (providers if finding.providers else []) + [
        f"{confirmed} On the same history {held or 'no other candidate'} "
        f"{'hold' if len(finding.held_by) > 1 else 'holds'}. "
        f"First seen in generated history {finding.histories}."
    ]


def _short_json(scenario: Scenario) -> list[str]:
    """Return the scenario as JSON, a line for each step, without what a step has by default."""
    steps = [json.dumps(_told(step), ensure_ascii=False) for step in scenario.steps]
    body = [f"  {step}," for step in steps[:-1]] + [f"  {step}" for step in steps[-1:]]
    return [f'{{"sixfold_scenario": {SCHEMA_VERSION}, "steps": [', *body, "]}"]


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_told(item) for item in value]
    if not is_dataclass(value):
        return value
    told = {}
    for field in fields(value):
        own = getattr(value, field.name)
        if field.name == "kind" or own != field.default:
            told[field.name] = _told(own)
    return told


def _standalone(finding: Finding, run: StoredRun) -> list[str]:
    """Return the stand-alone file of the finding, folded away, or why there is none."""
    file = promise(finding, run)
    if isinstance(file, NoFile):
        return [f"There is no stand-alone test: {code_span(file.reason, 300)}."]
    needs = " and Sixfold, with which the target is made" if file.needs_sixfold else ""
    return [
        "A stand-alone test has failed with the assertion at its end in a fresh process. "
        f"It needs pytest, LangChain, LangGraph and the target{needs}.",
        f"<details><summary>{file.name}</summary>",
        fenced(file.text.splitlines(), "python"),
        "</details>",
    ]


def _reproduce(finding: Finding, run: StoredRun) -> list[str]:
    target = run.targets.get(finding.signature.candidate, finding.signature.candidate)
    versions = ", ".join(
        code_span(f"{name} {number}", 80)
        for name, number in sorted(run.versions.items())
        if number != "not installed"
    )
    return [
        *_standalone(finding, run),
        f"With Sixfold, step by step: save the scenario as `{finding.id}.json`, then",
        fenced([f"sixfold replay {finding.id}.json {shlex.quote(harmless(target, 400))}"], "sh"),
        "<details><summary>the scenario</summary>",
        fenced(_short_json(finding.scenario), "json"),
        "</details>",
        f"Seen with {versions}; seed {run.seed}. Source: "
        f"{code_span(run.sources.get(finding.signature.candidate, 'unknown'))}.",
    ]
