"""A cluster: the same shards, handed to `dask.distributed`. A worker that is lost loses a shard, no more."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ...harness.errors import SixfoldError
from ...harness.nights.shard import result_from_json, result_to_json, shard_from_json, shard_to_json
from .night import Crew
from .spool import Spool

_LOCAL = "local:"

#: Seconds between two looks at what has come back, and for which a cluster is waited for.
_LOOK = 0.25
_PATIENCE = 30.0


def play_elsewhere(text: str, until: float | None) -> str | None:
    """Play a shard (as JSON) on a worker of a cluster; return its result so, None without time for it."""
    from .worker import play

    seconds = None if until is None else until - time.time()
    if seconds is not None and seconds <= 0:
        return None
    shard = shard_from_json(text)
    bounds = [bound for bound in (seconds, shard.seconds) if bound is not None]
    return result_to_json(play(Spool(Path(mkdtemp(prefix="sixfold-"))), shard, min(bounds, default=None)))


def crew_of(address: str) -> Crew:
    """Return the crew of a cluster: `tcp://HOST:PORT` of a scheduler, or `local:N` for N processes here.

    Raises `SixfoldError` when `dask.distributed` is not installed.
    """
    try:
        import distributed
    except ImportError as error:
        raise SixfoldError(
            "dask.distributed is not installed", place="--cluster", remedy="pip install 'sixfold[cluster]'"
        ) from error

    def work_through(spool: Spool, _workers: int, until: float | None, look: Callable[[], None]) -> None:
        with _cluster(distributed, address) as client:
            waiting = {}
            for path in spool.shards():
                shard = spool.take(path)
                future = client.submit(
                    play_elsewhere,
                    shard_to_json(shard),
                    until,
                    pure=False,
                    retries=2,
                    key=f"shard-{shard.number}",
                )
                waiting[future] = shard.number
            try:
                _gather(waiting, spool, until, look)
            finally:
                client.cancel(list(waiting), force=True)
        look()

    return work_through


def _gather(waiting: dict[Any, int], spool: Spool, until: float | None, look: Callable[[], None]) -> None:
    """Hand results in to the spool as they come, until all are there or the time is over."""
    while waiting and (until is None or time.time() < until + _PATIENCE):
        for future in [f for f in waiting if f.done()]:
            del waiting[future]
            if future.status == "finished" and (text := future.result()) is not None:
                spool.give(result_from_json(text))
        look()
        time.sleep(_LOOK)


def _cluster(distributed: Any, address: str) -> Any:
    if not address.startswith(_LOCAL):
        try:
            return distributed.Client(address, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise SixfoldError(
                f"the scheduler does not answer: {error}",
                place=f"--cluster {address}",
                remedy="Start one with `dask scheduler`, and workers that have Sixfold installed.",
            ) from error
    number = address.removeprefix(_LOCAL)
    if not number.isdecimal() or int(number) < 1:
        raise SixfoldError(
            f"{number!r} is no number of workers", place=f"--cluster {address}", remedy="Write local:2."
        )
    return distributed.Client(
        n_workers=int(number), threads_per_worker=1, dashboard_address=None, silence_logs=True
    )
