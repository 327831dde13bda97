"""Errors that reach people, and the exit codes of the command line.

Each error says what went wrong, where, and what to do; the command line prints it without a
traceback and exits with its code.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes by kind."""

    NOTHING_NEW = 0
    FINDINGS = 1
    INCONCLUSIVE = 2
    USAGE = 3
    BROKEN_HARNESS = 4
    #: What shells expect of a command that Ctrl-C has ended; Typer exits with it, too.
    INTERRUPTED = 130


class SixfoldError(Exception):
    """An error with cause, place and remedy.

    `cause` says what is wrong, `place` where (a file, target or option), `remedy` what to do.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, cause: str, *, place: str, remedy: str) -> None:
        super().__init__(f"{cause} ({place}). {remedy}")
        self.cause = cause
        self.place = place
        self.remedy = remedy


class TargetError(SixfoldError):
    """A target cannot be found, imported or built."""


class TargetInterruptedError(TargetError):
    """A target raised `KeyboardInterrupt` while it was imported: the run ends as one that was interrupted."""

    exit_code = ExitCode.INTERRUPTED


class ScenarioFileError(SixfoldError):
    """A scenario file cannot be read."""


class HarnessBrokenError(SixfoldError):
    """The harness contradicts itself; no verdict of this run can be trusted."""

    exit_code = ExitCode.BROKEN_HARNESS
