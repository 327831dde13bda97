"""The guard around every command: errors become a message and an exit code, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer

from ..harness.errors import ExitCode, SixfoldError

#: Typer brings its own copy of click from some version on; this is the base of its errors in any.
_UsageError: Any = typer.BadParameter.__mro__[2]


def guarded(app: Callable[..., object]) -> None:
    """Run the Typer `app` and exit with the designed code.

    Usage errors exit with 3. An error that is not ours is a bug of the harness: it exits with 4 and
    keeps its traceback, which the report needs.
    """
    try:
        code = app(standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except _UsageError as error:
        error.show()
        code = ExitCode.USAGE
    except (typer.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        code = 130
    except SixfoldError as error:
        print(f"error: {error.cause}\n  where: {error.place}\n  remedy: {error.remedy}", file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        code = ExitCode.NOTHING_NEW
    except Exception:  # noqa: BLE001  the last line of defence, and it says so
        import traceback

        traceback.print_exc()
        print("error: this is a bug of Sixfold; please report it with the lines above", file=sys.stderr)
        code = ExitCode.BROKEN_HARNESS
    sys.exit(int(code) if isinstance(code, int) else 0)
