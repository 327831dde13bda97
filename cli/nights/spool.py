"""The spool: a folder through which a coordinator and its workers talk, and which survives both.

`N.shard.json` is work, `N.now` what is being played, `N.result.json` what came of it, `N.error.json` why
nothing did; `known.json` is what need not be shrunk any more, `owner.json` whose spool it is, and `stop`
asks everybody to come to an end. `lock` is locked as long as the coordinator lives, `N.now` as long as the
worker does.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Container
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

from ...harness.errors import SixfoldError
from ...harness.nights.shard import (
    Shard,
    ShardResult,
    result_from_json,
    result_to_json,
    shard_from_json,
    shard_to_json,
)
from ...harness.run_folder import write_atomically

#: The file that the coordinator holds a lock on.
_LOCK = "lock"

#: Bytes that must find room on the disk of a spool, or it counts as full: more than a large result has.
_ROOM = 1 << 18

#: Bytes that the file of a note is made with.
_NOTE = 1 << 14


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose spool it is: a night's, of a ledger (the name of its file)."""

    night: int
    ledger: str


@dataclass(frozen=True, slots=True)
class Now:
    """What a worker is playing: histories so far, the scenario as JSON, and the process id of the worker."""

    histories: int
    scenario: str
    pid: int


@dataclass(frozen=True, slots=True)
class ShardError:
    """Why a shard could not be played, and the scenario (as JSON) that was at work then.

    `broken`: the harness contradicts itself, or fails.
    """

    number: int
    cause: str
    place: str
    remedy: str
    broken: bool
    scenario: str | None = None


def number_of(path: Path) -> int:
    """Return the number of the shard that a file of the spool belongs to."""
    return int(path.name.partition(".")[0])


