"""A finding in a few plain lines, and why a verdict is in doubt: for formats that hold text and no layout.

Each line is harmless: one line, without control, bidirectional and surrogate characters, of bounded length.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from ..harness.findings import Finding
from ..harness.harmless import harmless
from ..harness.on_wire import WIRE_ONLY
from ..harness.providers import PROVIDERS
from ..harness.reachability import GOALS
from ..harness.rules import rule_by_code
from ..harness.verdicts import Verdict
from .picture import timeline
from .stored_run import StoredCandidate, StoredRun

#: A path that is longer names no file on the systems that Sixfold runs on.
_LONGEST_PATH = 4096
_MOST_LINES = 200


def title_of(finding: Finding) -> str:
    """Return what the check says went wrong."""
    rule = rule_by_code(finding.signature.code)
    return "see the documentation" if rule is None else rule.title


def sentence(finding: Finding) -> str:
    """Return what went wrong and where it shows, in one line."""
    return f"{title_of(finding)}: {harmless(finding.detail, 500)}"


def is_confirmed(finding: Finding) -> str:
    """Return what the real graph says of it."""
    return {
        True: "confirmed in the real create_agent graph",
        False: "NOT confirmed in the real create_agent graph",
        None: "inconclusive: it was not shown to come back in the real create_agent graph",
    }[finding.confirmed]


def replay_of(finding: Finding, run: StoredRun, clean: Callable[[str, int], str] = harmless) -> str:
    """Return the shell command that replays it, typed where the run was started; `$RUN` is its folder.

    `clean` makes the target fit for the format and cuts it to a length.
    """
    target = run.targets.get(finding.signature.candidate, finding.signature.candidate)
    return f"sixfold replay $RUN/scenarios/{finding.id}.json {shlex.quote(clean(target, 400))}"


def story(finding: Finding, run: StoredRun) -> list[str]:
    """Return the finding line by line: what, needs, the minimal history, how sure, how to replay it."""
    faults = f"faults {', '.join(finding.signature.faults)}" if finding.signature.faults else "no fault"
    drawn = [f"{who}: {what}" if what else who for who, what, _ in timeline(finding.history)]
    if len(drawn) > _MOST_LINES:
        drawn = [*drawn[:_MOST_LINES], f"… and {len(drawn) - _MOST_LINES} more lines"]
    held = ", ".join(harmless(name, 60) for name in finding.held_by) or "no other candidate"
    members = ", ".join(harmless(name, 60) for name in finding.members)
    return [
        f"{finding.id} {sentence(finding)}",
        f"  shows at {harmless(finding.signature.by, 200)}; needs {faults}",
        *([f"  needs of the stack only: {members}"] if members else []),
        *(f"    {harmless(line, 2000)}" for line in drawn),
        f"  {is_confirmed(finding)}; holds on the same history: {held}",
        f"  where the run was started, RUN being its folder: {replay_of(finding, run)}",
    ]


def doubts(candidate: StoredCandidate, number: int) -> list[str]:
    """Return why what was said of an invariant may not hold; nothing when it can be trusted."""
    found = [] if candidate.disagreement is None else [harmless(candidate.disagreement, 1200)]
    if not candidate.deterministic:
        found.append("not deterministic: two replays of one scenario differ")
    goals = [goal for goal in candidate.unreached if number in GOALS.get(goal, ())]
    found += [f"never reached: {harmless(goal, 200)}" for goal in goals]
    if not found and candidate.verdicts.get(number) is Verdict.INCONCLUSIVE:
        # It was given up before the run was over: its warnings say why.
        found += [harmless(warning, 400) for warning in candidate.warnings] or [
            "it was not played to the end"
        ]
    return found


def not_judged(code: str, versions: dict[str, str]) -> str | None:
    """Return why the run could not judge `code` at all, None when it could."""
    packages = [provider.package.replace("_", "-") for provider in PROVIDERS]
    if code == WIRE_ONLY and all(versions.get(package) == "not installed" for package in packages):
        return "no provider's serialiser is installed: pip install sixfold[providers]"
    return None


def target_file(target: str) -> str | None:
    """Return the path in a target `path/to/file.py:name`; None for other targets, and for no path at all."""
    path, colon, _ = target.rpartition(":")
    if not colon or not path.endswith(".py") or harmless(path, _LONGEST_PATH) != path:
        return None
    return path


def counted(count: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, in the plural where it is one."""
    return f"{count} {thing if count == 1 else things or f'{thing}s'}"
