"""The guard around every command: errors become a message and an exit code, never a traceback."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from ..harness.errors import ExitCode, SixfoldError
from ..harness.harmless import harmless
from ..harness.interrupts import noticed
from .project import RunDefaults, forget

#: Typer brings its own copy of click from some version on; this is the base of its errors in any.
_UsageError: Any = typer.BadParameter.__mro__[2]


def _complain(cause: str, place: str, remedy: str) -> None:
    """Print an error; text of targets and files in it must not reach the terminal raw."""
    print(f"error: {harmless(cause, 2000)}\n  where: {harmless(place, 1000)}", file=sys.stderr)
    first, *more = remedy.splitlines()
    print(f"  remedy: {harmless(first, 1000)}", file=sys.stderr)
    for line in more[:200]:
        print(f"    {harmless(line, 1000)}" if line.strip() else "", file=sys.stderr)


def guarded(app: Callable[..., object]) -> None:
    """Run the Typer `app` and exit with the designed code.

    Usage errors exit with 3. An error that is not ours is a bug of the harness: it exits with 4 and
    keeps its traceback, which the report needs.
    """
    forget()
    try:
        with noticed():
            code = app(standalone_mode=False, default_map={"run": RunDefaults()})
    except typer.Exit as stop:
        code = stop.exit_code
    except _UsageError as error:
        error.show()
        code = ExitCode.USAGE
    except (typer.Abort, KeyboardInterrupt):
        code = ExitCode.INTERRUPTED
    except SixfoldError as error:
        _complain(error.cause, error.place, error.remedy)
        code = error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        code = ExitCode.NOTHING_NEW
    except OSError as error:
        place = error.filename or "the file system"
        _complain(
            str(error.strerror or error), str(place), "Check the folder, its rights and the space left."
        )
        code = ExitCode.USAGE
    except SystemExit as stop:
        # Rich ends the process itself when nobody reads its output any more.
        closed = isinstance(stop.__context__, BrokenPipeError)
        code = ExitCode.NOTHING_NEW if closed else ExitCode.BROKEN_HARNESS
    except BaseException:  # noqa: BLE001  the last line of defence, and it says so
        for line in traceback.format_exc().splitlines():
            print(harmless(line), file=sys.stderr)
        print("error: this is a bug of Sixfold; please report it with the lines above", file=sys.stderr)
        code = ExitCode.BROKEN_HARNESS
    if code == ExitCode.INTERRUPTED:
        print("interrupted: nothing is reported of what was not finished", file=sys.stderr)
    sys.exit(int(code) if isinstance(code, int) else 0)
