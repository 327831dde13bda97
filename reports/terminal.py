"""What a run prints: matrix, reachability, and each finding with its minimal history."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..harness.events import RunResult
from ..harness.faults import PACKAGES
from ..harness.findings import Finding
from ..harness.invariants.registry import INVARIANTS, check_by_code
from ..harness.steps import UserTurn
from ..harness.verdicts import Verdict
from .picture import harmless, remark, timeline

_STYLE = {
    Verdict.HOLDS: "green",
    Verdict.WAIVED: "yellow",
    Verdict.INCONCLUSIVE: "magenta",
    Verdict.VIOLATED: "bold red",
}


def print_result(console: Console, result: RunResult, *, replay: str) -> None:
    """Print the outcome of a run. `replay` is the start of the command that replays a scenario."""
    _print_matrix(console, result)
    _print_reached(console, result)
    for finding in result.findings:
        _print_finding(console, finding, replay)
    _print_summary(console, result)


def _print_matrix(console: Console, result: RunResult) -> None:
    table = Table(title="Candidates × invariants", title_justify="left", pad_edge=False)
    table.add_column("candidate", no_wrap=True)
    judged = sorted({number for candidate in result.candidates for number in candidate.verdicts})
    for number in judged:
        table.add_column(str(number))
    for candidate in result.candidates:
        cells = [Text(str(candidate.verdicts[n]), style=_STYLE[candidate.verdicts[n]]) for n in judged]
        table.add_row(harmless(candidate.name, 40), *cells)
    console.print(table)
    for number in judged:
        console.print(Text(f"  {number}  {INVARIANTS[number]}", style="dim"))
    for candidate in result.candidates:
        if candidate.waivers:
            waived = ", ".join(f"{code} ({count} histories)" for code, count in candidate.waivers.items())
            console.print(
                Text(f"  waived by the contract of {harmless(candidate.name, 40)}: {waived}", style="dim")
            )
    console.print()


def _print_reached(console: Console, result: RunResult) -> None:
    table = Table(title="Reached (times, over all histories)", title_justify="left", pad_edge=False)
    columns = ("changed something", "injection", "compaction", "request edited", "came back after a skip")
    table.add_column("candidate", no_wrap=True)
    for name in (*columns, "faults fired"):
        table.add_column(name)
    for candidate in result.candidates:
        faults = {k[6:]: v for k, v in candidate.reached.items() if k.startswith("fault ")}
        fired = " ".join(f"{kind} {count}" for kind, count in sorted(faults.items())) or "–"
        table.add_row(
            harmless(candidate.name, 40), *(str(candidate.reached[name] or "–") for name in columns), fired
        )
    console.print(table)
    for candidate in result.candidates:
        for goal in candidate.unreached:
            console.print(
                Text(f"  {harmless(candidate.name, 40)} never reached: {goal}; what needs it is inconclusive")
            )
        if not candidate.deterministic:
            console.print(Text(f"  {harmless(candidate.name, 40)} is not deterministic: replays differ"))
    console.print()


def _needs(finding: Finding) -> str:
    turns = sum(isinstance(step, UserTurn) for step in finding.scenario.steps)
    others = len(finding.scenario.steps) - turns
    parts = [f"{turns} user turn{'s' * (turns != 1)}"]
    if others:
        parts.append(f"{others} other step{'s' * (others != 1)}")
    if finding.signature.faults:
        parts += [f"fault {kind} ({PACKAGES[kind].meaning})" for kind in finding.signature.faults]
    else:
        parts.append("no fault")
    return ", ".join(parts)


def _confirmation(finding: Finding) -> str:
    if finding.confirmed is None:
        return "inconclusive: the candidate is not deterministic"
    if finding.confirmed:
        return "confirmed in the real create_agent graph"
    return "NOT confirmed in the real create_agent graph"


def _print_finding(console: Console, finding: Finding, replay: str) -> None:
    signature = finding.signature
    check = check_by_code(signature.code)
    title = check.title if check is not None else signature.code
    console.print(
        Text.assemble(
            (finding.id, "bold"),
            "  ",
            (signature.code, "bold red"),
            f"  {harmless(signature.candidate, 40)}: {title}",
        )
    )
    if check is not None:
        console.print(Text(f"  why it matters: {check.why}", style="dim"))
    console.print(Text(f"  shows at: {harmless(signature.by, 80)}"))
    size = "1-minimal: without any one step it passes" if finding.minimal else "not shown to be minimal"
    console.print(Text(f"  needs: {_needs(finding)} ({size})"))
    for who, what, marked, _ in timeline(finding.history, mark=finding.record):
        text = Text(f"    {who}: {what}", style="bold" if marked else "")
        if marked:
            text.append(f"   ← {remark(finding)}", style="bold red")
        console.print(text)
    held = ", ".join(harmless(name, 40) for name in finding.held_by) or "no other candidate"
    console.print(Text(f"  {_confirmation(finding)}; holds on the same history: {held}"))
    console.print(Text(f"  first seen after {finding.histories} histories"))
    console.print(Text(f"  replay: {replay}/scenarios/{finding.id}.json {signature.candidate}", style="cyan"))
    console.print()


def _print_summary(console: Console, result: RunResult) -> None:
    end = "" if result.complete else ", stopped by the time budget"
    console.print(
        f"{len(result.findings)} distinct findings in {result.histories} histories on "
        f"{len(result.candidates)} candidates (seed {result.options.seed}{end}); "
        f"{result.lanes_compared} histories compared between lanes."
    )
