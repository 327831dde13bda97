"""Targets: from what a user types to a candidate.

A target is a catalogue name, an import path (`pkg.module:Name`) or a file (`path/to/file.py:name`). What it
may stand for, and what becomes of it, is in `harness.targets`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..harness.candidate import Candidate
from ..harness.errors import TargetError, TargetInterruptedError
from ..harness.interrupts import is_the_users
from ..harness.plain import LOADED
from ..harness.targets import FORMS, candidate_of
from .catalogue import CATALOGUE, MISSING

_FORMS = (
    "A target is a catalogue name (see `sixfold list`), or pkg.module:Name or path/to/file.py:name of "
    f"{FORMS}."
)


def resolve(target: str) -> Candidate:
    """Return the candidate that `target` names. Raises `TargetError` with cause, place and remedy."""
    if target in CATALOGUE:
        return CATALOGUE[target]()
    if target in MISSING:
        return MISSING[target]()
    return candidate_of(find(target), target)


def find(target: str) -> Any:
    """Return the object that an import path or a file names. Raises `TargetError` as `resolve` does."""
    path, colon, name = target.rpartition(":")
    if not colon or not path or not name:
        close = get_close_matches(target, CATALOGUE, n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise TargetError(f"unknown target {target!r}", place="command line", remedy=hint + _FORMS)
    module = _load_file(Path(path), target) if path.endswith(".py") else _load_module(path, target)
    thing: Any = module
    for part in name.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError as error:
            close = get_close_matches(part, dir(thing), n=1)
            hint = f"Did you mean {close[0]}?" if close else "Check the spelling."
            raise TargetError(f"{path} has no {part!r}", place=target, remedy=hint) from error
    return thing


def _load_module(path: str, target: str) -> Any:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
            raise TargetError(
                f"there is no module {error.name!r}",
                place=target,
                remedy="Install the package beside sixfold, or name the file: path/to/file.py:name.",
            ) from error
        raise _import_failed(error, target) from error
    except BaseException as error:
        if is_the_users(error):
            raise
        raise _import_failed(error, target) from error


def _load_file(path: Path, target: str) -> Any:
    if not path.is_file():
        raise TargetError(f"there is no file {path}", place=target, remedy="Check the path.")
    name = f"{LOADED}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} cannot be loaded as Python", place=target, remedy="Name a .py file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if is_the_users(error):
            raise
        raise _import_failed(error, target) from error
    return module


def _import_failed(error: BaseException, target: str) -> TargetError:
    trace = error.__traceback__
    place = target
    if isinstance(error, SyntaxError) and error.filename is not None:
        trace, place = None, f"{error.filename}:{error.lineno}"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = TargetInterruptedError if isinstance(error, KeyboardInterrupt) else TargetError
    return kind(
        f"importing the target raised {type(error).__name__}: {error}",
        place=place,
        remedy="Make the module importable on its own: python -c 'import …' shows the full traceback.",
    )
