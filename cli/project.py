"""The table `[tool.sixfold]` of a project's pyproject.toml: candidates, and defaults of `sixfold run`.

    [tool.sixfold]
    seed = 7
    max_histories = 2000
    budget = "5m"
    invariants = [1, 4]

    [tool.sixfold.candidates]
    reminder = "my_candidate.py:CANDIDATE"

    [tool.sixfold.candidates.window]
    target = "mypackage.middleware:WindowMiddleware"
    contract = { drops_history = true, outside = ["rewind"] }

What is given on the command line wins.
"""

from __future__ import annotations

import functools
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..harness.errors import SixfoldError

if TYPE_CHECKING:
    from ..harness.candidate import Candidate
    from .project_schema import Project

_FILE = "pyproject.toml"
TABLE = "tool.sixfold"


def table_of(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the nearest pyproject.toml at or above `folder` and its table; None when it has none.

    Raises `SixfoldError` when the file cannot be read.
    """
    for place in (folder, *folder.parents):
        path = place / _FILE
        if not path.is_file():
            continue
        try:
            tools = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SixfoldError(
                f"it is not valid TOML: {error}", place=str(path), remedy="Correct the file."
            ) from error
        table = tools.get("sixfold") if isinstance(tools, dict) else None
        return None if table is None else (path, table)
    return None


def project() -> Project | None:
    """Return the project of the working folder, None without one. Raises `SixfoldError` for mistakes."""
    return _project_at(Path.cwd())


@functools.cache
def _project_at(folder: Path) -> Project | None:
    """Return the project of a folder. A command reads it once: all its targets are of the same project."""
    found = table_of(folder)
    if found is None:
        return None
    from .project_schema import read

    path, table = found
    return read(path, table)


def forget() -> None:
    """Let the next command in this process read the file anew."""
    _project_at.cache_clear()


class RunDefaults(Mapping[str, Any]):
    """Defaults of the options of `sixfold run`, read from the project when the first is asked for."""

    def __init__(self) -> None:
        self._read: dict[str, Any] | None = None

    def _values(self) -> dict[str, Any]:
        if self._read is None:
            found = None if {"-h", "--help"} & set(sys.argv) else project()
            self._read = {} if found is None else found.options()
        return self._read

    def __getitem__(self, name: str) -> Any:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())


def _named() -> dict[str, Callable[[], Candidate]]:
    """Return the candidates of the project, by the names that it gives them; none without a project."""
    known = project()
    return {} if known is None else known.targets()


def chosen(targets: list[str], otherwise: tuple[str, ...]) -> list[str]:
    """Return the targets of a run, each once: those given, or the candidates that the project names.

    Without targets and without candidates in the project, `otherwise` are taken.
    """
    return list(dict.fromkeys(targets or list(_named()) or otherwise))


def is_own(target: str) -> bool:
    """Tell whether the project gives this name to a candidate."""
    return target in _named()


@dataclass(frozen=True)
class Declared:
    """A candidate of the project as data: what to load, where its paths begin, and what is said of it."""

    target: str
    folder: Path = Path()
    name: str | None = None
    declares: Mapping[str, Any] = field(default_factory=dict)

    def said(self) -> dict[str, Any]:
        """Return name and contract as a worker is told them."""
        return {} if self.name is None else {"name": self.name, "declares": dict(self.declares)}


def declared(target: str) -> Declared | None:
    """Return what the project says of a candidate that it calls `target`; None when it does not."""
    known = project()
    return None if known is None else known.declared(target)


def candidate_of(target: str) -> Candidate:
    """Return the candidate that the project calls `target`, else what `target` resolves to."""
    from ..models.resolve import resolve

    named = _named()
    return named[target]() if target in named else resolve(target)
