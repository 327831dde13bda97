"""GitHub Actions: workflow commands that become annotations, and a job summary in Markdown.

Escaping is that of the runner's own toolkit: `%`, CR and LF in messages, colons and commas in properties,
too. GitHub shows ten annotations of a kind for a step and drops the rest without a word; so ten are written,
and a notice counts the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..harness.findings import Finding
from ..harness.harmless import harmless
from ..harness.invariants.registry import INVARIANTS
from .findings_in_words import counted, doubts, is_confirmed, replay_of, sentence, target_file
from .markdown import code_span
from .stored_run import StoredCandidate, StoredRun

ANNOTATIONS = "github-annotations.txt"
SUMMARY = "github-summary.md"

#: Annotations of a kind that GitHub shows for a step.
MOST_OF_A_KIND = 10

#: Rows of a table; a summary may have a megabyte, and people read a page.
_MOST_ROWS = 100


def files(run: StoredRun) -> dict[str, str]:
    """Return the annotations, one a line as the runner reads them, and the job summary."""
    return {ANNOTATIONS: "".join(f"{line}\n" for line in commands(run)), SUMMARY: summary(run)}


def message(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def property_value(text: str) -> str:
    """Escape the value of a property of a workflow command."""
    return message(text).replace(":", "%3A").replace(",", "%2C")


def commands(run: StoredRun) -> list[str]:
    """Return the workflow commands: findings as errors, what is inconclusive as warnings."""
    errors = [_of_finding("error", f, run) for f in run.findings if f.confirmed is not None]
    warnings = [_of_finding("warning", f, run) for f in run.findings if f.confirmed is None]
    warnings += [_of_doubt(candidate, why) for candidate in run.candidates for why in _doubts(candidate)]
    left = [
        counted(len(lines) - MOST_OF_A_KIND, kind)
        for kind, lines in (("error", errors), ("warning", warnings))
        if len(lines) > MOST_OF_A_KIND
    ]
    notice = [f"::notice title=Sixfold::{' and '.join(left)} more: see the job summary"] if left else []
    return [*errors[:MOST_OF_A_KIND], *warnings[:MOST_OF_A_KIND], *notice]


def _of_finding(kind: str, finding: Finding, run: StoredRun) -> str:
    signature = finding.signature
    path = target_file(run.targets.get(signature.candidate, signature.candidate))
    place = "" if path is None else f"file={property_value(path.removeprefix('./'))},"
    title = property_value(f"{finding.id} {harmless(signature.code, 60)} {harmless(signature.candidate, 60)}")
    where = "where the run was started, RUN being its folder"
    told = f"{sentence(finding)}\n{is_confirmed(finding)}\n{where}: {replay_of(finding, run)}"
    return f"::{kind} {place}title={title}::{message(told)}"


def _of_doubt(candidate: StoredCandidate, why: str) -> str:
    title = property_value(f"Sixfold: {harmless(candidate.name, 60)} is inconclusive")
    return f"::warning title={title}::{message(why)}"


def _doubts(candidate: StoredCandidate) -> Iterable[str]:
    return dict.fromkeys(why for number in candidate.verdicts for why in doubts(candidate, number))


def summary(run: StoredRun) -> str:
    """Return the job summary. All text of candidates stands in code spans."""
    played = counted(run.histories, "history", "histories")
    parts = [f"## Sixfold: {counted(len(run.findings), 'finding')} in {played}"]
    parts.append("\n".join(_matrix(run)))
    if run.findings:
        parts.append("\n".join(_findings(run)))
    doubtful = [
        f"- {code_span(candidate.name, 60)} is inconclusive: {code_span(why, 300)}"
        for candidate in run.candidates
        for why in _doubts(candidate)
    ]
    if doubtful:
        parts.append("\n".join(_at_most(doubtful, "- {}")))
    versions = ", ".join(code_span(f"{name} {version}", 80) for name, version in sorted(run.versions.items()))
    end = "" if run.complete else ", stopped by the time budget"
    parts.append(f"Seed {run.seed}{end}. Versions: {versions}." if versions else f"Seed {run.seed}{end}.")
    return "\n\n".join(parts) + "\n"


def _cell(text: str, limit: int = 200) -> str:
    """Return a code span that ends neither itself nor the cell of a table.

    Bars are replaced, not escaped: a backslash of the text would escape the one in front of the bar.
    """
    return code_span(text, limit).replace("|", "¦")


def _matrix(run: StoredRun) -> list[str]:
    judged = sorted({number for candidate in run.candidates for number in candidate.verdicts})
    heads = [f"{number} {INVARIANTS.get(number, '')}".strip() for number in judged]
    rows = [
        f"| {_cell(candidate.name, 60)} | "
        + " | ".join(_verdict(candidate, number) for number in judged)
        + " |"
        for candidate in run.candidates
    ]
    return [f"| candidate | {' | '.join(heads)} |", f"|---{'|---' * len(judged)}|", *_at_most(rows, "| {} |")]


def _verdict(candidate: StoredCandidate, number: int) -> str:
    verdict = candidate.verdicts.get(number)
    if verdict is None:
        return "-"
    return f"**{verdict}**" if verdict == "violated" else str(verdict)


def _findings(run: StoredRun) -> list[str]:
    rows = [
        f"| {f.id} | {_cell(f.signature.code, 60)} | {_cell(f.signature.candidate, 60)} | "
        f"{_cell(sentence(f), 300)} | {_cell(is_confirmed(f))} |"
        for f in run.findings
    ]
    return ["| finding | check | candidate | what | how sure |", f"|{'---|' * 5}", *_at_most(rows, "| {} |")]


def _at_most(rows: list[str], form: str) -> list[str]:
    left = len(rows) - _MOST_ROWS
    return rows if left <= 0 else [*rows[:_MOST_ROWS], form.format(f"and {left} more")]
