"""Worktrees: commits of a git repository, checked out beside it and gone afterwards, whatever happens."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..harness.errors import SixfoldError
from ..harness.orphans import lives

_PREFIX = "sixfold-worktrees-"


def git(repository: Path, *arguments: str) -> str:
    """Return what git prints. Raises `SixfoldError` with what it complains of."""
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=True
        )
    except FileNotFoundError as error:
        raise SixfoldError("git is not installed", place="git", remedy="Install git.") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()
        raise SixfoldError(
            said[-1] if said else f"git exited with {error.returncode}",
            place=f"git {' '.join(arguments[:2])} in {repository}",
            remedy="Run it in the repository of the middleware, with commits, branches or tags that exist.",
        ) from error
    return done.stdout.rstrip("\n")


def root_of(folder: Path) -> Path:
    """Return the root of the repository around `folder`."""
    return Path(git(folder, "rev-parse", "--show-toplevel"))


def commit_of(repository: Path, ref: str) -> str:
    """Return the commit that `ref` names. Raises `SixfoldError` when it names none."""
    try:
        return git(repository, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    except SixfoldError as error:
        root = root_of(repository)  # without a repository this says so
        raise SixfoldError(
            f"{ref!r} names no commit",
            place=str(root),
            remedy="Name a branch, a tag or a commit that is here; `git fetch` brings what is not.",
        ) from error


def merge_base(repository: Path, one: str, other: str) -> str:
    """Return the commit in which two refs have parted."""
    return git(repository, "merge-base", "--", commit_of(repository, one), commit_of(repository, other))


def uncommitted(repository: Path) -> str:
    """Return a commit of what the working tree holds of tracked files; HEAD when nothing is changed."""
    return git(repository, "stash", "create") or commit_of(repository, "HEAD")


def copy_untracked(repository: Path, worktree: Path) -> None:
    """Copy files that git neither tracks nor ignores."""
    for name in git(repository, "ls-files", "-z", "--others", "--exclude-standard").split("\0"):
        source = repository / name
        if name and source.is_file():
            copy = worktree / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)


def _forget_orphans(repository: Path) -> None:
    """Remove what a command left behind that was killed before it could."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not lives(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
    git(repository, "worktree", "prune")


@contextmanager
def worktrees(repository: Path, commits: dict[str, str]) -> Iterator[dict[str, Path]]:
    """Check out commits, by name; yield the folders, by name; remove them behind the block."""
    _forget_orphans(repository)
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    folders: dict[str, Path] = {}
    try:
        for number, (name, commit) in enumerate(commits.items()):
            folders[name] = home / f"side-{number}"
            git(repository, "worktree", "add", "--quiet", "--detach", "--force", str(folders[name]), commit)
        yield folders
    finally:
        for folder in folders.values():
            with suppress(SixfoldError):
                git(repository, "worktree", "remove", "--force", "--force", str(folder))
        shutil.rmtree(home, ignore_errors=True)
        with suppress(SixfoldError):
            git(repository, "worktree", "prune")
