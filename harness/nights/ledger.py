"""The findings ledger: a SQLite database of nights, findings and what was reached, safe against kills.

Each shard is recorded in one transaction, and counts once, however often its result comes in. The file is
in WAL mode: a process that is killed leaves what was recorded before.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import SixfoldError
from ..figures import figures_data
from ..scenario import from_json
from ..search import Settled
from .entries import Entry, Night, entry_of
from .shard import FoundThere, ShardResult
from .status import Replayed, Status, status_after

#: The format of the database: it grows when the meaning of something that is stored changes.
LEDGER_VERSION = 2

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS nights (
    night INTEGER PRIMARY KEY, day TEXT NOT NULL, revision TEXT NOT NULL, targets TEXT NOT NULL,
    seconds REAL, ended TEXT
);
CREATE TABLE IF NOT EXISTS shards (
    night INTEGER NOT NULL, shard INTEGER NOT NULL, histories INTEGER NOT NULL,
    PRIMARY KEY (night, shard)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (
    id TEXT PRIMARY KEY, candidate TEXT NOT NULL, code TEXT NOT NULL, place TEXT NOT NULL,
    faults TEXT NOT NULL, detail TEXT NOT NULL, scenario TEXT NOT NULL, minimal INTEGER NOT NULL,
    confirmed INTEGER, members TEXT NOT NULL, held_by TEXT NOT NULL, histories INTEGER NOT NULL,
    first_night INTEGER NOT NULL, last_night INTEGER NOT NULL, status TEXT NOT NULL, remark TEXT NOT NULL,
    told INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sightings (
    night INTEGER NOT NULL, candidate TEXT NOT NULL, code TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (night, candidate, code, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS settled (
    candidate TEXT NOT NULL, code TEXT NOT NULL, place TEXT NOT NULL, faults TEXT NOT NULL,
    PRIMARY KEY (candidate, code, place, faults)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS novelties (
    what TEXT PRIMARY KEY, scenario TEXT NOT NULL, night INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS measured (
    night INTEGER NOT NULL, candidate TEXT NOT NULL, what TEXT NOT NULL, amount REAL NOT NULL,
    PRIMARY KEY (night, candidate, what)
) WITHOUT ROWID;
"""

#: Statements that bring a ledger of a version to the next one.
_MIGRATIONS = {
    1: (
        "ALTER TABLE findings ADD COLUMN told INTEGER NOT NULL DEFAULT 0",
        "UPDATE findings SET told = 1 WHERE first_night <="
        " (SELECT COALESCE(MAX(night), 0) FROM nights WHERE ended IS NOT NULL)",
    ),
}


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
                for statement in _SCHEMA.split(";"):
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
        version = int(text)
        while version in _MIGRATIONS:
            for statement in _MIGRATIONS[version]:
                self._db.execute(statement)
            version += 1
            self._db.execute("UPDATE meta SET value = ? WHERE name = 'version'", (str(version),))
        return version

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
        rows = self._db.execute(
            "SELECT n.night, day, revision, targets, seconds, ended, COALESCE(SUM(s.histories), 0)"
            " FROM nights n LEFT JOIN shards s ON s.night = n.night GROUP BY n.night ORDER BY n.night"
        )
        return [Night(n, day, rev, tuple(json.loads(t)), sec, how, h) for n, day, rev, t, sec, how, h in rows]

    # -- shards ------------------------------------------------------------------------------------

    def shards_of(self, night: int) -> set[int]:
        """Return the numbers of the shards of a night that are entered."""
        return {shard for (shard,) in self._db.execute("SELECT shard FROM shards WHERE night = ?", (night,))}

    def record(self, night: int, result: ShardResult) -> list[str]:
        """Enter what a shard found, once; return the ids of findings that nobody knew."""
        new: list[str] = []
        with self._writing():
            once = self._db.execute(
                "INSERT OR IGNORE INTO shards VALUES (?, ?, ?)", (night, result.number, result.histories)
            )
            if not once.rowcount:
                return []
            for found in result.found:
                if self._enter(night, found):
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

    def _enter(self, night: int, found: FoundThere) -> bool:
        """Enter a finding, or a smaller witness of it; tell whether it was not known.

        Another shard may have found, at the same time, that it fails with fewer faults and no more steps.
        """
        known, signature = found.known, found.known.signature
        size = from_json(known.scenario).size()
        row = None
        for number, faults, scenario in self._db.execute(
            "SELECT id, faults, scenario FROM findings WHERE candidate = ? AND code = ? AND place = ?",
            (signature.candidate, signature.code, signature.by),
        ):
            other = from_json(scenario).size()
            if number == signature.id():
                row = number
                if other <= size:
                    return False
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
        rows = self._db.execute(
            "SELECT id, candidate, code, place, faults, scenario, detail, minimal, confirmed, members,"
            " held_by, histories, first_night, last_night, status, remark, told FROM findings ORDER BY id"
        )
        return [entry_of(*row) for row in rows]

    def settled(self) -> tuple[Settled, ...]:
        """Return what was shrunk once, whatever came of it."""
        rows = self._db.execute("SELECT candidate, code, place, faults FROM settled ORDER BY 1, 2, 3, 4")
        return tuple((c, code, place, tuple(json.loads(faults))) for c, code, place, faults in rows)

    def novelties(self) -> dict[str, str]:
        """Return what was ever reached, each with a scenario that reaches it."""
        return dict(self._db.execute("SELECT what, scenario FROM novelties ORDER BY what"))

    def measured(self) -> list[tuple[int, str, str, float]]:
        """Return night, candidate, what was measured, and how much."""
        return list(self._db.execute("SELECT night, candidate, what, amount FROM measured ORDER BY 1, 2, 3"))

    def close_night(self, night: int, replayed: dict[str, Replayed]) -> dict[str, Status]:
        """Give all findings their status after the night; `replayed` tells of their smallest witnesses.

        Returns the status of each finding by its id. What nobody was ever told of is `new`, also when an
        earlier night found it that was killed before it could tell.
        """
        sightings = set(
            self._db.execute("SELECT candidate, code, place FROM sightings WHERE night = ?", (night,))
        )
        after: dict[str, Status] = {}
        with self._writing():
            for entry in self.findings():
                known = entry.known
                seen = (known.candidate, known.code, known.by) in sightings
                # Among generated histories the check is seen, and not the faults: the witness knows better.
                shown = replayed.get(entry.id)
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
