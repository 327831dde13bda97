"""The example database: what one machine found is played first on another, through a Redis or a folder."""

import importlib.util
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis.database import InMemoryExampleDatabase

from sixfold.cli.example_database import WhileItAnswers, open_database
from sixfold.harness.errors import SixfoldError

SUITE = """
from hypothesis import Phase, given, settings, strategies as st

@settings(phases={phases})
@given(st.integers(0, 10**6))
def test_small(number):
    assert number < 1000
"""

needs_redis = pytest.mark.skipif(
    importlib.util.find_spec("redis") is None, reason="the client of Redis (extra redis) is not installed"
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Give the URL of a Redis of our own."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                with socket.socket() as line:
                    if line.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


def played(folder: Path, where: str, phases: str) -> str:
    """Run the suite on a machine of its own, and return what pytest said."""
    folder.mkdir(exist_ok=True)
    (folder / "test_suite.py").write_text(textwrap.dedent(SUITE.format(phases=phases)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-p", "sixfold.cli.pytest_plugin"] if not _is_installed() else []
    command += [f"--sixfold-database={where}", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return bool(entry_points(group="pytest11", name="sixfold"))


def shares(tmp_path: Path, where: str) -> bool:
    """Tell whether a second machine, which draws nothing, fails with what the first one found."""
    # Hypothesis skips a test that has nothing to play.
    assert "1 skipped" in played(tmp_path / "second", where, "[Phase.reuse]")
    assert "1 failed" in played(tmp_path / "first", where, "[Phase.generate, Phase.shrink]")
    return "number=1000" in played(tmp_path / "second", where, "[Phase.reuse]")


@needs_redis
@pytest.mark.slow
def test_machines_share_examples_through_a_redis(tmp_path: Path, server: str) -> None:
    assert shares(tmp_path, server)


@pytest.mark.slow
def test_machines_share_examples_through_a_folder(tmp_path: Path) -> None:
    assert shares(tmp_path, str(tmp_path / "examples"))


@pytest.mark.parametrize("url", ["redis://:pa/secret@127.0.0.1:1/0", "redis://:secret#@[bad/0"])
def test_url_that_nobody_can_read_is_told_without_the_password(url: str) -> None:
    with pytest.raises(SixfoldError) as raised:
        open_database(url)
    assert "secret" not in str(raised.value)


@needs_redis
def test_redis_that_does_not_answer_is_told_without_the_password() -> None:
    with pytest.raises(SixfoldError, match="does not answer") as raised:
        open_database("redis://me:secret@127.0.0.1:1/0?password=secret")
    assert raised.value.place == "--sixfold-database redis://127.0.0.1:1/0"
    assert "secret" not in str(raised.value)


class Fleeting(InMemoryExampleDatabase):
    """Goes away after a number of questions."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.left = questions

    def fetch(self, key: bytes) -> Iterator[bytes]:
        yield from super().fetch(key)
        self.asked()

    def save(self, key: bytes, value: bytes) -> None:
        self.asked()
        super().save(key, value)

    def asked(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ConnectionError("redis://me:secret@host")


def test_database_that_goes_away_is_told_once_and_missed_by_no_test() -> None:
    database = WhileItAnswers(Fleeting(2), (OSError,), "--sixfold-database redis://host")
    database.save(b"key", b"shared")
    assert list(database.fetch(b"key")) == [b"shared"]
    with pytest.warns(UserWarning, match="not shared from here on") as told:
        assert list(database.fetch(b"key")) == []
    assert "secret" not in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        database.save(b"key", b"own")
        database.move(b"key", b"other", b"own")
        assert list(database.fetch(b"other")) == [b"own"]
        database.delete(b"other", b"own")
        assert list(database.fetch(b"other")) == []


def test_errors_that_are_no_farewell_are_raised() -> None:
    database = WhileItAnswers(Fleeting(0), (ValueError,), "somewhere")
    with pytest.raises(ConnectionError):
        database.save(b"key", b"value")


def test_other_databases_are_refused() -> None:
    with pytest.raises(SixfoldError, match="only a Redis") as raised:
        open_database("postgresql://me:secret@db/examples")
    assert "secret" not in str(raised.value)


def test_missing_client_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.delitem(sys.modules, "hypothesis.extra.redis", raising=False)
    with pytest.raises(SixfoldError, match="not installed") as raised:
        open_database("redis://127.0.0.1/0")
    assert "sixfold[redis]" in raised.value.remedy
