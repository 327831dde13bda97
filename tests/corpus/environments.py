"""Side environments: one cached virtual environment for each set of pinned versions.

The cache key is the set of requirements. Where Sixfold itself is wanted, it comes in as a wheel of the
checkout, which is built once for each state of the source and replaced when the source changes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".sixfold" / "environments"
FOLDERS = ("harness", "strategies", "models", "reports", "cli")

#: Seconds that an installation may take.
PATIENCE = 900


class EnvironmentFailed(Exception):
    """The environment cannot be made; the text is the end of what the installer said."""


def _run(command: list[str], **options: object) -> None:
    done = subprocess.run(  # type: ignore[call-overload]
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, **options
    )
    if done.returncode:
        raise EnvironmentFailed((done.stderr or done.stdout).strip()[-800:])


def _source_digest() -> str:
    digest = hashlib.sha256()
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    for path in sorted([*files, ROOT / "pyproject.toml"]):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def wheel() -> Path:
    """Return a wheel of the checkout as it is now, built in a copy, so that nothing else is touched."""
    folder = HOME / "wheels" / _source_digest()
    built = sorted(folder.glob("*.whl"))
    if built:
        return built[0]
    with tempfile.TemporaryDirectory() as copy:
        for name in FOLDERS:
            shutil.copytree(ROOT / name, Path(copy, name), ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        out = Path(copy, "out")
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), copy]
        _run(build)
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(next(out.glob("*.whl")), folder))


def _dependencies(pinned: tuple[str, ...]) -> list[str]:
    """Return what Sixfold needs beside the pinned packages. The versions of langchain and langgraph are
    the case's own business."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    own = ("langchain", "langgraph")
    named = {requirement.partition("=")[0] for requirement in pinned}
    wanted: list[str] = data["project"]["dependencies"]
    return [
        requirement
        for requirement in wanted
        if (name := requirement.partition(">")[0]) not in named and name not in own
    ]


def python_of(name: str, requirements: tuple[str, ...]) -> Path:
    """Return the interpreter of the environment with `requirements` and Sixfold; make it when need be.

    Raises `EnvironmentFailed`.
    """
    python = _made(name, requirements, _dependencies(requirements))
    made = wheel()
    marker = python.parents[1] / "sixfold"
    digest = made.parent.name
    if not marker.exists() or marker.read_text(encoding="utf-8") != digest:
        _run([*_pip(python), "install", "--no-deps", "--force-reinstall", str(made)])
        marker.write_text(digest, encoding="utf-8")
    return python


def plain_python_of(name: str, requirements: tuple[str, ...]) -> Path:
    """Return the interpreter of an environment with `requirements` and pytest alone: without Sixfold.

    Raises `EnvironmentFailed`.
    """
    return _made(f"plain-{name}", requirements, ["pytest>=8.2"])


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet"]


def _made(name: str, requirements: tuple[str, ...], beside: list[str]) -> Path:
    key = hashlib.sha256("\n".join(sorted(requirements)).encode()).hexdigest()[:8]
    folder = HOME / f"{name}-{key}"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([*_pip(python), "install", *requirements, *beside])
        ready.touch()
    return python


def environment_variables() -> dict[str, str]:
    """Return the variables of a worker in a side environment: nothing of this process's own Python."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    return {key: value for key, value in os.environ.items() if key not in dropped}
