"""Mutation runs: each mutant under the project's tests, and under a short campaign of Sixfold."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware

from ..harness.candidate import Candidate
from ..harness.environment import Environment
from ..harness.errors import SixfoldError, TargetError
from ..harness.loose import loose_environment
from ..harness.undisturbed import stopwatch
from .mutant import Assignment
from .mutations import Mutant, mutants

#: A mutant gets this many times the time that the tests take without a mutation, and some seconds.
_PATIENCE = 4
_SPARE = 20.0

#: What the project's tests say of a mutant; `not loaded`: no test imports the file.
TestsSay = Literal["killed", "survived", "hung", "not loaded"]

Keys = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a candidate's middleware, each with the classes in it."""

    files: tuple[tuple[Path, frozenset[str]], ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant, and what became of it. `codes` are the checks that only the mutant violates.

    Sixfold is asked only about mutants that the tests let through.
    """

    file: str
    mutant: Mutant
    tests: TestsSay
    sixfold: bool
    codes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What is to be said of it."""
        if self.tests in ("killed", "hung"):
            return "killed by the tests"
        return "only Sixfold sees it" if self.sixfold else "equivalent or unseen"


def sources_of(candidate: Candidate) -> Sources:
    """Return the files of the middleware that the candidate builds. Raises `TargetError` without any."""
    environment: Environment = loose_environment()
    files: dict[Path, set[str]] = {}
    with environment.clock.running():
        members = list(candidate.build(environment))
    for member in members:
        for cls in type(member).__mro__:
            path = None if cls in AgentMiddleware.__mro__ else _file_of(cls)
            if path is not None and (cls is type(member) or path.is_relative_to(Path.cwd())):
                files.setdefault(path, set()).add(cls.__name__)
    if not files:
        raise TargetError(
            "its middleware has no source file",
            place=candidate.target or candidate.name,
            remedy="Name a middleware that is written in Python.",
        )
    return Sources(tuple((path, frozenset(names)) for path, names in files.items()))


def _file_of(cls: type[Any]) -> Path | None:
    try:
        return Path(inspect.getfile(cls)).resolve()
    except (TypeError, OSError):
        return None


class Runner:
    """Runs the tests and the campaigns of mutants, each in a process of its own."""

    def __init__(self, target: str, tests: Sequence[str], *, histories: int) -> None:
        self._target, self._tests, self._histories = target, tuple(tests), histories
        self._limit = 600.0
        self._plain: Keys = frozenset()

    def begin(self) -> None:
        """Run everything without a mutation. Raises `SixfoldError` when that fails already."""
        before = stopwatch()
        done = self._pytest(dict(os.environ))
        if done is None or done.returncode != 0:
            said = "they do not end" if done is None else f"pytest ends with {done.returncode}"
            raise SixfoldError(
                f"the tests fail without any mutation: {said}",
                place=" ".join(("pytest", *self._tests)),
                remedy="Make them pass first; name them with --tests.\n" + _tail(done),
            )
        self._limit = _SPARE + _PATIENCE * (stopwatch() - before)
        found = self._campaign(dict(os.environ))
        if found is None or "error" in found:
            raise TargetError(
                "Sixfold cannot play it" if found is None else str(found["error"]),
                place=self._target,
                remedy="See `sixfold doctor`.",
            )
        self._plain = _keys(found)

    def try_out(self, file: Path, classes: frozenset[str], mutant: Mutant) -> Tried:
        """Run one mutant."""
        with tempfile.TemporaryDirectory(prefix="sixfold-mutant-") as folder:
            loaded = Path(folder) / "loaded"
            order = Assignment(str(file), tuple(sorted(classes)), mutant.rule, mutant.number, str(loaded))
            environment = order.to_environment()
            done = self._pytest(environment)
            tests: TestsSay = "hung" if done is None else "survived" if done.returncode == 0 else "killed"
            if tests == "survived" and not loaded.exists():
                tests = "not loaded"
            if tests in ("killed", "hung"):
                return Tried(os.path.relpath(file), mutant, tests, False, ())
            found = self._campaign(environment)
        # One that Sixfold cannot play to the end any more is seen as well.
        new = frozenset() if found is None else _keys(found) - self._plain
        seen = found is None or "error" in found or bool(new)
        codes = tuple(sorted({code for code, _ in new}))
        return Tried(os.path.relpath(file), mutant, tests, seen, codes)

    def _pytest(self, environment: dict[str, str]) -> subprocess.CompletedProcess[str] | None:
        plugin = ("-p", "sixfold.cli.mutant")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            *plugin,
            *self._tests,
        ]
        return _run(command, environment, self._limit)

    def _campaign(self, environment: dict[str, str]) -> dict[str, Any] | None:
        command = [sys.executable, "-m", "sixfold.cli.mutant", self._target, str(self._histories)]
        done = _run(command, environment, max(self._limit, 60.0))
        if done is None or done.returncode != 0:
            return None
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


def _keys(found: dict[str, Any]) -> Keys:
    return frozenset((code, place) for code, place in found.get("violated", ()))


def _tail(done: subprocess.CompletedProcess[str] | None) -> str:
    return "" if done is None else "\n".join(done.stdout.splitlines()[-20:])


def _run(
    command: list[str], environment: dict[str, str], limit: float
) -> subprocess.CompletedProcess[str] | None:
    """Run a command; None when it does not end in time."""
    try:
        return subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
            timeout=limit,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return None


def all_mutants(sources: Sources, most: int) -> list[tuple[Path, frozenset[str], Mutant]]:
    """Return up to `most` mutants of all files, spread over the rules: one of each, then the next of each."""
    found = [
        (path, classes, mutant)
        for path, classes in sources.files
        for mutant in mutants(path.read_text(encoding="utf-8"), classes)
    ]
    ordered = sorted(found, key=lambda each: each[2].number)
    chosen = ordered[:most]
    return [each for each in found if each in chosen]


def run_mutants(
    candidate: Candidate, runner: Runner, most: int, tell: Callable[[Tried], None]
) -> tuple[list[Tried], int]:
    """Run up to `most` mutants of the candidate; return what became of them, and how many there are.

    `tell` is told of each as it is done.
    """
    sources = sources_of(candidate)
    there = len(all_mutants(sources, sys.maxsize))
    tried = []
    for path, classes, mutant in all_mutants(sources, most):
        done = runner.try_out(path, classes, mutant)
        tell(done)
        tried.append(done)
    return tried, there
