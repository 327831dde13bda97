"""Shards: the unit of work of a night, and what comes back from one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from ..campaign import Campaign, Explore
from ..events import CandidateResult, Event, Found, Options
from ..faults import FaultKind
from ..figures import Figures
from ..findings import Finding, Signature
from ..scenario import Scenario, from_json, to_json
from ..search import AtWork, Failure, Settled
from ..shrink import Shrunk
from ..subject import Key, Subject
from .status import Replayed


@dataclass(frozen=True, slots=True)
class Known:
    """A failure that needs no shrinking any more: who fails, how, with which faults, and a small witness."""

    candidate: str
    code: str
    by: str
    faults: tuple[FaultKind, ...]
    scenario: str

    @property
    def signature(self) -> Signature:
        """What makes it this finding."""
        return Signature(self.candidate, self.code, self.by, self.faults)

    def failure(self) -> Failure:
        """Return it as the search knows failures."""
        return Failure(self.signature, Shrunk(from_json(self.scenario), True, 0), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One piece of a night. Equal shards give equal results.

    `first` are scenarios (as JSON) that are played before any are generated; `histories` are to be
    generated from `seed`. `known` is not shrunk again, nor is what is `settled`. `left_out` are digests of
    scenarios that have ended a shard, and are not played. `reached` was reached before, and is no novelty.
    `seconds` is how long it may take (None: as long as it takes), `timeout` the time limit of one history,
    in seconds.
    """

    number: int
    seed: int
    targets: tuple[str, ...]
    histories: int
    first: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()
    settled: tuple[Settled, ...] = ()
    left_out: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()
    seconds: float | None = None
    timeout: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundThere:
    """A finding of a shard, with what an issue text needs."""

    known: Known
    detail: str
    minimal: bool
    confirmed: bool | None
    members: tuple[str, ...]
    held_by: tuple[str, ...]
    histories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a shard saw of one candidate: histories by violated check, what it reached, and figures.

    `doubts` are reasons why what it says of the candidate is inconclusive.
    """

    violations: dict[str, int] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    figures: Figures = field(default_factory=Figures)
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What comes back from a shard.

    `seen` are the failures (candidate, check, place) that were seen, known ones included; `settled` is what
    was shrunk, whatever came of it. `novel` are scenarios (as JSON) by what they were the first to reach.
    """

    number: int
    histories: int
    complete: bool
    candidates: dict[str, Played]
    found: tuple[FoundThere, ...] = ()
    seen: tuple[tuple[str, str, str], ...] = ()
    settled: tuple[Settled, ...] = ()
    novel: dict[str, str] = field(default_factory=dict)


#: The check of hooks that raise, and of candidates that end their process.
_RAISED = "6.hook-error"

_SHARD = TypeAdapter(Shard)
_RESULT = TypeAdapter(ShardResult)


def shard_to_json(shard: Shard) -> str:
    """Return the shard as JSON."""
    return _SHARD.dump_json(shard).decode()


def shard_from_json(text: str) -> Shard:
    """Read a shard. Raises `ValueError` when it is damaged."""
    return _SHARD.validate_json(text)


def result_to_json(result: ShardResult) -> str:
    """Return the result as JSON."""
    return _RESULT.dump_json(result).decode()


def result_from_json(text: str) -> ShardResult:
    """Read a result. Raises `ValueError` when it is damaged."""
    return _RESULT.validate_json(text)


def seed_of_shard(commit: str, shard: int, night: int) -> int:
    """Return the seed of a shard: a stable function of the commit, the shard and the night."""
    return int.from_bytes(hashlib.sha256(f"{commit}/{shard}/{night}".encode()).digest()[:6], "big")


class _Novelty:
    """Listens for what is reached for the first time in a shard: `before` was reached in earlier nights."""

    def __init__(self, before: frozenset[str]) -> None:
        self._reached = set(before)
        self.novel: dict[str, str] = {}

    def note(self, candidate: str, reached: Counter[str], scenario: Scenario) -> None:
        for what in reached:
            name = f"{candidate}: {what}"
            if name not in self._reached:
                self._reached.add(name)
                self.novel[name] = to_json(scenario)


def play_shard(
    subjects: Sequence[Subject],
    shard: Shard,
    explore: Explore,
    *,
    before: Callable[[Scenario], bool] = lambda _scenario: True,
    seconds: float | None = None,
    at_work: AtWork = lambda _scenario: None,
) -> ShardResult:
    """Play a shard on its candidates.

    `before` is asked before each scenario that is drawn, and ends the shard when it says no; `at_work` is
    told of each that is played, or shrunk, confirmed or compared later on. `seconds` bounds the generation
    (None: no bound).
    """
    found: list[Finding] = []

    def follow(event: Event) -> None:
        if isinstance(event, Found):
            found.append(event.finding)

    novelty = _Novelty(frozenset(shard.reached))
    first = [from_json(text) for text in shard.first]
    stopped = False

    def generate(visit: Callable[[Scenario], None], **how: object) -> None:
        nonlocal stopped

        def guarded(scenario: Scenario) -> None:
            nonlocal stopped
            stopped = stopped or not before(scenario)
            if not stopped:
                visit(scenario)

        while first and not stopped:
            guarded(first.pop())
        if not stopped:
            explore(guarded, **how)  # type: ignore[arg-type]

    options = Options(seed=shard.seed, max_histories=max(1, shard.histories), budget=seconds)
    campaign = Campaign(
        subjects,
        options,
        [follow],
        known=[known.failure() for known in shard.known],
        settled=shard.settled,
        reached=novelty.note,
        left_out=shard.left_out,
        at_work=at_work,
        over=lambda: stopped,
    )
    result = campaign.run(generate)
    return ShardResult(
        number=shard.number,
        histories=result.histories,
        complete=result.complete and not stopped,
        candidates={
            candidate.name: Played(
                violations=candidate.violations,
                reached=dict(sorted(candidate.reached.items())),
                figures=candidate.figures,
                doubts=tuple(_doubts(candidate)),
            )
            for candidate in result.candidates
        },
        found=tuple(map(_found_there, found)),
        seen=tuple(sorted((name, key.code, key.place) for name, key in campaign.seen)),
        settled=campaign.settled,
        novel=novelty.novel,
    )


def _doubts(candidate: CandidateResult) -> Iterator[str]:
    if not candidate.deterministic:
        yield "two replays of one scenario differ"
    if candidate.disagreement is not None:
        yield f"the lanes disagree (6.lanes): {candidate.disagreement.detail}"


def _found_there(finding: Finding) -> FoundThere:
    signature = finding.signature
    known = Known(
        signature.candidate, signature.code, signature.by, signature.faults, to_json(finding.scenario)
    )
    return FoundThere(
        known=known,
        detail=finding.detail,
        minimal=finding.minimal,
        confirmed=finding.confirmed,
        members=finding.members,
        held_by=finding.held_by,
        histories=finding.histories,
    )


def replayed(subject: Subject, known: Known) -> Replayed | None:
    """Tell what the smallest witness of a known failure does; None when it cannot be told.

    Who dies of it or raises passes nothing: the failure may lie behind that.
    """
    scenario, key = from_json(known.scenario), Key(known.code, known.by)
    if subject.fails(scenario, key):
        return "fails"
    trial = subject.trial(scenario, invariants=(), comparing=False)
    broke = known.code != _RAISED and any(code == _RAISED for code, _ in trial.violated())
    return None if broke or subject.given_up or not trial.history.records else "passes"
