"""What the pytest plugin collects: scenario files, played on each target, and campaigns."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from ..harness.candidate import Candidate
from ..harness.checking import check
from ..harness.errors import SixfoldError
from ..harness.events import RunResult
from ..harness.harmless import harmless
from ..harness.scenario import load
from ..harness.violation import InvariantViolation, replay_command
from .project import candidate_of, chosen

#: Columns of what a failed campaign prints.
_WIDTH = 110


def _targets(config: pytest.Config) -> list[str]:
    """Return the targets of the run: those of `--sixfold`, else the candidates of the project."""
    return chosen(list(config.option.sixfold_targets), ())


class _Item(pytest.Item):
    """A test whose errors tell all that there is to know, without a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what is printed for a failure."""
        error = excinfo.value
        if isinstance(error, (InvariantViolation, Failed)):
            return "\n".join((str(error), *getattr(error, "__notes__", ())))
        if isinstance(error, SixfoldError):
            where, remedy = harmless(error.place, 1000), harmless(error.remedy, 1000)
            return f"error: {harmless(error.cause, 2000)}\n  where: {where}\n  remedy: {remedy}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return what reports call the test."""
        return self.path, None, self.name


class ScenarioFile(pytest.File):
    """A scenario file: a regression test on each target."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each target; a skipped one when there is no target."""
        targets = _targets(self.config)
        for target in targets:
            yield ScenarioItem.from_parent(self, name=harmless(target), target=target)
        if not targets:
            yield NoTarget.from_parent(self, name="no target")


class ScenarioItem(_Item):
    """One scenario on one target."""

    def __init__(self, *, target: str, **more: Any) -> None:
        super().__init__(**more)
        self.target = target

    def runtest(self) -> None:
        """Play the scenario. Raises `InvariantViolation` when it breaks an invariant."""
        check(candidate_of(self.target), load(self.path), comparing=True)


class NoTarget(_Item):
    """What stands for a scenario file that nothing is to be played on."""

    def runtest(self) -> None:
        """Skip, and say what is missing."""
        pytest.skip("no target: use --sixfold TARGET, or name candidates in [tool.sixfold.candidates]")


class Failed(AssertionError):
    """A campaign found something, or was inconclusive."""


def campaigns(session: pytest.Session, config: pytest.Config) -> list[pytest.Item]:
    """Return a test for each `--sixfold` target."""
    return [
        Campaign.from_parent(session, name=f"sixfold[{harmless(target)}]", target=target)
        for target in dict.fromkeys(config.option.sixfold_targets)
    ]


class Campaign(_Item):
    """A campaign on one target."""

    def __init__(self, *, target: str, **more: Any) -> None:
        super().__init__(**more)
        self.target = target

    def runtest(self) -> None:
        """Run the campaign. Raises `Failed` with what it found."""
        from ..harness.campaign import Campaign as Run
        from ..harness.events import Options
        from ..strategies.scenarios import explore
        from .run import exit_code

        option = self.config.option
        options = Options(seed=option.sixfold_seed, max_histories=option.sixfold_max_histories)
        candidate = candidate_of(self.target)
        result = Run([candidate], options).run(explore)
        if exit_code(result):
            raise Failed(_told(result, candidate))


def _told(result: RunResult, candidate: Candidate) -> str:
    """Return what the run found, as `sixfold run` prints it, with commands that need no file."""
    from ..reports.terminal import print_result

    out = io.StringIO()
    print_result(Console(file=out, width=_WIDTH, color_system=None), result)
    commands = [f"{f.id}: {replay_command(f.scenario, candidate)}" for f in result.findings]
    return "\n".join((out.getvalue(), *commands))
