"""A deterministic event loop: virtual time, no threads, no sockets.

When nothing is ready, the clock jumps to the next timer. Work handed to an executor runs inline, on
the loop's own thread; or it is held back, so that timers expire first, and is then lost or done late.
A five-second `asyncio.wait_for(asyncio.to_thread(...))` so costs microseconds and ends the same way
every time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeVar
from weakref import proxy

from .clock import VirtualClock

T = TypeVar("T")
Holding = Literal["inline", "timeout", "late"]


class DeadlockError(RuntimeError):
    """Everything waits and no timer is set: real code would hang here for ever."""


class _Idle:
    """Stands in for a selector: waiting is a jump of the clock."""

    def __init__(self, loop: DeterministicLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            self._loop.nothing_will_happen()
        elif timeout > 0:
            self._loop.pass_time(timeout)
        return []

    def close(self) -> None:
        """Nothing to close."""


class DeterministicLoop(asyncio.BaseEventLoop):
    """An asyncio event loop on a virtual clock."""

    # Of `BaseEventLoop`: what is to be called next, and the timers.
    _ready: deque[Any]
    _scheduled: list[Any]

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self._epoch = clock.now()
        self._selector = _Idle(proxy(self))
        self._held: deque[tuple[Holding, Callable[[], None]]] = deque()
        self._holding: Holding = "inline"
        self._on_expiry: Callable[[], None] | None = None
        self._tasks_made = 0
        self._futures_made = 0

    def create_task(self, *args: Any, **more: Any) -> asyncio.Task[Any]:
        """Make a task, and count it."""
        self._tasks_made += 1
        return super().create_task(*args, **more)

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future, and count it: a task that was left behind waits for one."""
        self._futures_made += 1
        return super().create_future()

    def hold(self, late: bool, on_expiry: Callable[[], None]) -> None:
        """Hold executor work back from now on, to be done `late` or never.

        `on_expiry` is called once, when a timer expires while work is held back.
        """
        self._holding = "late" if late else "timeout"
        self._on_expiry = on_expiry

    def release(self) -> None:
        """Run executor work inline again; what is held stays held."""
        self._holding = "inline"
        self._on_expiry = None

    def time(self) -> float:
        """Return the virtual time in seconds since the loop was made."""
        return (self._clock.now() - self._epoch).total_seconds()

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """Run `func` inline at the loop's next turn, or hold it back."""
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001  a thread hands any error to its future
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(result)

        if self._holding == "inline":
            self.call_soon(work)
        else:
            self._held.append((self._holding, work))
        return future

    def pass_time(self, seconds: float) -> None:
        """Let virtual time pass until the next timer."""
        self._clock.advance(seconds=seconds + 1e-6)
        if self._held and self._on_expiry is not None:
            expired, self._on_expiry = self._on_expiry, None
            expired()

    def nothing_will_happen(self) -> None:
        """Release held work when no timer can expire before it. Raises `DeadlockError` when there is none."""
        if not self._held:
            raise DeadlockError("everything waits and no timer is set")
        while self._held:
            self.call_soon(self._held.popleft()[1])

    def finish_late_work(self) -> None:
        """Do the held work that comes back late, and drop the work that is lost."""
        while self._held:
            holding, work = self._held.popleft()
            if holding == "late":
                work()

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run `main` to its end, then late work; cancel whatever it left behind."""
        self._tasks_made = self._futures_made = 0
        ended = False
        try:
            result = self.run_until_complete(main)
            ended = True
        finally:
            self.finish_late_work()
            self.release()
            waits_for = self._futures_made or self._ready or self._scheduled
            # Going through all tasks of the process takes as long as a short turn.
            if not ended or self._tasks_made > 1 or waits_for:
                self._cancel_what_is_left()
        return result

    def _cancel_what_is_left(self) -> None:
        left = asyncio.all_tasks(self)
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def __del__(self) -> None:
        """There is nothing to close, so nothing to warn of."""

    def _process_events(self, event_list: list[Any]) -> None:
        """There are no events but timers."""

    def _write_to_self(self) -> None:
        """There is no other thread to wake the loop for."""

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        """Call soon; all work runs on this thread."""
        return self.call_soon(callback, *args, context=context)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends. Raises `RuntimeError` when it does."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine suspended in a synchronous run")
