"""`sixfold import postgresql://…`: the tables of a real PostgresSaver on a real server."""

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

import pytest

from sixfold.harness.scenario import load
from sixfold.harness.steps import UserTurn

from ..applications import application, talk
from ..postgres import PASSWORD, Server, programs, server
from .conftest import Sixfold
from .test_import import HOSTILE, private, written

psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
saving = pytest.importorskip("langgraph.checkpoint.postgres", reason="the extra `postgres` is not installed")
pytestmark = pytest.mark.skipif(programs() is None, reason="no PostgreSQL server (initdb) is installed")

#: What somebody could read off for the password, or for a part of it.
SECRETS = (PASSWORD, quote(PASSWORD, safe=""), "s3cret", "ss?w", "w#rd")


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with server() as started:
        yield started


@contextmanager
def database(running: Server, name: str) -> Iterator[Any]:
    """Create a database with the saver's tables, and yield a connection to it."""
    with psycopg.connect(running.url(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    with saving.PostgresSaver.from_conn_string(running.url(name)) as saver:
        saver.setup()
    with psycopg.connect(running.url(name), autocommit=True) as connection:
        yield connection


@pytest.fixture
def empty(running: Server, request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """An empty database of the test's own: its URL, and a connection."""
    name = f"db{crc32(request.node.nodeid.encode())}"
    with database(running, name) as connection:
        yield running.url(name), connection


@pytest.fixture(scope="module")
def app(running: Server) -> str:
    """The URL of a database that an application has written 20 threads to, one with two messages at once."""
    with database(running, "app"), saving.PostgresSaver.from_conn_string(running.url("app")) as saver:
        talk(saver, 20, two_messages_in=13)
    return running.url("app")


def dumped(url: str) -> list[tuple[Any, ...]]:
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "checkpoint_migrations")
    with psycopg.connect(url) as connection:
        return [row for table in tables for row in connection.execute(f"SELECT * FROM {table}").fetchall()]


def insert(connection: Any, kind: str, stored: bytes, thread: str = "evil") -> None:
    checkpoint = json.dumps({"v": 4, "channel_versions": {"messages": "1"}, "channel_values": {}})
    connection.execute(
        "INSERT INTO checkpoints VALUES (%s, '', '1', NULL, NULL, %s, '{}')", (thread, checkpoint)
    )
    connection.execute(
        "INSERT INTO checkpoint_blobs VALUES (%s, '', 'messages', '1', %s, %s)", (thread, kind, stored)
    )


def test_a_violation_hidden_in_one_of_many_threads_is_found_and_shrunk(
    sixfold: Sixfold, tmp_path: Path, app: str
) -> None:
    before = dumped(app)
    done = sixfold("import", app, "--on", "deerflow-4667")
    assert done.code == 1, done.err
    assert len(written(tmp_path / ".sixfold/imported/app")) == 20
    assert "thread-13\n  9 messages, 2 turns, 2 tool calls → .sixfold/imported/app/" in done.out
    found = sorted((tmp_path / ".sixfold/runs/latest/scenarios").glob("SF-*.json"))
    assert found
    for path in found:
        [turn] = load(path).steps
        assert isinstance(turn, UserTurn)
        assert (len(turn.messages), turn.rounds) == (2, ())
        assert sixfold("replay", str(path), "deerflow-4667").code == 1
        assert sixfold("replay", str(path), "deerflow").code == 0
    assert dumped(app) == before
    for path in written(tmp_path):
        text = path.read_text()
        assert not private(text)
        assert not any(secret in text for secret in SECRETS)
    assert not any(secret in done.out + done.err for secret in SECRETS)


def test_two_hundred_threads(sixfold: Sixfold, tmp_path: Path, running: Server) -> None:
    with database(running, "large"), saving.PostgresSaver.from_conn_string(running.url("large")) as saver:
        talk(saver, 200, two_messages_in=150)
    done = sixfold("import", running.url("large"), "--redact", "--into", "told", "--on", "deerflow-4667")
    assert done.code == 1
    assert len(written(tmp_path / "told")) == 400
    assert "2.reorder" in done.out
    assert not any(private(path.read_text()) for path in written(tmp_path))


def test_the_same_application_gives_the_same_scenarios_as_in_sqlite(
    sixfold: Sixfold, tmp_path: Path, app: str
) -> None:
    application(tmp_path / "app.sqlite", 20, two_messages_in=13)
    assert sixfold("import", "app.sqlite", "--into", "sqlite").code == 0
    assert sixfold("import", app, "--into", "postgres").code == 0
    texts = [
        {path.name: path.read_text() for path in written(tmp_path / name)} for name in ("sqlite", "postgres")
    ]
    assert texts[0] == texts[1]


def test_one_thread_alone(sixfold: Sixfold, tmp_path: Path, app: str) -> None:
    assert sixfold("import", app, "--thread", "thread-7", "--into", "told").code == 0
    assert len(written(tmp_path / "told")) == 1
    done = sixfold("import", app, "--thread", "nobody")
    assert (done.code, "no thread 'nobody'" in done.err, "thread-0, thread-1," in done.err) == (3, True, True)


def test_redacted_files_hold_no_word_and_import_as_the_same(
    sixfold: Sixfold, tmp_path: Path, app: str
) -> None:
    done = sixfold("import", app, "--redact", "--into", "told")
    assert done.code == 0
    assert "thread-" not in done.out + done.err
    files = written(tmp_path / "told")
    assert len(files) == 40
    assert not any(private(path.read_text()) for path in files)
    assert sixfold("import", str(files[1]), "--into", "again").code == 0
    assert load(written(tmp_path / "again")[0]) == load(files[0])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_checkpoint_executes_nothing(
    sixfold: Sixfold, tmp_path: Path, empty: tuple[str, Any], name: str
) -> None:
    url, connection = empty
    mark = tmp_path / "executed"
    kind, stored = HOSTILE[name](mark)
    insert(connection, kind, stored)
    done = sixfold("import", url, "--into", "told")
    assert (done.code, mark.exists(), (tmp_path / "told").exists()) == (3, False, False)
    assert "remedy:" in done.err


def test_a_damaged_thread_does_not_hide_the_others(
    sixfold: Sixfold, tmp_path: Path, empty: tuple[str, Any]
) -> None:
    url, connection = empty
    with saving.PostgresSaver.from_conn_string(url) as saver:
        talk(saver, 2, two_messages_in=-1)
    insert(connection, "pickle", pickle.dumps(1), "\x1b[1m")
    insert(connection, "msgpack", b"", "stored as deltas")
    connection.execute("DELETE FROM checkpoint_blobs WHERE thread_id = 'stored as deltas'")
    done = sixfold("import", url, "--into", "told")
    assert done.code == 0
    assert len(written(tmp_path / "told")) == 2
    assert "not read: �[1m: the checkpoint is stored as 'pickle', which is not read" in done.out
    assert "not read: stored as deltas: the newest checkpoint has no list of messages" in done.out
    assert "\x1b" not in done.out


def no_write(connection: Any) -> None:
    connection.execute("CREATE TABLE written (x int)")
    connection.execute(
        "CREATE FUNCTION evil() RETURNS text LANGUAGE plpgsql AS "
        "$$ BEGIN INSERT INTO written VALUES (1); RETURN ''; END $$"
    )


def test_a_view_or_a_policy_in_the_place_of_a_table_runs_nothing(
    sixfold: Sixfold, empty: tuple[str, Any], running: Server
) -> None:
    url, connection = empty
    no_write(connection)
    insert(connection, "json", b"[]")
    connection.execute("ALTER TABLE checkpoints RENAME TO real")
    connection.execute("CREATE VIEW checkpoints AS SELECT real.*, evil() FROM real")
    done = sixfold("import", url)
    assert (done.code, "`checkpoints` is no table" in done.err) == (3, True)
    connection.execute("DROP VIEW checkpoints; ALTER TABLE real RENAME TO checkpoints")
    connection.execute("CREATE ROLE reader LOGIN PASSWORD 'reader-secret'")
    connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    connection.execute("ALTER TABLE checkpoints ENABLE ROW LEVEL SECURITY")
    connection.execute("CREATE POLICY p ON checkpoints USING (evil() = '')")
    name = url.rpartition("/")[2]
    done = sixfold("import", running.url(name, user="reader", password="reader-secret"))
    assert (done.code, "row-level security" in done.err, "reader-secret" in done.err) == (3, True, False)
    assert connection.execute("SELECT * FROM written").fetchall() == []
    connection.execute("REVOKE ALL ON checkpoint_blobs FROM reader")
    connection.execute("ALTER TABLE checkpoints DISABLE ROW LEVEL SECURITY")
    done = sixfold("import", running.url(name, user="reader", password="reader-secret"))
    assert (done.code, "permission denied" in done.err, "Grant SELECT" in done.err) == (3, True, True)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ("DROP TABLE checkpoint_blobs", "there is no table `checkpoint_blobs`"),
        ("DROP TABLE checkpoint_migrations", "there is no table `checkpoint_migrations`"),
        (
            "ALTER TABLE checkpoint_blobs DROP COLUMN version",
            "the column `version` of `checkpoint_blobs` is missing",
        ),
        (
            "ALTER TABLE checkpoints ALTER checkpoint DROP DEFAULT, ALTER checkpoint TYPE text",
            "the column `checkpoint` of `checkpoints` is text, not jsonb",
        ),
        ("INSERT INTO checkpoint_migrations VALUES (10)", "the tables are of version 10"),
        ("SELECT 1", "there is no checkpoint of any thread"),
    ],
)
def test_other_tables_are_explained(
    sixfold: Sixfold, empty: tuple[str, Any], change: str, cause: str
) -> None:
    url, connection = empty
    connection.execute(change)
    done = sixfold("import", url)
    assert done.code == 3
    assert cause in done.err
    assert "remedy:" in done.err


