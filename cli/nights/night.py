"""One night: replay what is known, play shards until the budget ends, and settle what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...harness.deaths import Limits
from ...harness.errors import SixfoldError, TargetError
from ...harness.nights.entries import Entry
from ...harness.nights.ledger import FindingsLedger
from ...harness.nights.shard import Shard, seed_of_shard, still_fails
from ...harness.nights.status import Replayed, Status
from ...harness.run_folder import write_atomically
from ...harness.scenario import from_json
from ...harness.subject import Subject
from ..quiet import quiet
from ..subjects import subjects
from .crew import Crew
from .spool import Spool

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
    """What a night has seen so far. `statuses` are settled when it ends; `candidates` are those it plays.

    `killers` are the scenarios with which `lost` shards ended their workers: digest and file.
    `troubles` are why it is inconclusive: targets that cannot be loaded, workers that could not play.
    """

    number: int
    candidates: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    histories: int = 0
    statuses: dict[str, Status] = field(default_factory=dict)
    lost: int = 0
    killers: dict[str, Path] = field(default_factory=dict)
    interrupted: bool = False
    troubles: list[str] = field(default_factory=list)


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
    spool.share(_shared(plan, ledger, night))
    counted: set[int] = set()
    until = time.time() + plan.seconds

    def look() -> None:
        for result in spool.results(counted):
            counted.add(result.number)
            night.new += ledger.record(night.number, result)
            night.histories += result.histories
            spool.share(_shared(plan, ledger, night))
        lost_before = night.lost
        for number in missing():
            if spool.is_abandoned(number):
                _bury(spool, number, ledger, night)
        if night.lost > lost_before:
            spool.share(_shared(plan, ledger, night))
        progress(night, sum(now.histories for number in missing() if (now := spool.now(number)) is not None))

    def missing() -> list[int]:
        return [number for number in handed_out if number not in counted]

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
            for number in missing():
                _bury(spool, number, ledger, night)
            if night.lost == lost_before:
                break
            spool.take_back()
            spool.share(_shared(plan, ledger, night))
    except KeyboardInterrupt:
        night.interrupted = True
        look()
    night.statuses = ledger.close_night(night.number, replayed)
    how = "interrupted" if night.interrupted else "complete"
    ledger.end_night(night.number, time.monotonic() - began, how)
    return night


def _bury(spool: Spool, number: int, ledger: FindingsLedger, night: Night) -> None:
    """Keep the scenario that a lost shard was playing when it was lost; nothing, if it had not begun.

    Raises `SixfoldError` when there is no room for it.
    """
    now = spool.now(number)
    if now is None:
        return
    night.lost += 1
    killer = from_json(now.scenario).digest()
    if killer not in night.killers:
        path = ledger.path.parent / "killers" / f"{killer}.json"
        try:
            write_atomically(path, now.scenario)
        except OSError as error:
            raise SixfoldError(
                f"a scenario that ended a worker cannot be kept: {error.strerror or error}",
                place=str(path),
                remedy="Make room on the disk. What was entered is kept.",
            ) from error
        night.killers[killer] = path
    spool.withdraw_note(number)


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


def _shared(plan: Plan, ledger: FindingsLedger, night: Night) -> Shard:
    """Return what all workers should know."""
    known = tuple(entry.known for entry in ledger.findings() if entry.status not in ("fixed", "closed"))
    return Shard(
        number=0,
        seed=0,
        targets=plan.targets,
        histories=0,
        known=known,
        settled=ledger.settled(),
        reached=tuple(ledger.novelties()),
        left_out=tuple(night.killers),
    )


def _replay(plan: Plan, ledger: FindingsLedger, night: Night) -> dict[str, Replayed]:
    """Play the smallest witness of every finding that tonight's candidates may show."""
    entries = ledger.findings()
    replayed: dict[str, Replayed] = {}
    for target in plan.targets:
        try:
            with quiet(), subjects([target], isolated=True, limits=Limits(history=plan.timeout)) as opened:
                for subject in opened:
                    night.candidates.append(subject.candidate.name)
                    replayed |= _replay_on(subject, entries)
        except TargetError as error:
            night.troubles.append(f"{target}: {error.cause}")
    if not night.candidates:
        raise SixfoldError(
            f"no target can be loaded; the first: {night.troubles[0]}",
            place="nightly",
            remedy="Run `sixfold run TARGET` to see what is wrong with each.",
        )
    return replayed


def _replay_on(subject: Subject, entries: Sequence[Entry]) -> dict[str, Replayed]:
    return {
        entry.id: "fails" if still_fails(subject, entry.known) else "passes"
        for entry in entries
        if entry.known.candidate == subject.candidate.name
    }
