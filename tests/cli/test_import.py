"""`sixfold import`: histories of real applications become scenarios that are played and shrunk."""

import json
import pickle
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from sixfold.harness import foreign
from sixfold.harness.scenario import load
from sixfold.harness.steps import UserTurn

from ..applications import application, row, talk, write
from ..reports.runs import HOSTILE as HOSTILE_TEXT
from .conftest import Sixfold

PRIVATE = ("confidential", "invoice", "overdue", "Hofstadter", "quickly", "please")
ASK = {"role": "user", "content": "please"}
SAY = {"role": "assistant", "content": "overdue"}


def private(text: str) -> list[str]:
    return [word for word in PRIVATE if word in text]


def written(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_violation_hidden_in_one_of_many_threads_is_found_and_shrunk(
    sixfold: Sixfold, tmp_path: Path
) -> None:
    database = application(tmp_path / "app.sqlite", 20, two_messages_in=13)
    before = database.read_bytes()
    done = sixfold("import", str(database), "--into", "told", "--on", "deerflow-4667")
    assert done.code == 1, done.err
    assert len(written(tmp_path / "told")) == 20
    assert "thread-13\n  9 messages, 2 turns, 2 tool calls → told/" in done.out
    assert "2.reorder" in done.out
    assert not any(private(path.read_text()) for path in written(tmp_path / "told"))
    found = sorted((tmp_path / ".sixfold/runs/latest/scenarios").glob("SF-*.json"))
    assert found
    for path in found:
        [turn] = load(path).steps
        assert isinstance(turn, UserTurn)
        assert (len(turn.messages), turn.rounds) == (2, ())
        assert sixfold("replay", str(path), "deerflow-4667").code == 1
        assert sixfold("replay", str(path), "deerflow").code == 0
    assert database.read_bytes() == before


def test_two_hundred_threads(sixfold: Sixfold, tmp_path: Path) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="the package is not installed")
    with closing(sqlite3.connect(tmp_path / "app.sqlite", check_same_thread=False)) as connection:
        talk(sqlite.SqliteSaver(connection), 200, two_messages_in=150)
    done = sixfold("import", "app.sqlite", "--redact", "--into", "told", "--on", "deerflow-4667")
    assert done.code == 1
    assert len(written(tmp_path / "told")) == 400
    assert "2.reorder" in done.out
    for path in [*written(tmp_path / "told"), *written(tmp_path / ".sixfold")]:
        assert not private(path.read_text())


def test_the_checkpointer_itself_writes_what_is_read(sixfold: Sixfold, tmp_path: Path) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="the package is not installed")
    with closing(sqlite3.connect(tmp_path / "real.sqlite", check_same_thread=False)) as connection:
        talk(sqlite.SqliteSaver(connection), 20, two_messages_in=3)
        # The connection is still open, as that of a running application would be.
        assert sixfold("import", "real.sqlite", "--into", "real").code == 0
    application(tmp_path / "made.sqlite", 20, two_messages_in=3)
    assert sixfold("import", "made.sqlite", "--into", "made").code == 0
    both = [[path.read_text() for path in written(tmp_path / name)] for name in ("real", "made")]
    assert both[0] == both[1]
    assert len(both[0]) == 20


def test_one_thread_alone(sixfold: Sixfold, tmp_path: Path) -> None:
    application(tmp_path / "app.sqlite", 12)
    assert sixfold("import", "app.sqlite", "--thread", "thread-7", "--into", "told").code == 0
    [path] = written(tmp_path / "told")
    assert sixfold("replay", str(path), "control").code == 0


