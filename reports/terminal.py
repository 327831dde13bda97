"""What a run prints: matrix, reachability, and each finding with its minimal history."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..harness.events import CandidateResult, Disagreement, RunResult
from ..harness.faults import PACKAGES
from ..harness.findings import Finding
from ..harness.harmless import harmless
from ..harness.invariants.registry import INVARIANTS
from ..harness.rules import rule_by_code
from ..harness.steps import UserTurn
from ..harness.verdicts import Verdict
from .findings_in_words import counted
from .labels import cell, labels
from .measured import NAME_WIDTH, measured_table, remarks
from .picture import timeline

_STYLE = {
    Verdict.HOLDS: "green",
    Verdict.WAIVED: "yellow",
    Verdict.INCONCLUSIVE: "magenta",
    Verdict.VIOLATED: "bold red",
}

_SHORT = {Verdict.INCONCLUSIVE: "inconcl."}

_GOALS = ("injection", "compaction", "request edited", "came back after a skip", "summariser call")


def print_result(console: Console, result: RunResult, *, replay: str = "") -> None:
    """Print the outcome of a run. `replay` is the start of the command that replays a scenario; without it
    none is printed.
    """
    called = labels([candidate.name for candidate in result.candidates])
    _print_matrix(console, result, called)
    _print_reached(console, result)
    _print_measured(console, result, called)
    candidates = {candidate.name: candidate for candidate in result.candidates}
    for group in _grouped(result.findings):
        _print_group(console, group, replay, candidates[group[0].signature.candidate], called)
    _print_summary(console, result)


def say(console: Console, text: str | Text, indent: int = 0) -> None:
    """Print `text` as it is, never as markup, with every line indented."""
    if isinstance(text, str):
        text = Text(text)
    for line in text.wrap(console, max(console.width - indent, 1)):
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)


def _print_matrix(console: Console, result: RunResult, called: dict[str, str]) -> None:
    table = Table(title="Candidates × invariants", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("candidate", no_wrap=True)
    judged = sorted({number for candidate in result.candidates for number in candidate.verdicts})
    for number in judged:
        table.add_column(str(number), no_wrap=True)
    for candidate in result.candidates:
        cells = [_verdict(candidate.verdicts[number]) for number in judged]
        table.add_row(Text(cell(called[candidate.name], NAME_WIDTH)), *cells)
    console.print(table)
    console.print()
    for number in judged:
        say(console, Text(f"{number}  {INVARIANTS[number]}", style="dim"))
    for candidate in result.candidates:
        for code, count in candidate.waivers.items():
            name = called[candidate.name]
            say(console, Text(f"waived by the contract of {name}: {code} (histories: {count})", style="dim"))
    console.print()


def _verdict(verdict: Verdict) -> Text:
    return Text(_SHORT.get(verdict, str(verdict)), style=_STYLE[verdict])


def _print_reached(console: Console, result: RunResult) -> None:
    say(console, Text("Reached, in all histories", style="italic"))
    for candidate in result.candidates:
        say(console, f"{harmless(candidate.name, 400)}: {_reached(candidate)}")
        if candidate.remark:
            say(console, harmless(candidate.remark, 600), 2)
        for goal in candidate.unreached:
            warning = f"never reached: {goal}; what needs it is inconclusive"
            say(console, Text(warning, style="magenta"), 2)
        if not candidate.deterministic:
            say(console, Text("not deterministic: two replays of one scenario differ", style="magenta"), 2)
        if candidate.disagreement is not None:
            _print_disagreement(console, candidate.disagreement)
        for warning in candidate.warnings:
            say(console, Text(f"warning: {harmless(warning, 400)}", style="yellow"), 2)
    console.print()


def _print_measured(console: Console, result: RunResult, called: dict[str, str]) -> None:
    console.print(measured_table(result.candidates, called))
    for candidate in result.candidates:
        for remark in remarks(candidate.figures):
            say(console, f"{called[candidate.name]}: {remark}", 2)
    console.print()


def _print_disagreement(console: Console, disagreement: Disagreement) -> None:
    reason = f"inconclusive, {harmless(disagreement.reason, 1200)}"
    say(console, Text(reason, style="magenta"), 2)
    saved = f"they agree on control; the scenario is saved in {disagreement.file}; please report it"
    say(console, Text(saved, style="magenta"), 2)


def _reached(candidate: CandidateResult) -> str:
    reached = candidate.reached
    parts = [f"{by_hook} times" for by_hook in _hooks(candidate)]
    parts += [f"{goal} {reached[goal]}" for goal in _GOALS if reached[goal]]
    faults = [f"{name[6:]} {count}" for name, count in sorted(reached.items()) if name.startswith("fault ")]
    if faults:
        parts.append(f"faults fired: {', '.join(faults)}")
    return "; ".join(parts) or "no hooks"


def _hooks(candidate: CandidateResult) -> Iterable[str]:
    ending = " changed something"
    for name, count in sorted(candidate.reached.items()):
        if name.endswith(ending):
            yield f"{harmless(name.removesuffix(ending), 60)} changed something {count}"


def _grouped(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Put findings of one candidate that share their minimal scenario together."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.signature.candidate, finding.scenario.digest()), []).append(finding)
    return list(groups.values())


def _needs(finding: Finding) -> str:
    turns = sum(isinstance(step, UserTurn) for step in finding.scenario.steps)
    others = len(finding.scenario.steps) - turns
    parts = [f"{turns} user turn{'s' * (turns != 1)}"]
    if others:
        parts.append(f"{others} other step{'s' * (others != 1)}")
    if not finding.signature.faults:
        parts.append("no fault")
    parts += [f"fault {kind}: {PACKAGES[kind].meaning}" for kind in finding.signature.faults]
    return ", ".join(parts)


def _confirmation(finding: Finding, candidate: CandidateResult) -> str:
    if finding.confirmed is None:
        disagreed = candidate.disagreement is not None
        why = "the lanes disagree on the candidate" if disagreed else "the candidate is not deterministic"
        return f"inconclusive: {why}"
    if candidate.remark:
        return "found in the agent's own graph"
    return f"{'' if finding.confirmed else 'NOT '}confirmed in the real create_agent graph"


def _print_group(
    console: Console,
    group: list[Finding],
    replay: str,
    candidate: CandidateResult,
    called: dict[str, str],
) -> None:
    first = group[0]
    for finding in group:
        check = rule_by_code(finding.signature.code)
        code = (finding.signature.code, "bold red")
        name = called[finding.signature.candidate]
        title = check.title if check is not None else "see the documentation"
        say(console, Text.assemble((finding.id, "bold"), " ", code, f" {name}: {title}"))
        if check is not None:
            say(console, Text(check.why, style="dim"), 4)
    size = "1-minimal: without any one step it passes" if first.minimal else "not shown to be minimal"
    say(console, f"needs {_needs(first)} ({size})", 2)
    if first.members:
        say(console, f"needs of the stack only: {', '.join(harmless(m, 60) for m in first.members)}", 2)
    remarks: dict[int, list[Finding]] = {}
    for finding in group:
        remarks.setdefault(finding.record, []).append(finding)
    for who, what, index in timeline(first.history):
        marked = remarks.pop(index, [])
        say(console, Text(f"{who}: {what}" if what else who, style="bold" if marked else ""), 4)
        _print_remarks(console, marked)
    for marked in remarks.values():
        _print_remarks(console, marked)
    held = ", ".join(called.get(name, harmless(name, 60)) for name in first.held_by) or "no other candidate"
    confirmation = _confirmation(first, candidate)
    say(console, f"{confirmation}; holds on the same history: {held}", 2)
    say(console, f"shows at {harmless(first.signature.by, 80)}; first seen in history {first.histories}", 2)
    if replay:
        command = f"  {replay}/scenarios/{first.id}.json", shlex.quote(harmless(candidate.target, 400))
        fits = len(" ".join(command)) <= console.width
        console.print(Text((" " if fits else " \\\n    ").join(command), style="cyan"), soft_wrap=True)
    console.print()


def _print_remarks(console: Console, marked: Iterable[Finding]) -> None:
    for finding in marked:
        note = f"← {finding.signature.code}: {harmless(finding.detail, 200)}"
        say(console, Text(note, style="bold red"), 8)
        if finding.providers:
            say(console, f"providers: {', '.join(map(str, finding.providers))}", 10)


def _print_summary(console: Console, result: RunResult) -> None:
    count = len(result.findings)
    end = "" if result.complete else ", stopped by the time budget"
    say(
        console,
        f"{counted(count, 'distinct finding')} in {counted(result.histories, 'history', 'histories')} on "
        f"{counted(len(result.candidates), 'candidate')} (seed {result.options.seed}{end}); "
        f"{counted(result.lanes_compared, 'history', 'histories')} compared between the reducer lane and the "
        "real graph.",
    )
