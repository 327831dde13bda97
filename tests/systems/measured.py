"""What is measured for docs/systems.md: each system in a campaign of its own, each flaw shrunk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import CONTROL
from sixfold.harness.events import CandidateResult, Options, RunResult
from sixfold.harness.figures import Figures
from sixfold.harness.on_wire import WIRE_ONLY
from sixfold.harness.scenario import Scenario
from sixfold.models.catalogue import CATALOGUE, flaws
from sixfold.models.flaws import Flaw
from sixfold.strategies.scenarios import explore

from ..helpers import minimal_scenario, serialisers_for

Done = TypeVar("Done")

#: Histories that each system plays, with all faults that it can suffer.
HISTORIES = 2_000

#: The reviewed systems, in the order of the page.
SYSTEMS = (
    "deerflow",
    "deerflow.stack",
    "deerflow.delegating",
    "codex",
    "gemini",
    "gemini.rolling",
    "claude-code",
    "hermes",
    "letta",
    "production",
)
PRESENT = tuple(name for name in SYSTEMS if name in CATALOGUE)
ABSENT = tuple(name for name in SYSTEMS if name not in CATALOGUE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A check that a system violates: in how many histories, and the smallest scenario that shows it.

    `confirmed` tells whether the real graph shows it, too.
    """

    code: str
    histories: int
    scenario: Scenario
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What a campaign says of one system. `verdicts` are those of the six invariants, in order."""

    name: str
    histories: int
    verdicts: tuple[str, ...]
    shown: tuple[Shown, ...]
    waived: tuple[tuple[str, int], ...]
    figures: Figures

    def contradicting(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Return those of `codes` that were seen at all, whether violated or waived."""
        seen = {shown.code for shown in self.shown} | {code for code, _ in self.waived}
        return tuple(code for code in codes if code in seen)


@dataclass(frozen=True, slots=True)
class FlawShown:
    """A named flaw, with the minimal scenario of each of its codes."""

    name: str
    scenarios: tuple[tuple[str, Scenario], ...]


def measure(name: str, histories: int = HISTORIES) -> Measured:
    """Play a system, and judge it with the providers' serialisers."""
    candidate = CATALOGUE[name]()
    others = [] if candidate is CONTROL else [candidate]
    with serialisers_for(WIRE_ONLY):
        result = Campaign(others, Options(max_histories=histories)).run(explore)
    mine = next(each for each in result.candidates if each.name == name)
    verdicts = tuple(mine.verdicts[number].value for number in sorted(mine.verdicts))
    waived = tuple(sorted(mine.waivers.items()))
    return Measured(name, result.histories, verdicts, _shown(mine, result), waived, mine.figures)


def _shown(mine: CandidateResult, result: RunResult) -> tuple[Shown, ...]:
    smallest: dict[str, Shown] = {}
    for finding in result.findings:
        signature, scenario = finding.signature, finding.scenario
        if signature.candidate != mine.name:
            continue
        known = smallest.get(signature.code)
        if known is None or scenario.size() < known.scenario.size():
            smallest[signature.code] = Shown(
                signature.code, mine.violations[signature.code], scenario, bool(finding.confirmed)
            )
    return tuple(smallest[code] for code in sorted(smallest))


def show(flaw: Flaw) -> FlawShown:
    """Find and shrink each code of a named flaw."""
    scenarios = []
    for code in flaw.codes:
        with serialisers_for(code):
            scenarios.append((code, minimal_scenario(flaw.candidate, code)))
    return FlawShown(flaw.candidate.name, tuple(scenarios))


def show_by_name(name: str) -> FlawShown:
    """Find and shrink each code of the flaw of this name."""
    return show(next(flaw for flaw in flaws() if flaw.candidate.name == name))


def on_all_cores(work: Callable[[str], Done], names: Iterable[str]) -> list[Done]:
    """Return what `work` makes of each name, in order; one process a core."""
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as processes:
        return list(processes.map(work, names))
