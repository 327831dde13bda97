"""One night: replay what is known, play shards until the budget ends, and settle what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...harness.candidate import CONTROL, Candidate, check_names
from ...harness.deaths import Limits
from ...harness.errors import HarnessBrokenError, SixfoldError, TargetError
from ...harness.nights.entries import Entry
from ...harness.nights.ledger import FindingsLedger
from ...harness.nights.shard import Shard, ShardResult, replayed, seed_of_shard
from ...harness.nights.status import NEWS, Replayed, Status
from ...harness.scenario import from_json
from ...harness.subject import Subject
from ..quiet import quiet
from ..subjects import subjects
from .crew import Crew
from .spool import ShardError, Spool, write_or_tell

#: Seconds of one shard: short enough that little is lost with it, long enough that its start is worth it.
_SHORTEST, _LONGEST, _SHARE = 10.0, 120.0, 0.1

#: Histories of a shard at most: it ends by the clock, as a rule.
_MOST = 1_000_000

#: Shards that are lost before a night gives up what they were lost with.
MOST_LOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that decides what a night does. `histories` are for each shard, None: as many as it can."""

    targets: tuple[str, ...]
    revision: str
    day: str
    seconds: float
    timeout: float = 20.0
    histories: int | None = None


@dataclass(slots=True)
class Night:
    """What a night has seen so far, and in the end. `candidates` are those it plays.

    `statuses` are those of all findings, `news` the findings that are to be told: what was fixed in an
    earlier night was told then.

    `killers` are the scenarios with which `lost` shards ended their workers: digest and file.
    `troubles` are why it is inconclusive: targets that cannot be loaded, workers that could not play.
    """

    number: int
    candidates: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    histories: int = 0
    statuses: dict[str, Status] = field(default_factory=dict)
    news: frozenset[str] = frozenset()
    lost: int = 0
    killers: dict[str, Path] = field(default_factory=dict)
    interrupted: bool = False
    troubles: list[str] = field(default_factory=list)

    def doubt(self, result: ShardResult) -> None:
        """Note what makes the results of a shard inconclusive."""
        for name, played in sorted(result.candidates.items()):
            self._trouble(f"{name}: {doubt}" for doubt in played.doubts)

    def fail(self, errors: Sequence[ShardError], folder: Path) -> None:
        """Note why shards could not be played.

        Raises `HarnessBrokenError` when that is Sixfold's fault; the scenario is kept in `folder`.
        """
        for error in errors:
            if error.broken:
                place = error.place if error.scenario is None else str(_keep(error.scenario, folder))
                raise HarnessBrokenError(error.cause, place=place, remedy=error.remedy)
        self._trouble(f"{error.cause} ({error.place}). {error.remedy}" for error in errors)

    def _trouble(self, sentences: Iterable[str]) -> None:
        """Note each trouble once."""
        self.troubles += [one for one in dict.fromkeys(sentences) if one not in self.troubles]


def run_night(
    plan: Plan,
    ledger: FindingsLedger,
    spool: Spool,
    crew: Crew,
    progress: Callable[[Night, int], None] = lambda _night, _now: None,
) -> Night:
    """Run a night to its end. Whatever was found is in the ledger when this returns, or raises."""
    began = time.monotonic()
    night = Night(ledger.begin_night(plan.day, plan.revision, plan.targets))
    spool.sign(night.number, ledger.path.name)
    replayed = _replay(plan, ledger, night)
    passing = frozenset(number for number, what in replayed.items() if what == "passes")
    counted: set[int] = set()
    until = time.time() + plan.seconds

    def share() -> None:
        spool.share(_shared(plan, ledger, night, passing))

    def collect() -> None:
        for result in spool.results(counted):
            night.new += ledger.record(night.number, result, passing)
            night.histories += result.histories
            night.doubt(result)
            counted.add(result.number)
            share()

    def missing() -> list[int]:
        return [number for number in handed_out if number not in counted]

    def bury() -> bool:
        """Tell whether a shard is lost, with the scenario that its worker was playing."""
        lost = [now for number in missing() if (now := spool.bury(number)) is not None]
        for now in lost:
            _bury(now.scenario, ledger, night)
        return bool(lost)

    def look() -> None:
        collect()
        # Who is asked to stop and takes too long is killed for that.
        if not spool.is_stopping and bury():
            share()
        progress(night, sum(now.histories for number in missing() if (now := spool.now(number)) is not None))

    share()
    handed_out: list[int] = []
    try:
        while until - time.time() > 1 and night.lost <= MOST_LOST:
            lost_before = night.lost
            shards = _shards(plan, night, len(handed_out), until - time.time(), crew.workers, ledger)
            handed_out += [shard.number for shard in shards]
            for shard in shards:
                spool.put(shard)
            night.troubles += crew.work_through(spool, until, look)
            spool.check_room()
            bury()
            night.fail(spool.errors(), ledger.path.parent / "broken")
            if night.lost == lost_before:
                break
            spool.take_back()
            share()
        if night.lost > MOST_LOST:
            night.troubles.append(f"given up: {night.lost} shards were lost with their workers")
    except KeyboardInterrupt:
        night.interrupted = True
        collect()
    fixed_before = {entry.id for entry in ledger.findings() if entry.status == "fixed" and entry.told}
    night.statuses = ledger.close_night(night.number, replayed)
    night.news = frozenset(
        number
        for number, status in night.statuses.items()
        if status in NEWS and not (status == "fixed" and number in fixed_before)
    )
    how = "interrupted" if night.interrupted else "complete"
    ledger.end_night(night.number, time.monotonic() - began, how)
    return night