def test_servers_that_cannot_be_reached_are_explained(sixfold: Sixfold, running: Server) -> None:
    wrong = sixfold("import", running.url(password="wr0ng-secret"))
    assert (wrong.code, "password authentication failed" in wrong.err) == (3, True)
    assert "remedy: Correct user and password" in wrong.err
    assert "wr0ng" not in wrong.err + wrong.out
    missing = sixfold("import", running.url("nowhere"))
    assert (missing.code, '"nowhere" does not exist' in missing.err) == (3, True)
    nobody = sixfold("import", f"postgresql://u:{quote(PASSWORD, safe='')}@127.0.0.1:1/db")
    assert (nobody.code, "remedy: Start the server" in nobody.err) == (3, True)
    odd = sixfold("import", f"{running.url()}?no_such_option=1")
    assert (odd.code, "no_such_option" in odd.err) == (3, True)
    for done in (wrong, missing, nobody, odd):
        assert not any(secret in done.out + done.err for secret in SECRETS)


def test_redaction_names_no_thread_in_errors(sixfold: Sixfold, app: str, empty: tuple[str, Any]) -> None:
    url, connection = empty
    insert(connection, "pickle", b"", "confidential-thread")
    for done in (sixfold("import", url, "--redact"), sixfold("import", app, "--redact", "--thread", "x")):
        assert done.code == 3
        assert "thread-" not in done.out + done.err
        assert "confidential" not in done.out + done.err


def test_large_values_are_bounded(sixfold: Sixfold, app: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sixfold.harness.checkpoints_postgres.MAX_BYTES", 100)
    done = sixfold("import", app, "--thread", "thread-1")
    assert (done.code, "At most 100 bytes are read" in done.err) == (3, True)
