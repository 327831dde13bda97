"""One mutant in one process: a pytest plugin, and a short campaign.

As a plugin (`-p sixfold.cli.mutant`) this module has the file that the environment variable names compiled
with one mutation in it, however it is imported. Run as a program it plays histories on a target in the same
way, and prints which checks they violate. Nothing is written into the project.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from dataclasses import asdict, dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from .mutations import mutated

#: The environment variable that names the mutant of this process, as JSON.
VARIABLE = "SIXFOLD_MUTANT"


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which mutation of which file a process is to run; it touches `loaded` when it compiles the file."""

    file: str
    classes: tuple[str, ...]
    rule: str
    number: int
    loaded: str

    def to_environment(self) -> dict[str, str]:
        """Return the environment of a process that runs the mutant."""
        return {**os.environ, VARIABLE: json.dumps(asdict(self)), "PYTHONDONTWRITEBYTECODE": "1"}


def assigned() -> Assignment | None:
    """Return what this process is to run; None when it is no process for a mutant."""
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    data = json.loads(text)
    return Assignment(**{**data, "classes": tuple(data["classes"])})


def install(assignment: Assignment) -> None:
    """Compile the file with the mutation from now on."""
    file = os.path.realpath(assignment.file)
    plain = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> Any:
        if os.path.realpath(loader.path) != file:
            return plain(loader, fullname)
        source = Path(file).read_text(encoding="utf-8")
        tree: ast.Module = mutated(source, frozenset(assignment.classes), assignment.rule, assignment.number)
        Path(assignment.loaded).touch()
        return compile(tree, loader.path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]


def violated(target: str, histories: int) -> list[tuple[str, str]]:
    """Play histories on the target; return the checks that are violated, with the places."""
    from ..harness.subject import subject_of
    from ..strategies.scenarios import explore
    from .project import candidate_of

    subject = subject_of(candidate_of(target))
    seen: set[tuple[str, str]] = set()
    played = 0

    def visit(scenario: Any) -> None:
        nonlocal played
        played += 1
        outcome = subject.look(scenario, invariants=(), comparing=played % 5 == 0)
        seen.update((each.code, each.place) for each in outcome.violated)

    kinds, places = subject.candidate.contract.suffers, subject.places()
    explore(visit, seed=0, count=histories, kinds=kinds, places=places)
    return sorted(seen)


def main(target: str, histories: str) -> None:
    """Print the violations on the last line, as JSON."""
    from ..harness.errors import SixfoldError
    from .quiet import quiet

    try:
        with quiet():
            found: Any = {"violated": violated(target, int(histories))}
    except SixfoldError as error:
        found = {"error": error.cause}
    sys.stdout.write(f"\n{json.dumps(found)}\n")


_assignment = assigned()
if _assignment is not None:
    install(_assignment)

if __name__ == "__main__":
    main(*sys.argv[1:])
