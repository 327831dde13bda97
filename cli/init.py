"""`sixfold init`: write an adapter and a test for a target, both ready to run."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables import Runnable

from ..harness.agent import build_agent
from ..harness.errors import SixfoldError, TargetError
from ..harness.harmless import harmless
from ..harness.run_folder import write_atomically
from ..models.catalogue import CATALOGUE, MISSING
from ..models.resolve import find, resolve
from ..models.scaffold import Scaffold, scaffold
from .quiet import quiet


def init_command(target: str, *, folder: Path, force: bool) -> None:
    """Write the two files for `target` into `folder`, and say what to do next."""
    if target in CATALOGUE or target in MISSING:
        raise TargetError(
            f"{target} is in the catalogue, and needs no adapter",
            place="command line",
            remedy=f"sixfold run {target}",
        )
    with quiet():
        thing = find(target)
        if not (isinstance(thing, type) and issubclass(thing, (AgentMiddleware, Runnable))):
            resolve(target)  # raises unless it can be tested
        made = scaffold(thing, _from(folder, target))
    adapter, test = folder / made.adapter_name, folder / made.test_name
    _write({adapter: made.adapter, test: made.test}, force=force)
    for path in (adapter, test):
        typer.echo(f"wrote {harmless(str(path), 1000)}")
    for line in _next(made, adapter, test):
        typer.echo(harmless(line, 2000))


def _from(folder: Path, target: str) -> str:
    """Return the target as the files in `folder` name it: a path is relative to them."""
    path, _, name = target.rpartition(":")
    if not path.endswith(".py"):
        return target
    return f"{os.path.relpath(Path(path).resolve(), folder.resolve())}:{name}"


def _write(files: dict[Path, str], *, force: bool) -> None:
    """Write all files or none. Raises `SixfoldError` when one is there already, unless `force`."""
    there = [path for path in files if path.exists() or path.is_symlink()]
    if there and not force:
        names = ", ".join(str(path) for path in there)
        raise SixfoldError(
            f"{names} {'is' if len(there) == 1 else 'are'} there already",
            place=str(there[0]),
            remedy="Use --force to overwrite, or --folder to write somewhere else.",
        )
    before = {path: path.read_bytes() if path in there else None for path in files}
    written: list[Path] = []
    try:
        for path, text in files.items():
            write_atomically(path, text)
            written.append(path)
    except BaseException:
        for path in written:
            old = before[path]
            if old is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(old)
        raise


def _next(made: Scaffold, adapter: Path, test: Path) -> list[str]:
    """Return what to do next, line by line."""
    lines = []
    if made.missing:
        lines.append(f"fill in {', '.join(made.missing)}: the places are marked FILL IN in {adapter}")
    else:
        lines += _trouble(adapter)
    return [
        *lines,
        "then run:" if lines else "run next:",
        f"  sixfold run {adapter}:CANDIDATE",
        f"  pytest {test}",
        "or put it into pyproject.toml, and `sixfold run` alone will do:",
        "  [tool.sixfold.candidates]",
        f'  {adapter.stem.removeprefix("sixfold_")} = "{adapter}:CANDIDATE"',
        f'What it does on purpose belongs into the contract in {adapter}; a run that says "never reached" '
        "needs lower thresholds there, or to be told the name of the tool that histories call: lookup.",
    ]


def _trouble(adapter: Path) -> list[str]:
    """Return what keeps the adapter from being built, if anything does."""
    try:
        with quiet():
            build_agent(resolve(f"{adapter}:CANDIDATE"), direct=True)
    except TargetError as error:
        return [f"it cannot be built yet: {error.cause}", f"mend the arguments in {adapter}"]
    return []
