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


def plain_data(plain: PlainTarget | None) -> dict[str, Any] | None:
    """Return the target as a run folder stores it."""
    if plain is None:
        return None
    given = None if plain.arguments is None else [list(argument) for argument in plain.arguments]
    return {"place": plain.place, "name": plain.name, "arguments": given}
