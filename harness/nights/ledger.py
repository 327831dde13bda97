"""The findings ledger: a SQLite database of nights, findings and what was reached, safe against kills.

Each shard is recorded in one transaction, and counts once, however often its result comes in. The file is
in WAL mode: a process that is killed leaves what was recorded before.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SixfoldError
from ..figures import figures_data
from ..scenario import from_json
from ..search import Settled
from .entries import Entry, Night, entry_of
from .schema import LEDGER_VERSION, MIGRATIONS, SCHEMA
from .shard import FoundThere, Known, ShardResult
from .status import Replayed, Status, status_after

#: Statuses of findings that hide nothing: they are found again when they are back.
_DONE: tuple[Status, ...] = ("fixed", "closed")


class FindingsLedger:
    """The database at `path`. Raises `SixfoldError` when it is not one of ours, or of a later version."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            with self._writing():
                for statement in SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(LEDGER_VERSION),))
                version = self._upgraded()
        except (sqlite3.Error, OSError) as error:
            raise self._broken(error) from error
        if version > LEDGER_VERSION:
            raise SixfoldError(
                f"the ledger has format {version}; this Sixfold reads up to {LEDGER_VERSION}",
                place=str(path),
                remedy="Upgrade Sixfold, or start another ledger with --ledger.",
            )

    def _upgraded(self) -> int:
        """Bring a ledger of an earlier version to this one; return the version that it has."""
        [(text,)] = self._db.execute("SELECT value FROM meta WHERE name = 'version'")
        try:
            version = int(text)
        except ValueError:
            raise sqlite3.DatabaseError(f"its format is {text!r}") from None
        while version in MIGRATIONS:
            for statement in MIGRATIONS[version]:
                self._db.execute(statement)
            version += 1
            self._db.execute("UPDATE meta SET value = ? WHERE name = 'version'", (str(version),))
        return version

    def _rows(self, query: str, *values: Any) -> list[Any]:
        """Return what the database answers. Raises `SixfoldError` when it is damaged."""
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> SixfoldError:
        return SixfoldError(
            f"the findings ledger cannot be used: {error}",
            place=str(self.path),
            remedy="Check the file, its folder and the space left; what was recorded before is kept.",
        )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Do everything in the block, or nothing. Raises `SixfoldError` when the database refuses."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                # SQLite rolls back by itself when the disk is full: to ask again would hide the reason.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    # -- nights ------------------------------------------------------------------------------------

    def begin_night(self, day: str, revision: str, targets: Sequence[str]) -> int:
        """Enter a new night; return its number."""
        with self._writing():
            [(number,)] = self._db.execute("SELECT COALESCE(MAX(night), 0) + 1 FROM nights")
            self._db.execute(
                "INSERT INTO nights VALUES (?, ?, ?, ?, NULL, NULL)",
                (number, day, revision, json.dumps(list(targets))),
            )
        return int(number)

    def end_night(self, night: int, seconds: float, how: str) -> None:
        """Enter that the night is over, and how it ended."""
        with self._writing():
            self._db.execute(
                "UPDATE nights SET seconds = ?, ended = ? WHERE night = ?", (seconds, how, night)
            )

    def nights(self) -> list[Night]:
        """Return all nights, the first one first."""
        rows = self._rows(
            "SELECT n.night, day, revision, targets, seconds, ended, COALESCE(SUM(s.histories), 0)"
            " FROM nights n LEFT JOIN shards s ON s.night = n.night GROUP BY n.night ORDER BY n.night"
        )
        return [Night(n, day, rev, tuple(json.loads(t)), sec, how, h) for n, day, rev, t, sec, how, h in rows]

    # -- shards ------------------------------------------------------------------------------------

    def shards_of(self, night: int) -> set[int]:
        """Return the numbers of the shards of a night that are entered."""
        return {shard for (shard,) in self._rows("SELECT shard FROM shards WHERE night = ?", night)}

    def record(self, night: int, result: ShardResult, passing: Container[str] = ()) -> list[str]:
        """Enter what a shard found, once; return the ids of findings that nobody knew.

        `passing` are findings whose witness passes tonight: another one takes its place, however large.
        """
        new: list[str] = []
        with self._writing():
            once = self._db.execute(
                "INSERT OR IGNORE INTO shards VALUES (?, ?, ?)", (night, result.number, result.histories)
            )
            if not once.rowcount:
                return []
            for found in result.found:
                if self._enter(night, found, passing):
                    new.append(found.known.signature.id())
            self._db.executemany(
                "INSERT OR IGNORE INTO sightings VALUES (?, ?, ?, ?)",
                [(night, *seen) for seen in result.seen],
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO settled VALUES (?, ?, ?, ?)",
                [(*where, json.dumps(kinds)) for *where, kinds in result.settled],
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO novelties VALUES (?, ?, ?)",
                [(what, scenario, night) for what, scenario in sorted(result.novel.items())],
            )
            for candidate, amounts in _amounts(result):
                self._db.executemany(
                    "INSERT INTO measured VALUES (?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET amount = amount + excluded.amount",
                    [(night, candidate, what, amount) for what, amount in amounts.items()],
                )
        return new

    def _enter(self, night: int, found: FoundThere, passing: Container[str]) -> bool:
        """Enter a finding, or a smaller witness of it; tell whether it was not known.

        Another shard may have found, at the same time, that it fails with fewer faults and no more steps.
        """
        known, signature = found.known, found.known.signature
        size = from_json(known.scenario).size()
        row = None
        found_tonight = self.found_in(night)
        self._db.execute("INSERT OR IGNORE INTO found VALUES (?, ?)", (night, signature.id()))
        for number, faults, scenario, status in self._db.execute(
            "SELECT id, faults, scenario, status FROM findings"
            " WHERE candidate = ? AND code = ? AND place = ?",
            (signature.candidate, signature.code, signature.by),
        ):
            other = from_json(scenario).size()
            stands = number in found_tonight or (status not in _DONE and number not in passing)
            if number == signature.id():
                row = number
                if stands and other <= size:
                    return False
            elif not stands:
                continue
            elif set(json.loads(faults)) < set(signature.faults) and other[0] <= size[0]:
                return False
        values = (
            signature.id(),
            *(signature.candidate, signature.code, signature.by, json.dumps(signature.faults)),
            *(found.detail, known.scenario, found.minimal, found.confirmed),
            *(json.dumps(found.members), json.dumps(found.held_by), found.histories),
        )
        self._db.execute(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'new', '', 0)"
            " ON CONFLICT (id) DO UPDATE SET detail = excluded.detail, scenario = excluded.scenario,"
            " minimal = excluded.minimal, confirmed = excluded.confirmed, members = excluded.members,"
            " held_by = excluded.held_by",
            (*values, night, night),
        )
        return row is None

    # -- findings ----------------------------------------------------------------------------------

    def findings(self) -> list[Entry]:
        """Return all findings in the order of their ids."""
        rows = self._rows(
            "SELECT id, candidate, code, place, faults, scenario, detail, minimal, confirmed, members,"
            " held_by, histories, first_night, last_night, status, remark, told FROM findings ORDER BY id"
        )
        return [entry_of(*row) for row in rows]

    def found_in(self, night: int) -> set[str]:
        """Return the ids of what was found and shrunk in a night, whether it was known or not."""
        return {number for (number,) in self._rows("SELECT id FROM found WHERE night = ?", night)}

    def masks(self, night: int, passing: Container[str]) -> tuple[Known, ...]:
        """Return what need not be found again in a night in which the witnesses of `passing` pass."""
        found = self.found_in(night)
        return tuple(
            entry.known
            for entry in self.findings()
            if entry.id in found or (entry.status not in _DONE and entry.id not in passing)
        )

    def settled(self) -> tuple[Settled, ...]:
        """Return what was shrunk once, whatever came of it."""
        rows = self._rows("SELECT candidate, code, place, faults FROM settled ORDER BY 1, 2, 3, 4")
        return tuple((c, code, place, tuple(json.loads(faults))) for c, code, place, faults in rows)

    def novelties(self) -> dict[str, str]:
        """Return what was ever reached, each with a scenario that reaches it."""
        return dict(self._rows("SELECT what, scenario FROM novelties ORDER BY what"))

    def measured(self) -> list[tuple[int, str, str, float]]:
        """Return night, candidate, what was measured, and how much."""
        return self._rows("SELECT night, candidate, what, amount FROM measured ORDER BY 1, 2, 3")

    def close_night(self, night: int, replayed: dict[str, Replayed]) -> dict[str, Status]:
        """Give all findings their status after the night; `replayed` tells of their smallest witnesses.

        Returns the status of each finding by its id. What nobody was ever told of is `new`, also when an
        earlier night found it that was killed before it could tell.
        """
        sightings = set(self._rows("SELECT candidate, code, place FROM sightings WHERE night = ?", night))
        found = self.found_in(night)
        after: dict[str, Status] = {}
        with self._writing():
            for entry in self.findings():
                known = entry.known
                seen = entry.id in found or (known.candidate, known.code, known.by) in sightings
                # Among generated histories the check is seen, and not the faults: the witness knows better,
                # unless another one was found and shrunk since.
                shown = None if entry.id in found else replayed.get(entry.id)
                # A finding of a killed night that passes by now is not new any more, and is told as fixed.
                before = entry.status if entry.told or shown == "passes" else None
                after[entry.id] = status_after(before, seen=seen and shown is None, replayed=shown)
                last = night if after[entry.id] in ("new", "known", "returned") else entry.last_night
                self._db.execute(
                    "UPDATE findings SET status = ?, last_night = ? WHERE id = ?",
                    (after[entry.id], last, entry.id),
                )
        return after

    def tell(self, findings: Iterable[str]) -> None:
        """Enter that somebody was told of these findings: after that they are new no more."""
        with self._writing():
            self._db.executemany("UPDATE findings SET told = 1 WHERE id = ?", [(each,) for each in findings])

    def close_finding(self, finding: str, remark: str) -> bool:
        """Enter that somebody is done with a finding; tell whether there is one."""
        with self._writing():
            changed = self._db.execute(
                "UPDATE findings SET status = 'closed', remark = ?, told = 1 WHERE id = ?", (remark, finding)
            )
        return bool(changed.rowcount)


def _amounts(result: ShardResult) -> Iterator[tuple[str, dict[str, float]]]:
    for candidate, played in sorted(result.candidates.items()):
        sums = {name: value for name, value in figures_data(played.figures).items() if isinstance(value, int)}
        yield (
            candidate,
            {
                **{f"figure {name}": value for name, value in sums.items() if name != "id_growth"},
                **{f"reached {what}": count for what, count in played.reached.items()},
                **{f"violated {code}": count for code, count in played.violations.items()},
            },
        )