def _locked(path: Path) -> IO[bytes] | None:
    """Return the file, locked until it is closed or its process ends; None when another holds the lock.

    Process ids would not do: in containers that share a folder they are reused, and unknown to each other.
    """
    try:
        file = path.open("ab")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def write_or_tell(path: Path, text: str, *, what: str) -> None:
    """Write a file of a night, whole or not at all. Raises `SixfoldError` when there is no room for it."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise SixfoldError(
            f"{what} cannot be written: {error.strerror or error}",
            place=str(path),
            remedy="Make room on the disk. What was entered is kept; the next night enters the results "
            "that lie in the spool.",
        ) from error


class Spool:
    """The spool at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: IO[bytes] | None = None

    def _write(self, name: str, text: str) -> None:
        write_or_tell(self.folder / name, text, what="the spool")

    def check_room(self) -> None:
        """Raise `SixfoldError` when workers could not hand in a result."""
        self._write("room", "." * _ROOM)
        (self.folder / "room").unlink()

    def sign(self, night: int, ledger: str) -> None:
        """Note that this process coordinates the night; a lock that ends with it says how long it does.

        Raises `SixfoldError` when there is no room, or another process holds the spool.
        """
        if not self.take_over():
            raise SixfoldError(
                "the spool is in use",
                place=str(self.folder),
                remedy="Let the other night come to its end, or give this one a ledger in another folder.",
            )
        self._write("owner.json", json.dumps(asdict(Owner(night, ledger))))

    def owner(self) -> Owner | None:
        """Return whose it is; None when nobody signed."""
        try:
            data = json.loads((self.folder / "owner.json").read_text(encoding="utf-8"))
            return Owner(int(data["night"]), str(data["ledger"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def take_over(self) -> bool:
        """Hold the spool of a coordinator that is gone; tell whether it is."""
        self._lock = _locked(self.folder / _LOCK)
        return self._lock is not None

    def path_of(self, shard: int) -> Path:
        """Return the file of the shard with this number."""
        return self.folder / f"{shard}.shard.json"

    def put(self, shard: Shard) -> None:
        """Hand out a shard. What is known to all is not written down with each."""
        bare = replace(shard, known=(), settled=(), reached=())
        self._write(self.path_of(shard.number).name, shard_to_json(bare))

    def share(self, shard: Shard) -> None:
        """Tell all workers what is known, as `shard` has it."""
        self._write("known.json", shard_to_json(shard))

    def take(self, path: Path) -> Shard:
        """Return the shard in a file, with what is known by now. Raises `ValueError` when it is damaged."""
        shard = shard_from_json(path.read_text(encoding="utf-8"))
        shared = self.folder / "known.json"
        if not shared.exists():
            return shard
        known = shard_from_json(shared.read_text(encoding="utf-8"))
        return replace(
            shard,
            known=known.known,
            settled=known.settled,
            reached=known.reached,
            left_out=tuple({*shard.left_out, *known.left_out}),
        )

    def take_back(self) -> None:
        """Take back all shards, whether they were played or not."""
        for path in self.shards():
            path.unlink()

    def give(self, result: ShardResult) -> None:
        """Hand in the result of a shard: whole or not at all."""
        self._write(f"{result.number}.result.json", result_to_json(result))

    def results(self, known: Container[int] = ()) -> list[ShardResult]:
        """Return the results so far but those of `known` shards, in the order of their numbers."""
        new = (path for path in self.handed_in() if number_of(path) not in known)
        return [result_from_json(path.read_text(encoding="utf-8")) for path in new]

    def handed_in(self) -> list[Path]:
        """Return the files of results, in the order of their numbers."""
        return sorted(self.folder.glob("*.result.json"), key=number_of)

    def shards(self) -> list[Path]:
        """Return the files of the shards that are handed out, in the order of their numbers."""
        return sorted(self.folder.glob("*.shard.json"), key=number_of)

    def notes(self) -> list[Path]:
        """Return the files in which workers note what they are playing, in the order of their shards."""
        return sorted(self.folder.glob("*.now"), key=number_of)

    def has_result(self, number: int) -> bool:
        """Tell whether the result of a shard was handed in."""
        return (self.folder / f"{number}.result.json").exists()

    def now(self, number: int) -> Now | None:
        """Return what a worker is playing, or played last; None when it has not begun."""
        try:
            data = json.loads((self.folder / f"{number}.now").read_text(encoding="utf-8"))
            return Now(int(data["histories"]), str(data["scenario"]), int(data["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def fail(self, error: ShardError) -> None:
        """Note that a shard could not be played: its worker lives, and no scenario is to blame."""
        self.withdraw_note(error.number)
        self._write(f"{error.number}.error.json", json.dumps(asdict(error)))

    def errors(self) -> list[ShardError]:
        """Return why shards could not be played, in the order of their numbers."""
        paths = sorted(self.folder.glob("*.error.json"), key=number_of)
        return [ShardError(**json.loads(path.read_text(encoding="utf-8"))) for path in paths]

    def bury(self, number: int) -> Now | None:
        """Take the note of a worker that is gone and handed in nothing, and return it; None without one."""
        path = self.folder / f"{number}.now"
        if not path.exists() or (lock := _locked(path)) is None:
            return None
        # While it is locked no worker can begin with it.
        with lock:
            now = None if self.has_result(number) else self.now(number)
            if now is not None:
                self.withdraw_note(number)
            return now

    def leave_note(self, number: int, scenario: str) -> None:
        """Note for a worker that is gone what it was playing."""
        beat = Beat(self, number)
        beat.note(scenario)
        beat.close()

    def withdraw_note(self, number: int) -> None:
        """Take the note of a shard back: it was not the scenario that ended it."""
        (self.folder / f"{number}.now").unlink(missing_ok=True)

    def ask_to_stop(self) -> None:
        """Ask all workers to hand in what they have."""
        (self.folder / "stop").touch()

    @property
    def is_stopping(self) -> bool:
        """Whether workers have been asked to stop."""
        return (self.folder / "stop").exists()


class Beat:
    """Notes what a worker is about to play, so that somebody knows when it never comes back.

    The file has room for most scenarios from the start, so that a disk that fills up does not end a shard.
    Close it when the result is handed in: it is locked until then, or until the worker dies.
    """

    def __init__(self, spool: Spool, number: int) -> None:
        self._file = os.open(spool.folder / f"{number}.now", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._length = os.pwrite(self._file, b" " * _NOTE, 0)
        self._pid = os.getpid()
        #: How many histories were begun.
        self.histories = 0

    def note(self, scenario: str) -> None:
        """Note the scenario, as JSON. Raises `OSError` when there is no room for a very long one."""
        now = Now(self.histories, scenario, self._pid)
        line = json.dumps(asdict(now)).encode()
        self._length = os.pwrite(self._file, line.ljust(self._length), 0)

    def close(self) -> None:
        """Note nothing any more."""
        os.close(self._file)
