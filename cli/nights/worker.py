"""A worker's part: one shard from the spool, played and handed in."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from ...harness.deaths import Limits
from ...harness.errors import HarnessBrokenError, SixfoldError
from ...harness.nights.shard import Shard, ShardResult, play_shard
from ...harness.scenario import Scenario, to_json
from ...harness.undisturbed import stopwatch
from ...strategies.scenarios import explore
from ..quiet import quiet
from ..subjects import subjects
from .spool import Beat, ShardError, Spool

#: Histories between two looks at the clock and at whether to stop.
_LOOK_EVERY = 10


def play_file(spool: Spool, path: Path, until: float | None) -> ShardResult | None:
    """Play the shard in a file of the spool and hand in its result.

    `until` is the end of the night, in seconds since the epoch. None when there is no time left for it.
    Whatever is raised is noted in the spool, too: `SixfoldError` when there is no room for the result.
    """
    shard = spool.take(path)
    seconds = None if until is None else until - time.time()
    if spool.is_stopping or (seconds is not None and seconds <= 0):
        return None
    bounds = [bound for bound in (seconds, shard.seconds) if bound is not None]
    with closing(Beat(spool, shard.number)) as beat:
        try:
            result = _play(spool, shard, beat, min(bounds, default=None))
            spool.give(result)
        except Exception as error:
            now = spool.now(shard.number)
            spool.fail(_shard_error(shard.number, error, None if now is None else now.scenario))
            raise
    return result


def _shard_error(number: int, error: Exception, scenario: str | None) -> ShardError:
    if isinstance(error, SixfoldError):
        broken = isinstance(error, HarnessBrokenError)
        return ShardError(number, error.cause, error.place, error.remedy, broken, scenario)
    cause = f"a worker failed: {type(error).__name__}: {error}"
    remedy = "Please report this as a bug of Sixfold."
    return ShardError(number, cause, f"shard {number}", remedy, True, scenario)


def _play(spool: Spool, shard: Shard, beat: Beat, seconds: float | None) -> ShardResult:
    """Play a shard, for so many seconds at most."""
    began = stopwatch()
    has_room = True

    def at_work(scenario: Scenario) -> None:
        nonlocal has_room
        try:
            beat.note(to_json(scenario))
        except OSError:
            # The disk is full: what was found so far may still find room.
            has_room = False

    def goes_on(_scenario: Scenario) -> bool:
        beat.histories += 1
        if beat.histories % _LOOK_EVERY or not has_room:
            return has_room
        over = seconds is not None and stopwatch() - began > seconds
        return not over and not spool.is_stopping

    with quiet(), subjects(shard.targets, isolated=True, limits=Limits(history=shard.timeout)) as opened:
        return play_shard(opened, shard, explore, before=goes_on, seconds=seconds, at_work=at_work)
