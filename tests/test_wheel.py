"""The wheel installs the namespace `sixfold` and nothing beside it."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("harness", "strategies", "models", "reports", "cli")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the sources, as a build leaves files beside them."""
    source = tmp_path_factory.mktemp("source")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source / file)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "out"]
    build = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stdout + build.stderr
    [built] = (source / "out").glob("*.whl")
    return built


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_nothing_is_installed_outside_the_namespace(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"sixfold"}
    assert len(tops) == 2


def test_the_namespace_stays_open(wheel: Path) -> None:
    assert "sixfold/__init__.py" not in names(wheel)


def test_every_source_file_is_installed(wheel: Path) -> None:
    sources = {
        f"sixfold/{path.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    missing = sources - names(wheel)
    assert not missing, "name the package, or the kind of file, under [tool.setuptools] in pyproject.toml"


def test_every_package_is_typed(wheel: Path) -> None:
    installed = names(wheel)
    packages = {name.rpartition("/")[0] for name in installed if name.endswith("/__init__.py")}
    assert packages
    assert {package for package in packages if f"{package}/py.typed" not in installed} == set()


def test_command_and_pytest_plugin_are_installed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [entry_points] = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        text = archive.read(entry_points).decode()
    assert "[console_scripts]\nsixfold = sixfold.cli.app:main\n" in text
    assert "[pytest11]\nsixfold = sixfold.cli.pytest_plugin\n" in text