def test_redacted_files_hold_no_word_and_import_as_the_same(sixfold: Sixfold, tmp_path: Path) -> None:
    application(tmp_path / "app.sqlite", 3, two_messages_in=1)
    done = sixfold("import", "app.sqlite", "--redact", "--into", "told")
    assert done.code == 0
    assert "thread-" not in done.out
    files = written(tmp_path / "told")
    assert [path.name for path in files] == [
        f"000{n}{end}" for n in (1, 2, 3) for end in (".json", ".redacted.json")
    ]
    for path in files:
        assert not private(path.read_text())
    assert sixfold("import", str(files[3]), "--into", "again").code == 0
    [again] = written(tmp_path / "again")
    assert load(again) == load(files[2])


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ASK, SAY]),
        json.dumps({"messages": [ASK, SAY]}),
        json.dumps({"messages": [ASK, SAY]}) + "\n" + json.dumps([ASK, SAY]) + "\n",
        json.dumps([[ASK, SAY], {"values": {"messages": [ASK, SAY]}}]),
        json.dumps([["user", "please"], ["ai", "overdue"]]),
    ],
)
def test_layouts_of_json(sixfold: Sixfold, tmp_path: Path, text: str) -> None:
    (tmp_path / "dump.json").write_text(text)
    done = sixfold("import", "dump.json", "--into", "told")
    assert done.code == 0, done.err
    for path in written(tmp_path / "told"):
        [turn] = load(path).steps
        assert isinstance(turn, UserTurn)
        assert turn.stop is None
        assert sixfold("replay", str(path)).code == 0


class _Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def _extension(code: int, mark: Path) -> bytes:
    command = f"touch {mark}"
    argument = [command] if code == 1 else command
    inner = ormsgpack.packb(["os", "system", argument, "system"])
    checkpoint = {"channel_values": {"messages": [ormsgpack.Ext(code, inner)]}}
    return ormsgpack.packb(checkpoint)


def _constructor(version: int, path: list[str], mark: Path) -> bytes:
    evil = {
        "lc": version,
        "type": "constructor",
        "id": path,
        "args": [f"touch {mark}"],
        "kwargs": {"command": f"touch {mark}"},
    }
    return json.dumps({"channel_values": {"messages": [evil]}}).encode()


HOSTILE: dict[str, Callable[[Path], tuple[str, bytes]]] = {
    "pickle": lambda mark: ("pickle", pickle.dumps(_Evil(mark))),
    "pickle called msgpack": lambda mark: ("msgpack", pickle.dumps(_Evil(mark))),
    **{f"extension {code}": lambda mark, code=code: ("msgpack", _extension(code, mark)) for code in range(9)},
    "lc 1": lambda mark: ("json", _constructor(1, ["os", "system"], mark)),
    "lc 2": lambda mark: ("json", _constructor(2, ["os", "system"], mark)),
    "lc 2 of a message module": lambda mark: (
        "json",
        _constructor(2, ["langchain_core", "messages", "utils", "os", "system"], mark),
    ),
    "deep msgpack": lambda _: ("msgpack", b"\x91" * 900 + b"\xc0"),
    "deep json": lambda _: ("json", b"[" * 100_000),
    "encrypted": lambda _: ("msgpack+aes", b"xyz"),
}


@pytest.mark.parametrize("name", ["pickle", "extension 0", "extension 1"])
def test_the_hostile_payloads_are_real(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "executed"
    readers = JsonPlusSerializer(pickle_fallback=True, allowed_msgpack_modules=True)
    readers.loads_typed(HOSTILE[name](mark))
    assert mark.exists()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_checkpoint_executes_nothing(sixfold: Sixfold, tmp_path: Path, name: str) -> None:
    mark = tmp_path / "executed"
    write(tmp_path / "evil.sqlite", [row(*HOSTILE[name](mark))])
    done = sixfold("import", "evil.sqlite", "--into", "told")
    assert (done.code, mark.exists(), (tmp_path / "told").exists()) == (3, False, False)
    assert "remedy:" in done.err


@pytest.mark.parametrize("kind", HOSTILE_TEXT)
def test_hostile_words_names_and_ids_go_nowhere(sixfold: Sixfold, tmp_path: Path, kind: str) -> None:
    text = HOSTILE_TEXT[kind]
    called = {"id": text, "type": "function", "function": {"name": text, "arguments": text}}
    messages = [
        {"role": "user", "content": text, "id": text, "name": text},
        {"role": "assistant", "content": text, "tool_calls": [called]},
        {"role": "tool", "content": text, "tool_call_id": text, "name": text},
        {"role": "assistant", "content": [{"type": text, text: text}, {"type": "text", "text": text}]},
    ]
    (tmp_path / "dump.json").write_text(json.dumps({"thread_id": text, "messages": messages}))
    for options in ((), ("--redact",)):
        done = sixfold("import", "dump.json", "--into", "told", *options)
        assert done.code == 0, done.err
        assert not re.search(
            r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]", done.out
        )
        assert len(done.out) < 2_000
    for path in written(tmp_path / "told"):
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,80}", path.name)
        told = json.dumps(json.loads(path.read_text()))
        assert len(text) < 2 or json.dumps(text)[1:-1] not in told


