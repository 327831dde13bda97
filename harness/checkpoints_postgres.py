"""Checkpoints in PostgreSQL: the conversations in the tables of langgraph-checkpoint-postgres.

Of each thread the newest checkpoint of the root graph is read, and of that the channel `messages`, in one
transaction that cannot write. What is stored is decoded as data (`inert`), never revived.
Source of the format: `langgraph.checkpoint.postgres.base`, migrations 0 to 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .checkpoints import Unread, decoded, none_read, read_each, whole
from .errors import SixfoldError
from .foreign import MAX_BYTES, Conversation, bounded, too_large
from .harmless import harmless
from .postgres_url import PostgresUrl

if TYPE_CHECKING:
    from psycopg import Connection

#: The last migration of the tables that this module knows (langgraph-checkpoint-postgres 1.0 to 3.2).
NEWEST_SCHEMA = 9

#: Seconds to wait for a server, when the URL says nothing else.
PATIENCE = 10

#: The columns that are read, with their types. Types of others could bring code of their own along.
_TABLES: dict[str, dict[str, str]] = {
    "checkpoint_migrations": {"v": "integer"},
    "checkpoints": {
        "thread_id": "text",
        "checkpoint_ns": "text",
        "checkpoint_id": "text",
        "checkpoint": "jsonb",
    },
    "checkpoint_blobs": {
        "thread_id": "text",
        "checkpoint_ns": "text",
        "channel": "text",
        "version": "text",
        "type": "text",
        "blob": "bytea",
    },
    "checkpoint_writes": {
        "thread_id": "text",
        "checkpoint_ns": "text",
        "checkpoint_id": "text",
        "channel": "text",
    },
}
_COLUMNS = """
    SELECT c.relkind::text, a.attname::text, format_type(a.atttypid, NULL)
    FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.oid = to_regclass(%s)
"""
_NEWEST = """
    SELECT thread_id, MAX(checkpoint_id) FROM checkpoints
    WHERE checkpoint_ns = '' AND (%(thread)s::text IS NULL OR thread_id = %(thread)s)
    GROUP BY thread_id ORDER BY thread_id COLLATE "C" LIMIT %(most)s
"""
_MESSAGES = """
    SELECT b.type, octet_length(b.blob), CASE WHEN octet_length(b.blob) <= %(most)s THEN b.blob END
    FROM checkpoints c JOIN checkpoint_blobs b
        ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = 'messages'
        AND b.version = c.checkpoint -> 'channel_versions' ->> 'messages'
    WHERE c.thread_id = %(thread)s AND c.checkpoint_ns = '' AND c.checkpoint_id = %(newest)s
"""
_PENDING = """
    SELECT COUNT(*) FROM checkpoint_writes
    WHERE thread_id = %s AND checkpoint_ns = '' AND checkpoint_id = %s AND channel = 'messages'
