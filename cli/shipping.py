"""What a side needs of Sixfold, in a folder of its own: nothing else of this environment must come along."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ..harness import sides
from ..harness.errors import TargetError

#: The parts of Sixfold that a worker imports.
_PARTS = ("harness", "models")

#: Virtual time for everything, `datetime` included; compiled, so for one version of Python.
_TIME = ("time_machine", "_time_machine")

#: Seconds in which a Python must tell what it is.
_PATIENCE = 30.0


@contextmanager
def shipped() -> Iterator[Path]:
    """Yield a folder that holds `sixfold.harness` and `sixfold.models`, to be put on a path for modules."""
    installed = Path(sides.__file__).parents[2]
    with tempfile.TemporaryDirectory(prefix="sixfold-side-") as folder:
        package = Path(folder, "sixfold")
        package.mkdir()
        for part in _PARTS:
            (package / part).symlink_to(installed / part, target_is_directory=True)
        times = Path(folder, "virtual_time")
        times.mkdir()
        for name in _TIME:
            spec = find_spec(name)
            if spec is not None and spec.origin is not None:
                origin = Path(spec.origin)
                origin = origin.parent if origin.name == "__init__.py" else origin
                (times / origin.name).symlink_to(origin)
        yield Path(folder)


#: Where a Python finds what shows virtual time to all: here, there, or nowhere.
Time = Literal["shipped", "own", "none"]


def time_in(python: str) -> Time:
    """Return where a Python finds time-machine. Raises `TargetError` for what is no Python."""
    if python == sys.executable:
        return "shipped"
    asked = (
        "import sys, importlib.util as u; print(sys.implementation.cache_tag, sys.platform, "
        "sys.version_info >= (3, 10), u.find_spec('time_machine') is not None)"
    )
    try:
        done = subprocess.run(
            [python, "-c", asked], capture_output=True, text=True, timeout=_PATIENCE, check=True
        )
        tag, platform, recent, own = done.stdout.split()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise TargetError(
            f"{python} is no Python that can be run",
            place="python",
            remedy="Name the executable of an environment, such as .venv/bin/python.",
        ) from error
    if recent != "True":
        raise TargetError(
            f"{python} is older than Python 3.10", place="python", remedy="Use 3.10 or a newer one."
        )
    if own == "True":
        return "own"
    return "shipped" if (tag, platform) == (sys.implementation.cache_tag, sys.platform) else "none"
