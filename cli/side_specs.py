"""Sides on the command line: `TARGET[,label=…][,ref=…][,python=…][,worker=…][,path=…][,env=NAME:VALUE]`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..harness.errors import SixfoldError
from ..harness.sides.process import Side
from .project import Declared, declared
from .shipping import Time, time_in

_KEYS = ("label", "ref", "python", "worker", "path", "env")

#: Variables that would bring modules of this environment into another.
_OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


@dataclass(frozen=True, slots=True)
class SideSpec:
    """A side as a user names it. `ref` is a commit of the repository around the current folder.

    `worker` is an executable that speaks the protocol of docs/protocol.md, instead of ours.
    """

    target: str
    label: str
    ref: str | None = None
    python: str | None = None
    worker: str | None = None
    paths: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def parse_side(text: str) -> SideSpec:
    """Read a side. Raises `SixfoldError` for a key that there is not, and for a part without a value."""
    target, *parts = text.split(",")
    paths, variables, once = [], {}, {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in _KEYS or not value:
            raise _odd(text, f"{part!r} is not one of {', '.join(f'{k}=…' for k in _KEYS)}")
        if key == "path":
            paths.append(value)
        elif key == "env":
            name, colon, content = value.partition(":")
            if not colon or not name:
                raise _odd(text, f"{value!r} is not NAME:VALUE")
            variables[name] = content
        elif key in once:
            raise _odd(text, f"{key}= is given twice")
        else:
            once[key] = value
    if not target:
        raise _odd(text, "it names no target")
    if "python" in once and "worker" in once:
        raise _odd(text, "a worker of your own brings its language along: leave python= out")
    label = once.pop("label", text)
    return SideSpec(target, label, paths=tuple(paths), variables=tuple(variables.items()), **once)


def _odd(text: str, why: str) -> SixfoldError:
    return SixfoldError(
        f"{text!r} is no side: {why}",
        place="command line",
        remedy="Write TARGET, or TARGET with parts behind commas, such as "
        "my_package.context:Reminder,ref=main or langchain.summarization,python=old/bin/python.",
    )


def labelled(specs: Sequence[SideSpec]) -> list[SideSpec]:
    """Return the sides with labels that tell them apart. Raises `SixfoldError` when there are too few."""
    if len(specs) < 2:  # noqa: PLR2004  a comparison takes two
        raise SixfoldError(
            "a comparison takes two sides or more",
            place="command line",
            remedy="sixfold compare BASE HEAD [HEAD]...",
        )
    labels = [spec.label for spec in specs]
    if len(set(labels)) < len(labels):
        raise SixfoldError(
            "two sides have the same name", place=max(labels, key=labels.count), remedy="Give them label=…."
        )
    return list(specs)


def sides_in(folders: Mapping[SideSpec, Path], shipped: Path) -> list[Side]:
    """Return the sides whose processes run in the folders, with the parts of Sixfold that are in `shipped`.

    Paths for modules, and the Python, are looked for in that folder first: it may be a worktree with an
    environment of its own. All sides see the same of virtual time. Raises `TargetError` when a Python cannot
    be run, and `SixfoldError` for mistakes in the project.
    """
    pythons = {spec: _python(spec.python, folder) for spec, folder in folders.items()}
    times: dict[SideSpec, Time] = {
        spec: "own" if spec.worker else time_in(python) for spec, python in pythons.items()
    }
    plain = "none" in times.values()
    return [
        _side(spec, pythons[spec], folder, shipped, "none" if plain else times[spec])
        for spec, folder in folders.items()
    ]


def _side(spec: SideSpec, python: str, folder: Path, shipped: Path, time: Time) -> Side:
    known = declared(spec.target) or Declared(spec.target)
    paths = [str(shipped), *(str((folder / path).resolve()) for path in spec.paths)]
    if not spec.paths:
        homes = dict.fromkeys((folder / "src", folder, folder / known.folder))
        paths += [str(path) for path in homes if path.is_dir()]
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    if spec.python is None and os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    if time == "shipped":
        paths.append(str(shipped / "virtual_time"))
    environment |= {
        **dict(spec.variables),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"SIXFOLD_PLAIN_TIME": "1"} if time == "none" else {}),
    }
    if spec.worker is None:
        command: tuple[str, ...] = (python, "-m", "sixfold.models.side_worker")
    else:
        command = (_found(spec.worker, folder),)
    return Side(spec.label, known.target, command, folder, environment, known.said())


def _python(named: str | None, folder: Path) -> str:
    if named is None:
        return sys.executable
    return _found(named, folder)


def _found(named: str, folder: Path) -> str:
    """Return an executable: of that folder, of the current one, or, without a slash, of the PATH."""
    if os.sep not in named:
        return named
    there = folder / named
    return str(there if there.exists() else Path(named).absolute())
