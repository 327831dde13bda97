"""The deterministic loop: timeouts cost no time, end the same way every time, and lose or delay work."""

import asyncio
import time
from typing import Any

import pytest

from sixfold.harness.clock import VirtualClock
from sixfold.harness.loop import DeadlockError, DeterministicLoop

PATIENCE = 5
TIMES = 500


class Bench:
    """A loop whose held work leaves a trace: what happened, and when on the virtual clock."""

    def __init__(self) -> None:
        self.loop = DeterministicLoop(VirtualClock())
        self.trace: list[str] = []

    def say(self, what: str) -> None:
        self.trace.append(f"{what} at {self.loop.time():.3f}")

    async def impatient(self) -> None:
        try:
            await asyncio.wait_for(asyncio.to_thread(self.say, "work"), PATIENCE)
        except TimeoutError:
            self.say("timeout")
        else:
            self.say("done")

    def run(self, holding: str | None) -> list[str]:
        if holding is not None:
            self.loop.hold(holding == "late", lambda: self.say("expired"))
        self.loop.run(self.impatient())
        return self.trace


def test_a_timeout_of_five_seconds_takes_well_under_a_millisecond() -> None:
    bench = Bench()

    async def again_and_again() -> None:
        for _ in range(TIMES):
            bench.loop.hold(False, lambda: None)
            await bench.impatient()

    started = time.perf_counter()
    bench.loop.run(again_and_again())
    took = time.perf_counter() - started
    assert len(bench.trace) == TIMES
    assert bench.loop.time() >= TIMES * PATIENCE
    assert took / TIMES < 0.001


@pytest.mark.parametrize(
    ("holding", "trace"),
    [
        (None, ["work at 0.000", "done at 0.000"]),
        ("timeout", ["expired at 5.000", "timeout at 5.000"]),
        ("late", ["expired at 5.000", "timeout at 5.000", "work at 5.000"]),
    ],
)
def test_work_ends_the_same_way_every_time(holding: str | None, trace: list[str]) -> None:
    assert [Bench().run(holding) for _ in range(20)] == [trace] * 20


def test_timers_expire_in_their_order() -> None:
    bench = Bench()

    async def sleeper(seconds: float) -> None:
        await asyncio.sleep(seconds)
        bench.say("woke")

    async def main() -> None:
        await asyncio.gather(*(sleeper(seconds) for seconds in (3, 1, 2)))

    bench.loop.run(main())
    assert bench.trace == ["woke at 1.000", "woke at 2.000", "woke at 3.000"]


def test_held_work_is_done_when_no_timer_can_expire_before_it() -> None:
    bench = Bench()

    async def patient() -> None:
        await asyncio.to_thread(bench.say, "work")

    bench.loop.hold(False, lambda: bench.say("expired"))
    bench.loop.run(patient())
    assert bench.trace == ["work at 0.000"]


def test_error_of_the_work_reaches_its_caller() -> None:
    async def main() -> None:
        await asyncio.to_thread(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        Bench().loop.run(main())


def test_waiting_for_ever_is_an_error() -> None:
    bench = Bench()

    async def main() -> None:
        waiting: asyncio.Future[Any] = bench.loop.create_future()
        await waiting

    with pytest.raises(DeadlockError):
        bench.loop.run(main())


def test_tasks_left_behind_are_cancelled() -> None:
    bench = Bench()

    async def background() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            bench.say("cancelled")
            raise

    async def main() -> None:
        task = asyncio.ensure_future(background())
        await asyncio.sleep(0)
        assert not task.done()

    bench.loop.run(main())
    assert bench.trace == ["cancelled at 0.000"]
