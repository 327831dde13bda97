"""Hypothesis' example database for a fleet: failures that one machine found are played first on all others.

Without it, Hypothesis keeps examples in a folder beside the tests. A database is a cache: the corpus of
scenario files, and the findings ledger of nights, are what counts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase, InMemoryExampleDatabase

from ..harness.errors import SixfoldError

#: Schemes of URLs that the client of Redis reads.
_SCHEMES = ("redis://", "rediss://", "unix://")

#: What the keys of Sixfold begin with: a Redis is often shared.
_PREFIX = b"sixfold-example:"

#: Seconds in which a Redis answers, or there is none.
_PATIENCE = 5.0

_PROFILE = "sixfold-example-database"

T = TypeVar("T")


def open_database(where: str) -> ExampleDatabase:
    """Return the database at the URL of a Redis, or in a folder.

    Raises `SixfoldError` when the Redis does not answer, or its client is not installed. A password that
    stands in the URL is not shown.
    """
    if not where.startswith(_SCHEMES):
        if "://" in where:
            raise SixfoldError(
                "only a Redis, or a folder, can hold examples",
                place=f"--sixfold-database {where.partition('://')[0]}://…",
                remedy="Write redis://HOST:PORT/0, or the path of a folder.",
            )
        return DirectoryBasedExampleDatabase(Path(where))
    place = f"--sixfold-database {_shown(where)}"
    try:
        from hypothesis.extra.redis import RedisExampleDatabase
        from redis import Redis, RedisError
    except ImportError as error:
        raise SixfoldError(
            "the client of Redis is not installed", place=place, remedy="pip install 'sixfold[redis]'"
        ) from error
    try:
        redis = Redis.from_url(where, socket_connect_timeout=_PATIENCE, socket_timeout=_PATIENCE)
        redis.ping()
    except (RedisError, OSError, ValueError) as error:
        # What the client says may repeat the URL, and so the password.
        raise SixfoldError(
            f"the Redis does not answer: {type(error).__name__}",
            place=place,
            remedy="Check that it runs, its address, and user and password in the URL.",
        ) from error
    return WhileItAnswers(RedisExampleDatabase(redis, key_prefix=_PREFIX), (RedisError, OSError), place)


class WhileItAnswers(ExampleDatabase):
    """A database that may go away: from then on examples are kept in memory, and a warning says so.

    It is a cache, and no test fails for the want of it. `gone` are the errors by which it says that it is
    away, and `place` says in the warning where it was.
    """

    def __init__(self, database: ExampleDatabase, gone: tuple[type[Exception], ...], place: str) -> None:
        super().__init__()
        self._database = database
        self._gone = gone
        self._place = place

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples of a key."""
        return self._asked(lambda database: list(database.fetch(key)))

    def save(self, key: bytes, value: bytes) -> None:
        """Keep an example."""
        self._asked(lambda database: database.save(key, value))

    def delete(self, key: bytes, value: bytes) -> None:
        """Forget an example."""
        self._asked(lambda database: database.delete(key, value))

    def move(self, src: bytes, dest: bytes, value: bytes) -> None:
        """Keep an example under another key."""
        self._asked(lambda database: database.move(src, dest, value))

    def _asked(self, question: Callable[[ExampleDatabase], T]) -> T:
        try:
            return question(self._database)
        except self._gone as error:
            # What the client says may repeat the URL, and so the password.
            warnings.warn(
                f"{self._place}: the Redis does not answer any more ({type(error).__name__}); "
                "examples are not shared from here on",
                stacklevel=2,
            )
            self._database = InMemoryExampleDatabase()
            return question(self._database)


def _shown(url: str) -> str:
    """Return the URL without user, password and options, whatever is wrong with it."""
    scheme, _, rest = url.partition("://")
    address = rest.rpartition("@")[2]
    return f"{scheme}://{re.split('[?#]', address)[0]}"


def use_database(where: str) -> None:
    """Let all tests keep their examples there, whatever profile they have. Raises as `open_database`."""
    settings.register_profile(_PROFILE, parent=settings.default, database=open_database(where))
    settings.load_profile(_PROFILE)
