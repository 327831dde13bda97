"""Search: find, mask, repeat. Collects the distinct failures of all candidates, then shrinks each.

Generation never stops at a failure, so no failure hides another; a failure whose signature is known
is masked, and only new ones are shrunk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from .agent import Agent
from .candidate import CONTROL
from .comparisons import COMPARED
from .differential import Trial, try_out
from .errors import HarnessBrokenError
from .faults import FaultKind, FaultPlace
from .figures import Figures, figures
from .findings import Signature
from .reachability import observe
from .scenario import Scenario
from .shrink import Shrunk, shrink
from .stack import needed_members

#: One history in so many is also measured, and played in its variants (`comparisons`): they cost seven plays.
COMPARE_EVERY = 5

Key = tuple[str, str, str]
Kinds = frozenset[FaultKind]


@dataclass(slots=True)
class Tally:
    """What has been seen of one candidate."""

    violations: Counter[str] = field(default_factory=Counter)
    waivers: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    clean: list[Scenario] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)


@dataclass(frozen=True, slots=True)
class Failure:
    """A shrunk failure that still has to be confirmed; `members` are those of a stack that it needs."""

    signature: Signature
    shrunk: Shrunk
    histories: int
    members: tuple[str, ...] = ()


def _dominates(one: Failure, other: Failure) -> bool:
    """Tell whether `one` needs no more faults and no more steps than `other`."""
    return set(one.signature.faults) <= set(other.signature.faults) and len(one.shrunk.scenario.steps) <= len(
        other.shrunk.scenario.steps
    )


class Search:
    """The search over one set of candidates. Call `visit` for each scenario, `harvest` after a round."""

    def __init__(self, agents: list[Agent], *, invariants: tuple[int, ...] = (), keep_clean: int = 5) -> None:
        self.agents = agents
        self.histories = 0
        self.tallies = {agent.candidate.name: Tally() for agent in agents}
        self.failures: list[Failure] = []
        self._invariants = invariants
        self._keep_clean = keep_clean
        #: The smallest scenario of this round for each key and set of fired faults.
        self._witnesses: dict[Key, dict[Kinds, Scenario]] = {}
        self._first_seen: dict[Key, int] = {}
        self._settled: set[tuple[Key, Kinds]] = set()
        self._control = next(a for a in agents if a.candidate.name == CONTROL.name)

    @property
    def distinct(self) -> int:
        """How many distinct failures (candidate, code, place) have been seen."""
        return len(
            {(f.signature.candidate, f.signature.code, f.signature.by) for f in self.failures}
            | set(self._witnesses)
        )

    @property
    def kinds(self) -> Kinds:
        """The fault kinds that at least one candidate can suffer."""
        return frozenset(kind for agent in self.agents for kind in agent.candidate.contract.suffers)

    @property
    def places(self) -> frozenset[FaultPlace]:
        """The places at which a fault can strike at least one candidate."""
        return frozenset(place for agent in self.agents for place in agent.places())

    def visit(self, scenario: Scenario) -> None:
        """Play `scenario` on every candidate and note what is violated.

        Raises `HarnessBrokenError` when control, which has no middleware, violates anything.
        """
        self.histories += 1
        comparing = self.histories % COMPARE_EVERY == 0
        for agent in self.agents:
            trial = try_out(agent, scenario, invariants=self._invariants, comparing=comparing)
            self._note(agent.candidate.name, scenario, trial)
            if comparing:
                self.tallies[agent.candidate.name].figures += figures(trial.reading)

    def _note(self, name: str, scenario: Scenario, trial: Trial) -> None:
        tally = self.tallies[name]
        tally.reached.update(observe(trial.reading))
        tally.waivers.update({j.violation.code for j in trial.judged if j.ruling == "waived"})
        violated = trial.violated()
        if not violated:
            if len(tally.clean) < self._keep_clean and len(scenario.steps) > 1:
                tally.clean.append(scenario)
            return
        if name == CONTROL.name:
            code, item = next((key[0], item) for key, item in violated.items())
            raise HarnessBrokenError(
                f"control violates {code}: {item.violation.detail}",
                place=f"scenario {scenario.digest()}",
                remedy="Please report this as a bug of Sixfold, with the scenario in the run folder.",
            )
        tally.violations.update({code for code, _ in violated})
        kinds: Kinds = frozenset(fired.kind for fired in trial.history.fired())
        for code, by in violated:
            self._first_seen.setdefault((name, code, by), self.histories)
            by_kinds = self._witnesses.setdefault((name, code, by), {})
            known = by_kinds.get(kinds)
            if known is None or scenario.size() < known.size():
                by_kinds[kinds] = scenario

    def harvest(self) -> list[Failure]:
        """Shrink the failures of the round that are new; return them in a fixed order.

        A known failure masks one that fires the same faults and more, unless the other needs a single
        kind of fault and fewer steps: a short way to fail is worth knowing beside a long one.
        """
        new = []
        for key in sorted(self._witnesses):
            by_kinds = self._witnesses[key]
            for kinds in sorted(by_kinds, key=lambda kinds: (len(kinds), sorted(kinds))):
                if self._masked(key, kinds):
                    continue
                self._settled.add((key, kinds))
                failure = self._shrink(key, by_kinds[kinds])
                if not any(_dominates(known, failure) for known in self._known(key)):
                    beaten = [known for known in self._known(key) if _dominates(failure, known)]
                    self.failures = [known for known in self.failures if known not in beaten]
                    self.failures.append(failure)
                    new.append(failure)
        self._witnesses.clear()
        return new

    def _masked(self, key: Key, kinds: Kinds) -> bool:
        covered = any(set(f.signature.faults) <= kinds for f in self._known(key))
        return covered and (len(kinds) != 1 or (key, kinds) in self._settled)

    def _known(self, key: Key) -> list[Failure]:
        return [f for f in self.failures if (f.signature.candidate, f.signature.code, f.signature.by) == key]

    def _shrink(self, key: Key, witness: Scenario) -> Failure:
        name, code, by = key
        agent = next(a for a in self.agents if a.candidate.name == name)

        def fails_on(agent: Agent, scenario: Scenario) -> bool:
            trial = try_out(agent, scenario, invariants=(int(code[0]),), comparing=code in COMPARED)
            return (code, by) in trial.violated()

        shrunk = shrink(witness, partial(fails_on, agent))
        fired = try_out(agent, shrunk.scenario).history.fired()
        kinds = tuple(sorted({f.kind for f in fired}))
        members = needed_members(agent, shrunk.scenario, fails_on)
        return Failure(Signature(name, code, by, kinds), shrunk, self._first_seen[key], members)
