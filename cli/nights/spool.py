"""The spool: a folder through which a coordinator and its workers talk, and which survives both.

`N.shard.json` is work, `N.now` what is being played, `N.result.json` what came of it; `known.json` is
what need not be shrunk any more, and `stop` asks everybody to come to an end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

from ...harness.nights.shard import (
    Shard,
    ShardResult,
    result_from_json,
    result_to_json,
    shard_from_json,
    shard_to_json,
)
from ...harness.run_folder import write_atomically


@dataclass(frozen=True, slots=True)
class Now:
    """What a worker is playing: histories so far, and the scenario as JSON."""

    histories: int
    scenario: str


def number_of(path: Path) -> int:
    """Return the number of the shard that a file of the spool belongs to."""
    return int(path.name.partition(".")[0])


class Spool:
    """The spool at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, shard: Shard) -> None:
        """Hand out a shard. What is known to all is not written down with each."""
        bare = replace(shard, known=(), settled=(), reached=())
        write_atomically(self.folder / f"{shard.number}.shard.json", shard_to_json(bare))

    def share(self, shard: Shard) -> None:
        """Tell all workers what is known, as `shard` has it."""
        write_atomically(self.folder / "known.json", shard_to_json(shard))

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
        write_atomically(self.folder / f"{result.number}.result.json", result_to_json(result))

    def results(self, known: Container[int] = ()) -> list[ShardResult]:
        """Return the results so far but those of `known` shards, in the order of their numbers."""
        paths = sorted(self.folder.glob("*.result.json"), key=number_of)
        new = (path for path in paths if number_of(path) not in known)
        return [result_from_json(path.read_text(encoding="utf-8")) for path in new]

    def shards(self) -> list[Path]:
        """Return the files of the shards that are handed out, in the order of their numbers."""
        return sorted(self.folder.glob("*.shard.json"), key=number_of)

    def now(self, number: int) -> Now | None:
        """Return what a worker is playing, or played last; None when it has not begun."""
        try:
            data = json.loads((self.folder / f"{number}.now").read_text(encoding="utf-8"))
            return Now(int(data["histories"]), str(data["scenario"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def ask_to_stop(self) -> None:
        """Ask all workers to hand in what they have."""
        (self.folder / "stop").touch()

    @property
    def is_stopping(self) -> bool:
        """Whether workers have been asked to stop."""
        return (self.folder / "stop").exists()


class Beat:
    """Notes what a worker is about to play, so that somebody knows when it never comes back."""

    def __init__(self, spool: Spool, number: int) -> None:
        self._file = os.open(spool.folder / f"{number}.now", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self.histories = 0

    def note(self, scenario: str) -> None:
        """Note the scenario, as JSON."""
        line = json.dumps({"histories": self.histories, "scenario": scenario}).encode()
        self.histories += 1
        os.ftruncate(self._file, os.pwrite(self._file, line, 0))

    def close(self) -> None:
        """Note nothing any more."""
        os.close(self._file)
