"""The tables of the findings ledger, and what brings those of an earlier format to this one."""

from __future__ import annotations

#: The format of the database: it grows when the meaning of something that is stored changes.
LEDGER_VERSION = 2

SCHEMA = """
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
CREATE TABLE IF NOT EXISTS found (
    night INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (night, id)
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
MIGRATIONS = {
    1: (
        "ALTER TABLE findings ADD COLUMN told INTEGER NOT NULL DEFAULT 0",
        "UPDATE findings SET told = 1 WHERE first_night <="
        " (SELECT COALESCE(MAX(night), 0) FROM nights WHERE ended IS NOT NULL)",
    ),
}