"""


def from_postgres(url: PostgresUrl, thread: str | None = None) -> tuple[list[Conversation], list[Unread]]:
    """Read the newest checkpoint of each thread, or of `thread` alone.

    Returns the conversations, and what cannot be read. Raises `SixfoldError` when
    the server cannot be reached or refuses, its tables are missing or of another kind, there is no such
    thread, or none can be read.
    """
    try:
        import psycopg
    except ImportError as error:
        raise SixfoldError(
            f"PostgreSQL cannot be read: {error}",
            place=url.place,
            remedy="Install its client: pip install 'sixfold[postgres]'.",
        ) from error
    skipped: list[Unread] = []
    try:
        with _connected(url) as database, database.transaction():
            # A policy of rows may call functions: with this, such a table is refused.
            database.execute("SET LOCAL row_security = off")
            database.execute("SET LOCAL lock_timeout = '10s'")
            _check(database, url.place)
            found = list(bounded(_threads(database, url.place, thread, skipped), url.place))
    except psycopg.errors.InsufficientPrivilege as error:
        remedy = "Grant SELECT on the four tables to this user, without row policies."
        raise _refused(url, error, remedy) from error
    except psycopg.Error as error:
        raise _refused(url, error, "Look into the server's log, and try again.") from error
    except UnicodeDecodeError as error:
        raise SixfoldError(
            "the names of threads are not text in UTF-8",
            place=url.place,
            remedy="Give a database with the encoding UTF8.",
        ) from error
    if not found:
        raise none_read(skipped, url.place)
    return found, skipped


def _connected(url: PostgresUrl) -> Connection[Any]:
    import psycopg

    given = {"connect_timeout": PATIENCE, **url.parameters, "client_encoding": "utf8"}
    try:
        database: Connection[Any] = psycopg.connect(**given)
    except psycopg.Error as error:
        if "password" in str(error):
            remedy = "Correct user and password; PGPASSWORD or ~/.pgpass can hold a password, too."
        elif "does not exist" in str(error):
            remedy = "Correct the name of the database or of the user."
        else:
            remedy = "Start the server, or correct host and port."
        raise _refused(url, error, remedy) from error
    database.read_only = True
    database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return database


def _refused(url: PostgresUrl, error: Exception, remedy: str) -> SixfoldError:
    """Return the error for what the server or its client said, which is shown without a password."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = harmless(url.without_secrets("; ".join(lines)), 600) or type(error).__name__
    return SixfoldError(f"the database cannot be read: {cause}", place=url.place, remedy=remedy)


def _check(database: Connection[Any], place: str) -> None:
    """Raise `SixfoldError` unless the tables are real ones, of known types and of a known version."""
    for table, wanted in _TABLES.items():
        rows = database.execute(_COLUMNS, (table,)).fetchall()
        if not rows:
            raise _of_another_kind(f"there is no table `{table}`", place)
        # A view or a foreign table would run what somebody has defined, with the rights of the reader.
        if rows[0][0] not in ("r", "p"):
            raise _of_another_kind(f"`{table}` is no table", place)
        columns = {name: kind for _, name, kind in rows}
        for name, kind in wanted.items():
            if columns.get(name) != kind:
                found = f"is {columns[name]}, not {kind}" if name in columns else "is missing"
                raise _of_another_kind(f"the column `{name}` of `{table}` {found}", place)
    [[newest]] = database.execute("SELECT MAX(v) FROM checkpoint_migrations").fetchall()
    if newest is not None and newest > NEWEST_SCHEMA:
        raise SixfoldError(
            f"the tables are of version {newest}, and this Sixfold reads up to {NEWEST_SCHEMA}",
            place=place,
            remedy="Install a later version of Sixfold.",
        )


def _of_another_kind(cause: str, place: str) -> SixfoldError:
    return SixfoldError(
        harmless(cause, 300),
        place=place,
        remedy="Give a database that PostgresSaver of langgraph-checkpoint-postgres has set up (not the "
        "shallow one); for tables in a schema of their own, add ?options=-csearch_path%3DSCHEMA to the URL.",
    )


def _threads(
    database: Connection[Any], place: str, thread: str | None, skipped: list[Unread]
) -> Iterator[Conversation]:
    return read_each(
        database.execute(_NEWEST, {"thread": thread, "most": None}).fetchall(),
        lambda name, newest: _conversation(database, place, name, newest),
        place=place,
        thread=thread,
        others=lambda: [row[0] for row in database.execute(_NEWEST, {"thread": None, "most": 5}).fetchall()],
        skipped=skipped,
    )


def _conversation(database: Connection[Any], place: str, name: str, newest: str) -> Conversation:
    where = f"{place}, thread {name}"
    asked = {"thread": name, "newest": newest, "most": MAX_BYTES}
    row = database.execute(_MESSAGES, asked).fetchone()
    if row is None:
        messages = whole(None, where)
    else:
        kind, size, stored = row
        if size is not None and size > MAX_BYTES:
            raise too_large(f"its messages have {size:,} bytes", where, MAX_BYTES)
        messages = whole(decoded(kind, stored, where), where)
    [pending] = database.execute(_PENDING, (name, newest)).fetchone() or (0,)
    remarks = (f"{pending} × write that was still pending",) if pending else ()
    return Conversation(name, messages, remarks)
