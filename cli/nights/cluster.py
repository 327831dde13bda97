"""A cluster: the same shards, handed to `dask.distributed`. A machine that is lost loses a shard, no more."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from ...harness.errors import HarnessBrokenError, SixfoldError
from ...harness.nights.shard import result_from_json, shard_to_json
from .crew import Crew
from .spool import Spool
from .watch import ShardLimits

_LOCAL = "local:"

#: What a cluster of our own is spared: processes that only wait would look at themselves a hundred times a
#: second, on the cores that shards are played on.
_AT_REST = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "500ms"}

#: Seconds between two looks at what has come back.
_LOOK = 0.25

#: Seconds between two looks at whether there are workers.
_LOOK_AT_WORKERS = 5.0

#: Seconds for which a scheduler is waited for, and for workers when the user wants an end.
_PATIENCE = 30.0

#: Threads of a cluster for each shard that waits for one, so that nobody is idle and none waits for long.
_THREADS_FOR_A_WAITING_SHARD = 10


def crew_of(address: str, limits: ShardLimits | None = None) -> Crew:
    """Return the crew of a cluster: `tcp://HOST:PORT` of a scheduler, or `local:N` for N processes here.

    It is asked at once whether it is there, and connected with when it is to play: until then this process
    plays histories itself, with a clock and dice of their own, and Dask's threads would go astray. Raises
    `SixfoldError` when `dask.distributed` is not installed, or the scheduler does not answer or has no
    workers.
    """
    try:
        import distributed
    except ImportError as error:
        raise SixfoldError(
            "dask.distributed is not installed", place="--cluster", remedy="pip install 'sixfold[cluster]'"
        ) from error
    from .elsewhere import Runners

    runners = partial(Runners, limits or ShardLimits())
    if address.startswith(_LOCAL):
        number = address.removeprefix(_LOCAL)
        if not number.isdecimal() or int(number) < 1:
            raise SixfoldError(
                f"{number!r} is no number of workers", place=f"--cluster {address}", remedy="Write local:2."
            )
        options = {"n_workers": int(number), "threads_per_worker": 1, "dashboard_address": None}
        connect = partial(_client, distributed, address, **options, silence_logs=logging.CRITICAL)
        return Crew(int(number), partial(_work_through, distributed, connect, runners(ours=True)))
    connect = partial(_client, distributed, address)
    with connect() as client:
        threads = _threads(client, address)
    return Crew(threads, partial(_work_through, distributed, connect, runners(ours=False)))


def _client(distributed: Any, address: str, **local: Any) -> Any:
    import dask

    try:
        if not local:
            return distributed.Client(address, timeout=_PATIENCE)
        with dask.config.set(_AT_REST):
            return distributed.Client(**local)
    except (OSError, ValueError, RuntimeError) as error:
        raise SixfoldError(
            f"the scheduler does not answer: {error}",
            place=f"--cluster {address}",
            remedy="Start one with `dask scheduler`, and workers that have Sixfold installed.",
        ) from error


def _threads(client: Any, address: str) -> int:
    """Return how many shards can be played at once, as soon as there is one worker."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=_PATIENCE)
    threads: int = sum(client.nthreads().values())
    if not threads:
        raise SixfoldError(
            "the scheduler has no workers",
            place=f"--cluster {address}",
            remedy="Start some with `dask worker`, where Sixfold and the targets are installed.",
        )
    return threads


def _work_through(
    distributed: Any,
    connect: Callable[[], Any],
    runners: Any,
    spool: Spool,
    until: float | None,
    look: Callable[[], None],
) -> tuple[str, ...]:
    with connect() as client:
        night = f"sixfold-{uuid4().hex}"
        try:
            _register(client, runners, night)
        except Exception as error:  # It comes as it was on a worker, such as an ImportError there.
            raise SixfoldError(
                f"the workers of the cluster cannot begin: {error!r}",
                place="--cluster",
                remedy="Install this Sixfold and the targets on all workers.",
            ) from error
        try:
            return _hand_out(distributed, client, night, spool, until, look)
        finally:
            if client.status == "running":
                client.unregister_worker_plugin(night)


def _register(client: Any, runners: Any, night: str) -> None:
    """Give all workers the plugin; up to twice more when one of them is lost at that moment."""
    for last in (False, False, True):
        try:
            client.register_plugin(runners, name=night)
        except OSError:
            if last:
                raise
            time.sleep(_LOOK_AT_WORKERS)
        else:
            return


def _hand_out(
    distributed: Any, client: Any, night: str, spool: Spool, until: float | None, look: Callable[[], None]
) -> tuple[str, ...]:
    """Hand shards out as threads become free, so that each knows what was found until then."""
    from .elsewhere import play_elsewhere

    wanted = distributed.Event(night, client=client)
    paths = spool.shards()
    threads = _threads(client, client.scheduler.address)
    waiting: dict[Any, int] = {}
    troubles: dict[str, None] = {}
    at_most = threads + -(-threads // _THREADS_FOR_A_WAITING_SHARD)
    gone_since: float | None = None

    def turn() -> None:
        """Hand in what has come back, and hand out what there is room for."""
        nonlocal gone_since
        while paths and len(waiting) < at_most:
            shard = spool.take(paths.pop(0))
            arguments = (night, shard_to_json(shard), until)
            future = client.submit(play_elsewhere, *arguments, pure=False, key=f"{night}-{shard.number}")
            waiting[future] = shard.number
        _collect(waiting, spool, troubles)
        look()
        gone_since = None if client.status == "running" else gone_since or time.monotonic()
        if gone_since is not None and time.monotonic() - gone_since > _PATIENCE:
            raise HarnessBrokenError(
                "the scheduler has gone",
                place="--cluster",
                remedy="Start it again. What was found until then is kept.",
            )
        time.sleep(_LOOK)

    try:
        workers = _Workers(client)
        while paths or waiting:
            turn()
            if workers.are_gone():
                troubles["the cluster has no workers any more"] = None
                break
            if len(troubles) + len(spool.errors()) > threads:
                break
    except KeyboardInterrupt:
        paths.clear()
        wanted.set()
        ends = time.monotonic() + _PATIENCE
        with suppress(KeyboardInterrupt):
            while waiting and time.monotonic() < ends:
                turn()
        raise
    finally:
        if client.status == "running":
            client.cancel(list(waiting), force=True)
    look()
    return tuple(troubles)


class _Workers:
    """Notices that a cluster has no workers any more: what they were to play never comes back."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._next = self._last_seen = time.monotonic()

    def are_gone(self) -> bool:
        """Tell whether there have been none for so long that none will come. Call it as often as you like."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _LOOK_AT_WORKERS
            if self._client.status != "running" or self._client.nthreads():
                self._last_seen = now
        return now - self._last_seen > _PATIENCE


def _collect(waiting: dict[Any, int], spool: Spool, troubles: dict[str, None]) -> None:
    """Hand in to the spool what has come back, and note scenarios that ended a process."""
    for future in [f for f in waiting if f.done()]:
        number = waiting.pop(future)
        if future.status != "finished":
            troubles[f"a shard was lost on the cluster: {future.exception()}"] = None
            continue
        result, killer, error = future.result()
        if error is not None:
            spool.fail(replace(error, number=number))
        elif result is not None:
            try:
                spool.give(result_from_json(result))
            except ValueError:
                troubles["a worker of the cluster has another version of Sixfold"] = None
        elif killer is not None:
            spool.leave_note(number, killer)
