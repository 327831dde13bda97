"""Rules about the source itself that no linter holds."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from sixfold.cli import shipping

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("harness", "strategies", "models", "reports", "cli")
# The aim is 300; a module that is nearly done may finish its thought.
MOST_LINES = 320
DOCSTRING_LINES = 3

MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=name(path))


def does_nothing(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


def catches_everything(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"})
        for kind in caught
    )


def silent_handlers(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and catches_everything(node) and does_nothing(node.body):
            yield node


def absolute_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports of one of our folders by an absolute name, installed (`sixfold.x`) or not (`x`)."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        yield from ((node.lineno, each) for each in names if each.split(".")[0] in {"sixfold", *FOLDERS})


def test_every_folder_has_modules() -> None:
    assert {name(path).split("/")[0] for path in MODULES} == set(FOLDERS)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_is_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{name(path)} has {lines} lines; split it by what its parts are about"


def test_what_a_side_is_played_with_has_the_syntax_of_python_3_10() -> None:
    """What it uses of the standard library is checked by `make lint`, for the same folders."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for folder in shipping._PARTS:
        assert f"-p sixfold.{folder}" in makefile
        for path in (ROOT / folder).rglob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), filename=name(path), feature_version=(3, 10))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_exception_is_swallowed(path: Path) -> None:
    found = [f"{name(path)}:{handler.lineno}" for handler in silent_handlers(parse(path))]
    assert not found, f"every exception is caught and dropped: {found}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_between_folders_are_relative(path: Path) -> None:
    found = [f"{name(path)}:{line} imports {module}" for line, module in absolute_imports(parse(path))]
    assert not found, f"write it as a relative import: {found}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_says_what_it_is_for(folder: str) -> None:
    docstring = ast.get_docstring(parse(ROOT / folder / "__init__.py")) or ""
    assert len(docstring.splitlines()) >= DOCSTRING_LINES, f"{folder}/__init__.py has no real docstring"


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept:\n    pass\n",
        "try:\n    f()\nexcept Exception:\n    pass\n",
        "try:\n    f()\nexcept Exception as error:\n    ...\n",
        "try:\n    f()\nexcept (ValueError, BaseException):\n    'why not'\n",
    ],
)
def test_a_swallowed_exception_is_seen(code: str) -> None:
    assert list(silent_handlers(ast.parse(code)))


@pytest.mark.parametrize("code", ["import sixfold.cli", "from sixfold import cli", "from models import x"])
def test_an_absolute_import_is_seen(code: str) -> None:
    assert list(absolute_imports(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept KeyError:\n    pass\n",
        "try:\n    f()\nexcept Exception as error:\n    log(error)\n",
        "from ..harness.scenario import Scenario",
        "from . import models",
        "import sixfold_of_another_name",
    ],
)
def test_what_is_allowed_is_let_through(code: str) -> None:
    tree = ast.parse(code)
    assert not list(silent_handlers(tree))
    assert not list(absolute_imports(tree))