def _bury(scenario: str, ledger: FindingsLedger, night: Night) -> None:
    """Keep the scenario (as JSON) that a lost shard was playing when it was lost."""
    night.lost += 1
    path = _keep(scenario, ledger.path.parent / "killers")
    night.killers[path.stem] = path


def _keep(scenario: str, folder: Path) -> Path:
    """Keep a scenario (as JSON) under its digest. Raises `SixfoldError` when there is no room for it."""
    path = folder / f"{from_json(scenario).digest()}.json"
    write_or_tell(path, scenario, what="a scenario")
    return path


def _shards(
    plan: Plan, night: Night, first: int, seconds: float, workers: int, ledger: FindingsLedger
) -> list[Shard]:
    """Return shards for so many seconds: a few more than will be played, so that nobody is ever idle."""
    length = min(_LONGEST, max(_SHORTEST, seconds * _SHARE))
    count = workers * (round(seconds / length) + 1)
    corpus = sorted(set(ledger.novelties().values()))
    return [
        Shard(
            number=number,
            seed=seed_of_shard(plan.revision, number, night.number),
            targets=plan.targets,
            histories=plan.histories or _MOST,
            first=tuple(corpus[number::workers]) if number < workers else (),
            left_out=tuple(night.killers),
            seconds=length,
            timeout=plan.timeout,
        )
        for number in range(first, first + count)
    ]


def _shared(plan: Plan, ledger: FindingsLedger, night: Night, passing: Container[str]) -> Shard:
    """Return what all workers should know; the witnesses of `passing` findings pass tonight."""
    return Shard(
        number=0,
        seed=0,
        targets=plan.targets,
        histories=0,
        known=ledger.masks(night.number, passing),
        settled=ledger.settled(),
        reached=tuple(ledger.novelties()),
        left_out=tuple(night.killers),
    )


def _replay(plan: Plan, ledger: FindingsLedger, night: Night) -> dict[str, Replayed]:
    """Play the smallest witness of every finding that tonight's candidates may show."""
    entries = ledger.findings()
    met: list[Candidate] = []
    replayed: dict[str, Replayed] = {}
    for target in plan.targets:
        try:
            with quiet(), subjects([target], isolated=True, limits=Limits(history=plan.timeout)) as opened:
                for subject in opened:
                    met.append(subject.candidate)
                    replayed |= _replay_on(subject, entries)
        except TargetError as error:
            night.troubles.append(f"{target}: {error.cause}")
    check_names([candidate for candidate in met if candidate.name != CONTROL.name])
    night.candidates = [candidate.name for candidate in met]
    if not night.candidates:
        raise SixfoldError(
            f"no target can be loaded; the first: {night.troubles[0]}",
            place="nightly",
            remedy="Run `sixfold run TARGET` to see what is wrong with each.",
        )
    return replayed


def _replay_on(subject: Subject, entries: Sequence[Entry]) -> dict[str, Replayed]:
    mine = (entry for entry in entries if entry.known.candidate == subject.candidate.name)
    return {entry.id: what for entry in mine if (what := replayed(subject, entry.known)) is not None}
