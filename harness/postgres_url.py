"""URLs of PostgreSQL databases: what may be shown of them, and what may not.

A URL may hold a password. It is told without, everywhere; a URL that cannot be read is not shown at all,
for then nobody knows which part of it is the password.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from .errors import SixfoldError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_POSTGRES = ("postgresql://", "postgres://")
_SECRET = ("password", "sslpassword")

#: Shorter secrets are not looked for in texts: they stand in them by chance.
_SHORTEST_SECRET = 4


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """A URL that has been read. `place` is what is shown of it; `parameters` are those of libpq."""

    place: str
    parameters: dict[str, Any] = field(repr=False)

    @property
    def database(self) -> str:
        """The name of the database, for names of files."""
        return str(self.parameters.get("dbname") or "postgres")

    def without_secrets(self, text: str) -> str:
        """Return a text of the server or its client without a secret of the URL."""
        for name in _SECRET:
            secret = str(self.parameters.get(name, ""))
            if len(secret) >= _SHORTEST_SECRET and secret not in self.place:
                text = text.replace(secret, "…")
        return text


def is_url(text: str) -> bool:
    """Tell whether the text is a URL, of whatever kind, and no path of a file."""
    return _SCHEME.match(text) is not None


def read_url(text: str) -> PostgresUrl:
    """Read the URL of a PostgreSQL database.

    Raises `SixfoldError`, which shows nothing of the URL, when it is of another kind or cannot be read.
    """
    scheme = next((each for each in _POSTGRES if text.startswith(each)), None)
    if scheme is None:
        raise SixfoldError(
            "only URLs of PostgreSQL are read",
            place="the URL that was given",
            remedy="Write postgresql://USER@HOST:PORT/DATABASE, or give a file.",
        )
    rest, _, query = text[len(scheme) :].partition("?")
    # libpq would take the piece of a password behind such a character for a host, and show it.
    if "@" in query or re.search(r"[/@#]", rest.rpartition("@")[0]):
        raise _unreadable("user, password or an option holds one of / @ ? #, which must be percent-encoded")
    if "#" in rest or re.search(r"%(?![0-9A-Fa-f]{2})", rest + query) or "\0" in unquote(rest + query):
        raise _unreadable("it is not percent-encoded as a URL must be")
    user, _, where = rest.rpartition("@")
    hosts, _, database = where.partition("/")
    name, _, password = user.partition(":")
    parameters = dict(parse_qsl(query.replace("+", "%2B"), keep_blank_values=True))
    addresses = [_address(each) for each in hosts.split(",")] if hosts else []
    told = {
        "user": unquote(name),
        "password": unquote(password),
        "host": ",".join(host for host, _ in addresses),
        "port": ",".join(port for _, port in addresses) if any(port for _, port in addresses) else "",
        "dbname": unquote(database),
    }
    parameters = {**{key: value for key, value in told.items() if value}, **parameters}
    return PostgresUrl(_shown(parameters), parameters)


def _address(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.%]*\]|[^:\[\]]*)(?::([0-9]*))?", text)
    if match is None:
        raise _unreadable("its host and port are not HOST:PORT")
    return unquote(match.group(1)).strip("[]"), match.group(2) or ""


def _shown(parameters: dict[str, Any]) -> str:
    user, host, port = (str(parameters.get(key, "")) for key in ("user", "host", "port"))
    at = f"{user}@" if user else ""
    return f"postgresql://{at}{host}{f':{port}' if port else ''}/{parameters.get('dbname', '')}"


def _unreadable(cause: str) -> SixfoldError:
    return SixfoldError(
        f"the URL cannot be read: {cause}",
        place="the URL that was given (not shown, as it may hold a password)",
        remedy="Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with / @ ? # % as %2F %40 %3F %23 %25, "
        "or leave the password out and name it in PGPASSWORD or ~/.pgpass.",
    )
