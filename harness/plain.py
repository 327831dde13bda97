"""Plain targets: how a program without Sixfold makes the middleware of a candidate.

Data only, so that it can be stored with a run: where to import from, what, and the constructor arguments
as the wiring shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PlainTarget:
    """What to import, and how to construct it.

    `place` is a module (`pkg.module`) or a Python file (`path/to/file.py`), `name` what is taken from it.
    `arguments` are the constructor arguments of a class, each with its name (empty: by position) and how
    the wiring shows it (`environment.model`, `('messages', 5)`); None for a ready instance or a list.
    """

    place: str
    name: str
    arguments: tuple[tuple[str, str], ...] | None = None


#: How modules are called that are loaded from files.
LOADED = "_sixfold_target_"


def is_from_a_file(module: str) -> bool:
    """Tell whether a module of this name was loaded from a file that a target names."""
    return module.startswith(LOADED)


#: The argument that only Sixfold can supply.
ENVIRONMENT = "environment"


def made_by_sixfold(target: str) -> PlainTarget:
    """Return the target that `target` names, which is not made without Sixfold's environment."""
    place, _, name = target.rpartition(":")
    return PlainTarget(place, name, (("", ENVIRONMENT),))


def target_of(plain: PlainTarget) -> str:
    """Return what a user types to name the target."""
    return f"{plain.place}:{plain.name}" if plain.place else plain.name


def plain_data(plain: PlainTarget | None) -> dict[str, Any] | None:
    """Return the target as a run folder stores it."""
    if plain is None:
        return None
    given = None if plain.arguments is None else [list(argument) for argument in plain.arguments]
    return {"place": plain.place, "name": plain.name, "arguments": given}
