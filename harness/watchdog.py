"""The watchdog: starts a worker process, asks it, and ends it when it takes too long or too much."""

from __future__ import annotations

import os
import secrets
import select
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from .deaths import DeathError, DeathKind, Limits
from .errors import ExitCode, HarnessBrokenError, SixfoldError, TargetError, TargetInterruptedError
from .introduction import PROTOCOL
from .messages import MAX_BYTES, line_of, message_in, read_as
from .nursery import Begin, wait_for
from .proc import busy_seconds, resident
from .undisturbed import stopwatch

#: Seconds between two looks at a worker that has not answered yet.
_PEEK = 0.05

#: Questions between two looks at the memory of a worker that always answers soon.
_WEIGH_EVERY = 50

#: A worker that wants a processor has had one for more than the first and less than the second share of its
#: time when others keep it busy; then it is waited for so many times as long.
_IDLE = 0.02
_STARVED = 0.6
_AT_MOST = 4.0

_CHUNK = 1 << 16

#: What a worker's refusal is, by the exit code that it comes with; else the target is at fault.
_REFUSALS: dict[Any, type[SixfoldError]] = {
    int(ExitCode.BROKEN_HARNESS): HarnessBrokenError,
    int(ExitCode.INTERRUPTED): TargetInterruptedError,
}

OnTold = Callable[[dict[str, Any]], None]


class Patience:
    """How long a worker is waited for: `seconds` of real time, and longer while others have its processor."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.seconds = seconds
        self._pid = pid
        self._since = stopwatch()
        self._busy_before: float | None = None

    def is_over(self) -> bool:
        """Tell whether the worker has had its time."""
        waited = stopwatch() - self._since
        if self._busy_before is None:
            self._busy_before = busy_seconds(self._pid)
        if waited <= self.seconds:
            return False
        share = (busy_seconds(self._pid) - self._busy_before) / self.seconds
        starved = _IDLE < share < _STARVED
        return not starved or waited > self.seconds * _AT_MOST


class Worker:
    """A worker process, started by `begin`.

    `declared` is what somebody else says of the candidate: its `name`, and what it `declares` beside its
    own contract. Raises `TargetError` when the candidate cannot be loaded, or loading it ends the process.
    """

    def __init__(
        self, begin: Begin, target: str, limits: Limits, declared: Mapping[str, Any] | None = None
    ) -> None:
        self._limits = limits
        self._rest = b""
        self._asked = 0
        self._weight = 0
        self._closed = False
        self._tried = False
        self.printed = 0
        theirs_in, self._writing = os.pipe()
        self._reading, theirs_out = os.pipe()
        try:
            self._process = begin(theirs_in, theirs_out)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        question = {
            "protocol": PROTOCOL,
            "target": target,
            "memory": limits.memory,
            "seconds": limits.history,
            **(declared or {}),
        }
        try:
            introduction = self._exchange(question, limits.loading, None)
            self.introduction: dict[str, Any] = introduction if isinstance(introduction, dict) else {}
        except DeathError as death:
            raise self._not_loaded(death, target) from death
        except BaseException:
            self.close()
            raise
        self._light = resident(self._process.pid)
        self._weight = self._light

    def _not_loaded(self, death: DeathError, target: str) -> TargetError:
        if self._tried:
            return TargetError(
                f"the agent was tried, and its first turns ended its process: {death.detail}",
                place=target,
                remedy="Let it answer a single message; one that needs longer is given it by --timeout.",
            )
        return TargetError(
            f"loading the target ended its process: {death.detail}",
            place=target,
            remedy="Make the module importable on its own, within the time and memory of a worker.",
        )

    @property
    def has_grown(self) -> bool:
        """Whether its histories have left more memory behind than a single one may use."""
        return self._weight - self._light > self._limits.memory

    def ask(self, question: dict[str, Any], *, seconds: float, on_told: OnTold | None = None) -> Any:
        """Return the answer to `question`. Raises `DeathError` when the worker is dead afterwards."""
        self._asked += 1
        if self._asked % _WEIGH_EVERY == 0:
            self._weight = resident(self._process.pid)
        return self._exchange(question, seconds, on_told)

    def _exchange(self, question: dict[str, Any], seconds: float, on_told: OnTold | None) -> Any:
        try:
            patience = Patience(self._process.pid, seconds)
            # What the candidate writes to the pipe does not carry the seal of the question.
            seal = secrets.token_hex(8)
            self._send(line_of({**question, "seal": seal}), patience)
            while True:
                message = message_in(self._line(patience))
                if message.get("seal") != seal:
                    raise DeathError("garbled", "what came back was no answer")
                if "trying" in message:
                    self._tried, seconds = True, self._limits.history
                patience = Patience(self._process.pid, seconds)
                if isinstance(message.get("told"), dict):
                    if on_told is not None:
                        on_told(message["told"])
                elif "dead" in message:
                    raise DeathError(*read_as(tuple[DeathKind, str], message["dead"]))
                elif "refused" in message:
                    cause, place, remedy = map(str, message["refused"])
                    kind = _REFUSALS.get(message.get("code"), TargetError)
                    raise kind(cause, place=place, remedy=remedy)
                elif "beat" not in message and "trying" not in message:
                    self.printed = int(message["printed"])
                    return message["ok"]
        except DeathError:
            self.close()
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.close()
            raise DeathError("garbled", "what came back was no answer") from error

    def _send(self, line: bytes, patience: Patience) -> None:
        rest = memoryview(line)
        while rest:
            _, ready, _ = select.select([], [self._writing], [], _PEEK)
            if not ready:
                self._look_after(patience)
                continue
            try:
                rest = rest[os.write(self._writing, rest[: select.PIPE_BUF]) :]
            except BrokenPipeError:
                raise self._ended() from None

    def _line(self, patience: Patience) -> bytes:
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1]:
            ready, _, _ = select.select([self._reading], [], [], _PEEK)
            if not ready:
                self._look_after(patience)
                continue
            chunk = os.read(self._reading, _CHUNK)
            if not chunk:
                raise self._ended()
            parts.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise DeathError("garbled", "what came back had no end")
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _look_after(self, patience: Patience) -> None:
        """Raise `DeathError` when the worker has ended, is over its time, or has taken too much memory."""
        if self._process.poll() is not None:
            raise self._ended()
        if resident(self._process.pid) - self._weight > self._limits.memory:
            raise DeathError("memory", f"it took more than {self._limits.memory >> 20} MB for one history")
        if patience.is_over():
            raise DeathError("hang", f"it did not come back within {patience.seconds:g} s")

    def _ended(self) -> DeathError:
        """Return how the worker ended by itself, which it may be about to do."""
        code = wait_for(self._process, 5.0)
        if code is None:
            return DeathError("garbled", "it closed the pipe")
        if code >= 0:
            return DeathError("exit", f"exit code {code}")
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        return DeathError("killed", f"signal {name}")

    def close(self) -> None:
        """End the worker and what it started."""
        if self._closed:
            return
        self._closed = True
        for end in (self._writing, self._reading):
            with suppress(OSError):
                os.close(end)
        self.kill()
        wait_for(self._process, 5.0)

    def kill(self) -> None:
        """Kill the worker and what it started; whoever waits for its answer finds it dead."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