def test_a_damaged_thread_does_not_hide_the_others(sixfold: Sixfold, tmp_path: Path) -> None:
    database = application(tmp_path / "app.sqlite", 2)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row("pickle", b"", "\x1b[1m")
        )
        connection.commit()
    done = sixfold("import", "app.sqlite", "--into", "told")
    assert done.code == 0
    assert len(written(tmp_path / "told")) == 2
    assert "not read: �[1m: the checkpoint is stored as 'pickle', which is not read" in done.out


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "not valid JSON"),
        (b"{}", "no list of messages"),
        (b"[]", "is empty"),
        (b'[{"role": "user", "content": "x"}, {"what": 1}]', "message 1 is of no known shape"),
        (b'[{"role": "user", "content": "x"}]\n[{', "not valid JSON"),
        (b"\xff\xfe", "not text"),
        (b"[" * 50_000, "not valid JSON"),
        (b'[{"role": "assistant", "content": "x"}]', "no conversation has a message of the user"),
        (b"SQLite format 3\0" + b"x" * 5000, "cannot be read"),
    ],
)
def test_bad_files_are_explained(sixfold: Sixfold, tmp_path: Path, content: bytes, cause: str) -> None:
    (tmp_path / "bad").write_bytes(content)
    done = sixfold("import", "bad", "--into", "told")
    assert done.code == 3
    assert cause in done.err
    assert "remedy:" in done.err
    assert not (tmp_path / "told").exists()


def test_other_databases_missing_threads_and_files_are_explained(sixfold: Sixfold, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    assert "no table `checkpoints`" in sixfold("import", "other.sqlite").err
    with closing(sqlite3.connect(tmp_path / "view.sqlite")) as connection:
        connection.execute("CREATE VIEW checkpoints AS SELECT 1 AS thread_id")
        connection.commit()
    assert "no table `checkpoints`" in sixfold("import", "view.sqlite").err
    application(tmp_path / "app.sqlite", 2)
    done = sixfold("import", "app.sqlite", "--thread", "nobody")
    assert (done.code, "no thread 'nobody'" in done.err, "thread-0" in done.err) == (3, True, True)
    assert sixfold("import", "nowhere.json").code == 3


@pytest.mark.parametrize("url", ["mysql://me:s3cret@host/db", "postgresql://me:s3cret/x@host/db"])
def test_a_url_that_is_not_read_is_not_shown(sixfold: Sixfold, url: str) -> None:
    done = sixfold("import", url)
    assert (done.code, "remedy: Write postgresql://USER" in done.err) == (3, True)
    assert "s3cret" not in done.out + done.err


def test_a_missing_client_of_postgresql_is_explained(
    sixfold: Sixfold, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    done = sixfold("import", "postgresql://me:s3cret@host/db")
    assert (done.code, "pip install 'sixfold[postgres]'" in done.err) == (3, True)
    assert "s3cret" not in done.out + done.err


def test_huge_files_are_bounded(sixfold: Sixfold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump.json").write_text(json.dumps([ASK] * 9))
    monkeypatch.setattr(foreign, "MAX_MESSAGES", 8)
    assert "At most 8 messages are read" in sixfold("import", "dump.json").err
    monkeypatch.setattr(foreign, "MAX_BYTES", 100)
    assert "At most 100 bytes are read" in sixfold("import", "dump.json").err
