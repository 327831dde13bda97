"""The nursery: a process that has imported what every worker needs, and forks workers in milliseconds.

It never loads a candidate and has one thread, or it refuses to fork: a thread would be lost on the way.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from .errors import HarnessBrokenError
from .undisturbed import stopwatch

#: Seconds in which the nursery must have imported everything, and answers.
_PATIENCE = 120.0
_CHUNK = 4096


class Process(Protocol):
    """A process as a watchdog needs it."""

    @property
    def pid(self) -> int:
        """Its number; it leads a group of its own."""

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it lives."""


#: Starts a worker between the reading end of one pipe and the writing end of another.
Begin = Callable[[int, int], Process]


def _environment() -> dict[str, str]:
    """Return the environment of a worker: it finds the modules that this process finds, hashes as always."""
    folders = [path or os.getcwd() for path in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONHASHSEED": "0"}


def spawn(command: Sequence[str], *ends: int) -> subprocess.Popen[bytes]:
    """Start Python with `command`, followed by the numbers of the ends that it inherits."""
    return subprocess.Popen(
        [sys.executable, *command, *map(str, ends)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        pass_fds=ends,
        start_new_session=True,
    )


class _Forked:
    """A worker that the nursery has forked."""

    def __init__(self, pid: int, poll: Callable[[int], int | None]) -> None:
        self.pid = pid
        self._poll = poll
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code; None while it lives."""
        if self._code is None:
            self._code = self._poll(self.pid)
        return self._code


class Nursery:
    """Starts workers. `command` are the arguments with which Python becomes a nursery, or one worker."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._nurse: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._forks = True

    def begin(self, reading: int, writing: int) -> Process:
        """Start a worker; one whose nursery refuses to fork is started from nothing."""
        for _ in range(2 if self._forks else 0):
            answer = self._ask({"fork": True}, reading, writing)
            if answer.get("refused"):
                self._forks = False
                break
            if isinstance(answer.get("pid"), int):
                return _Forked(answer["pid"], self._poll)
        return spawn(self._command, reading, writing)

    def _poll(self, pid: int) -> int | None:
        answer = self._ask({"poll": pid})
        # A new nursery does not know the children of the one that was lost.
        code = answer.get("code", -9)
        return code if isinstance(code, int) else None

    def _ask(self, question: dict[str, Any], *ends: int) -> dict[str, Any]:
        """Return the nursery's answer; nothing when it has died, and the next question starts a new one."""
        if self._line is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._nurse = spawn(self._command, theirs.fileno())
            ours.settimeout(_PATIENCE)
            self._line = ours
        try:
            socket.send_fds(self._line, [json.dumps(question).encode() + b"\n"], ends)
            answer = b""
            while not answer.endswith(b"\n"):
                chunk = self._line.recv(_CHUNK)
                if not chunk:
                    raise ConnectionError
                answer += chunk
            data = json.loads(answer)
        except (OSError, ValueError):
            self.close()
            return {}
        return data if isinstance(data, dict) else {}

    def close(self) -> None:
        """End the nursery. Its workers live until their watchdogs end them."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._nurse is not None:
            self._nurse.kill()
            self._nurse.wait()
            self._nurse = None


def serve_children(line: socket.socket, work: Callable[[int, int], None]) -> None:
    """Fork a worker for every two ends that come, until nobody asks. In workers, `work` never ends."""
    while True:
        message, ends, _, _ = socket.recv_fds(line, _CHUNK, 2)
        if not message:
            return
        question = json.loads(message)
        if "poll" in question:
            answer: dict[str, Any] = {"code": _code_of(int(question["poll"]))}
        elif not _is_single_threaded():
            answer = {"refused": True}
        else:
            pid = os.fork()
            if pid == 0:
                os.setsid()
                line.close()
                work(*ends)
                raise HarnessBrokenError("a worker came back", place="nursery", remedy="Please report this.")
            answer = {"pid": pid}
        for end in ends:
            os.close(end)
        line.sendall(json.dumps(answer).encode() + b"\n")


def _code_of(child: int) -> int | None:
    try:
        ended, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:
        return -9
    return os.waitstatus_to_exitcode(status) if ended else None


def _is_single_threaded() -> bool:
    with suppress(OSError):
        return len(list(Path("/proc/self/task").iterdir())) == 1
    return threading.active_count() == 1


def wait_for(process: Process, seconds: float) -> int | None:
    """Return the exit code of a process that is about to end; None when it does not within `seconds`."""
    until = stopwatch() + seconds
    pause = threading.Event()
    while (code := process.poll()) is None and stopwatch() < until:
        pause.wait(0.005)
    return code
