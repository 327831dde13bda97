"""Checkpoints: the conversations in a SQLite database of langgraph-checkpoint-sqlite.

Of each thread the newest checkpoint of the root graph is read, and of that the channel `messages`. The
database is opened read-only, and what is stored in it is decoded as data (`inert`), never revived.
Source of the format: `langgraph.checkpoint.sqlite`, `langgraph.checkpoint.serde.jsonplus`.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import SixfoldError
from .foreign import MAX_BYTES, Conversation, bounded, checked, too_large
from .inert import DecodeError, Inert, from_json, from_msgpack

_MAGIC = b"SQLite format 3\0"
_COLUMNS = {"thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"}
_NEWEST = """
    SELECT thread_id, MAX(checkpoint_id) FROM checkpoints
    WHERE checkpoint_ns = '' AND (?1 IS NULL OR thread_id = ?1) GROUP BY thread_id ORDER BY thread_id
"""
_ROW = """
    SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?
"""
_PENDING = """
    SELECT COUNT(*) FROM writes
    WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ? AND channel = 'messages'
"""


@dataclass(frozen=True, slots=True)
class Unread:
    """A thread that cannot be read, and why; the reason names no thread."""

    thread: str
    cause: str


def none_read(skipped: list[Unread], place: str) -> SixfoldError:
    """Return the error for a database of which no thread has been read."""
    if not skipped:
        cause = "there is no checkpoint of any thread"
        return SixfoldError(cause, place=place, remedy="Run the application once with this checkpointer.")
    first = skipped[0]
    return SixfoldError(
        f"no thread can be read: {first.cause}",
        place=f"{place}, thread {first.thread}",
        remedy="Import a database that holds other threads, too.",
    )


def is_database(path: Path) -> bool:
    """Tell whether the file is a SQLite database."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def from_checkpoints(path: Path, thread: str | None = None) -> tuple[list[Conversation], list[Unread]]:
    """Read the newest checkpoint of each thread, or of `thread` alone.

    Returns the conversations, and what cannot be read. Raises `SixfoldError`
    when the database is damaged or of another kind, there is no such thread, or none can be read.
    """
    place = str(path)
    skipped: list[Unread] = []
    try:
        with closing(_opened(path)) as database:
            _check(database, place)
            found = list(bounded(_threads(database, place, thread, skipped), place))
    except sqlite3.Error as error:
        raise SixfoldError(
            f"the database cannot be read: {error}",
            place=place,
            remedy="Give a copy that `PRAGMA integrity_check` finds sound, with its -wal file beside it.",
        ) from error
    if not found:
        raise none_read(skipped, place)
    return found, skipped


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    if sys.version_info >= (3, 11):  # before, only the library's own limit
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
    # A schema may hold views and functions: what it brings along must not run.
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    return database


def _check(database: sqlite3.Connection, place: str) -> None:
    """Raise `SixfoldError` unless there is a real table of checkpoints with the columns that are read."""
    kinds = "SELECT type FROM sqlite_master WHERE name = 'checkpoints' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    real = database.execute(kinds).fetchall() == [("table",)]
    columns = {row[1] for row in database.execute("PRAGMA table_info(checkpoints)")} if real else set()
    if not columns >= _COLUMNS:
        missing = ", ".join(sorted(_COLUMNS - columns))
        raise SixfoldError(
            f"the table `checkpoints` has no {missing}" if real else "there is no table `checkpoints`",
            place=place,
            remedy="Give a database that langgraph-checkpoint-sqlite wrote.",
        )


def _threads(
    database: sqlite3.Connection, place: str, thread: str | None, skipped: list[Unread]
) -> Iterator[Conversation]:
    return read_each(
        database.execute(_NEWEST, (thread,)).fetchall(),
        lambda name, newest: _conversation(database, place, name, newest),
        place=place,
        thread=thread,
        others=lambda: [str(row[0]) for row in database.execute(_NEWEST + " LIMIT 5", (None,))],
        skipped=skipped,
    )


def read_each(
    rows: Sequence[tuple[Any, Any]],
    read: Callable[[Any, Any], Conversation],
    *,
    place: str,
    thread: str | None,
    others: Callable[[], list[str]],
    skipped: list[Unread],
) -> Iterator[Conversation]:
    """Yield the conversation of each thread: `rows` are their names, each with its newest checkpoint.

    Raises `SixfoldError` when the one `thread` that is wanted is not there (`others` names some that are) or
    cannot be read; of all threads, those that cannot are `skipped`.
    """
    if thread is not None and not rows:
        known = others()
        raise SixfoldError(
            f"there is no thread {thread!r}",
            place=place,
            remedy=f"There are {', '.join(known)}, …" if known else "There are no threads at all.",
        )
    for name, newest in rows:
        try:
            yield read(name, newest)
        except SixfoldError as error:
            if thread is not None:
                raise
            skipped.append(Unread(str(name), error.cause))


def _conversation(database: sqlite3.Connection, place: str, name: Any, newest: Any) -> Conversation:
    where = f"{place}, thread {name}"
    try:
        kind, stored = database.execute(_ROW, (name, newest)).fetchone()
    except sqlite3.DataError as error:
        raise too_large("its newest checkpoint is too large", where, MAX_BYTES) from error
    messages = _messages(decoded(kind, stored, where), where)
    tables = database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'writes'")
    pending = database.execute(_PENDING, (name, newest)).fetchone()[0] if tables.fetchone() else 0
    remarks = (f"{pending} × write that was still pending",) if pending else ()
    return Conversation(str(name), messages, remarks)


def decoded(kind: Any, stored: Any, place: str) -> Any:
    """Return what a saver's serialiser stored as `kind`, as plain data. Raises `SixfoldError`."""
    readers = {"msgpack": from_msgpack, "json": from_json}
    if kind not in readers or not isinstance(stored, (bytes, str)):
        raise SixfoldError(
            f"the checkpoint is stored as {kind!r}, which is not read",
            place=place,
            remedy="Only msgpack and JSON are read: reading a pickle or an encrypted one would run code "
            "or need keys.",
        )
    try:
        return readers[kind](stored if isinstance(stored, bytes) else stored.encode())
    except DecodeError as error:
        raise SixfoldError(
            f"the checkpoint is damaged: {error}", place=place, remedy="Leave this thread out."
        ) from error


def _messages(checkpoint: Any, place: str) -> tuple[Any, ...]:
    values = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else None
    messages = values.get("messages") if isinstance(values, dict) else None
    return whole(messages, place)


def whole(messages: Any, place: str) -> tuple[Any, ...]:
    """Return the value of a channel `messages`. Raises `SixfoldError` when it is no list of messages."""
    if isinstance(messages, list):
        return checked(messages, place)
    what = f" but {messages.what}" if isinstance(messages, Inert) else ""
    raise SixfoldError(
        f"the newest checkpoint has no list of messages{what}",
        place=place,
        remedy="Only whole `messages` channels are read: not those stored as deltas, nor other channels.",
    )
