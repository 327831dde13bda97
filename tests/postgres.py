"""A PostgreSQL server of its own for tests: in a temporary folder, on a Unix socket, with a password."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PASSWORD = "s3cret/p@ss?w#rd:%"

#: Where Debian puts the programs of a server, which are not on the PATH there.
_DEBIAN = Path("/usr/lib/postgresql")

#: Users that a server can run as when the tests run as root, which a server refuses.
_USERS = ("postgres", "nobody")


@dataclass(frozen=True)
class Server:
    """A server that runs; `folder` holds its socket."""

    folder: Path

    def url(self, database: str = "postgres", *, user: str = "owner", password: str = PASSWORD) -> str:
        """Return the URL of a database, with the password in it."""
        host = quote(str(self.folder), safe="")
        return f"postgresql://{user}:{quote(password, safe='')}@{host}/{database}"


def programs() -> Path | None:
    """Return the folder with initdb and pg_ctl, None when no server is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(_DEBIAN.glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


def _as_another(folder: Path) -> list[str]:
    """Return how a command is begun that must not run as root; the folder is given to that user."""
    if os.geteuid():
        return []
    for user in _USERS:
        if subprocess.run(["id", user], capture_output=True, check=False).returncode == 0:
            shutil.chown(folder, user)
            return ["runuser", "-u", user, "--"]
    raise RuntimeError(f"a server cannot run as root, and there is no user {' or '.join(_USERS)}")


@contextmanager
def server() -> Iterator[Server]:
    """Start a server and stop it behind the block. Its data is deleted; nothing listens on a network."""
    binaries = programs()
    assert binaries is not None, "no server is installed"
    # A socket's path has at most 107 characters, which pytest's folders are too long for.
    with tempfile.TemporaryDirectory(prefix="sixfold-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        secret = folder / "password"
        secret.write_text(PASSWORD + "\n", encoding="utf-8")
        secret.chmod(0o644)
        begin = _as_another(folder)
        data, log = folder / "data", folder / "log"

        def run(program: str, *arguments: str) -> None:
            command = [*begin, str(binaries / program), *arguments]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            said = log.read_text(encoding="utf-8") if log.exists() else ""
            assert done.returncode == 0, f"{program}: {done.stderr[-1000:]}{said[-1000:]}"

        run(
            "initdb",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C",
            "--username=owner",
            "--auth=scram-sha-256",
            f"--pwfile={secret}",
            f"--pgdata={data}",
        )
        options = f"-c listen_addresses= -c fsync=off -c unix_socket_directories={folder}"
        # pg_ctl hands its output on to the server, which would keep a pipe open.
        run("pg_ctl", "start", "-w", f"--pgdata={data}", f"--log={log}", f"--options={options}")
        try:
            yield Server(folder)
        finally:
            run("pg_ctl", "stop", "--mode=immediate", f"--pgdata={data}")
