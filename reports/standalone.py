"""The stand-alone file of a finding: a pytest file that fails while the bug is there.

It needs LangChain, LangGraph, pytest and the target, and Sixfold only where the target is a part of it. No
file is promised that has not failed with its own assertion in a fresh process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..harness.findings import Finding
from ..harness.plain import target_of
from ..harness.rules import rule_by_code
from .fresh_process import Follow, Script, rerun
from .standalone_claim import Claim, NoClaim, message_of
from .standalone_claims import claim
from .standalone_faults import UnplannableFault
from .standalone_file import compose
from .standalone_steps import tell
from .standalone_story import Unsupported
from .standalone_target import TargetCode, plain, with_sixfold
from .stored_run import StoredRun


@dataclass(frozen=True, slots=True)
class NoFile:
    """Why there is no stand-alone file for a finding."""

    reason: str


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a file, whether Sixfold must be installed to run it, and how its assertion begins."""

    name: str
    text: str
    needs_sixfold: bool
    message: str

    @property
    def script(self) -> Script:
        """The file as it is run in a fresh process."""
        return Script(self.name, self.text, self.needs_sixfold, self.message)


def written(finding: Finding, run: StoredRun) -> Written | NoFile:
    """Return the file of a finding as it would be, without running it; a pure function."""
    if finding.confirmed is not True:
        return NoFile("the finding is not confirmed in the real create_agent graph")
    try:
        story = tell(finding)
        asserted: Claim = claim(finding, story.earlier_requests)
    except (Unsupported, NoClaim, UnplannableFault) as reason:
        return NoFile(str(reason))
    target = _target(finding, run)
    if not target.needs_sixfold and (story.needs_environment or story.faults.source):
        why = ", ".join(sorted(story.needs_environment)) or "the source of the state fails"
        return NoFile(f"{why}, which the file has no means for without Sixfold")
    if story.faults.token_counter and not target.needs_sixfold and "count_tokens" not in target.parts:
        return NoFile("the token counter fails, and nothing tells how the target is given one")
    rule = rule_by_code(finding.signature.code)
    text = compose(finding, run, story, asserted, target, "" if rule is None else rule.why)
    name = f"test_repro_{finding.id}.py"
    return Written(name, text, target.needs_sixfold, message_of(finding))


def _target(finding: Finding, run: StoredRun) -> TargetCode:
    candidate = finding.signature.candidate
    stored = run.plain.get(candidate)
    if stored is None:
        return with_sixfold(run.targets.get(candidate, candidate))
    # What a project calls by a name of its own is found without the project by what it stands for.
    return plain(stored) or with_sixfold(target_of(stored))


#: What was wrong with each file that has been run in this process, empty when nothing was.
_OUTCOMES: dict[Script, str] = {}


def promises(
    findings: Sequence[Finding], run: StoredRun, *, follow: Callable[[int, int], None] | None = None
) -> tuple[Written | NoFile, ...]:
    """Return for each finding its file, if it fails as it should in a fresh process here, or the reason.

    The files are run together, each once in the life of this process. `follow` is told how many of how
    many have been run.
    """
    made = [written(finding, run) for finding in findings]
    scripts = dict.fromkeys(f.script for f in made if isinstance(f, Written))
    new = [script for script in scripts if script not in _OUTCOMES]
    if new:
        told: Follow | None = None if follow is None else lambda done: follow(done, len(new))
        _OUTCOMES.update(zip(new, rerun(new, follow=told), strict=True))
    return tuple(_promise(each) if isinstance(each, Written) else each for each in made)


def promise(finding: Finding, run: StoredRun) -> Written | NoFile:
    """Return the file of one finding, as `promises` does; all files of its run are run with it."""
    together = run.findings if finding in run.findings else (finding,)
    return promises(together, run)[together.index(finding)]


def _promise(made: Written) -> Written | NoFile:
    failure = _OUTCOMES[made.script]
    return NoFile(f"the file that was written does not fail as it should: {failure}") if failure else made


def files(run: StoredRun) -> dict[str, str]:
    """Return the stand-alone files of a run by name: those that fail in a fresh process as they should."""
    kept = [each for each in promises(run.findings, run) if isinstance(each, Written)]
    return {each.name: each.text for each in kept}
