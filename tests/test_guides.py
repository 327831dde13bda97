"""The documentation: what it shows runs, and every public name is in it."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from sixfold import harness, strategies

from .suites import run_pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"

#: A fenced block whose first line names the file that it is.
_FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_files_of_the_pytest_guide_run_as_they_stand(tmp_path: Path) -> None:
    files = _FILE.findall((DOCS / "pytest.md").read_text(encoding="utf-8"))
    assert len(files) >= 5
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run_pytest(tmp_path, "-q", "--sixfold-audit")
    assert "10 passed" in done.stdout, done.stdout + done.stderr
    assert re.search(r"folded: +6 ", done.stdout), done.stdout
    assert "shape-only, so blind" not in done.stdout


@pytest.mark.parametrize("package", [harness, strategies], ids=lambda package: package.__name__)
def test_every_public_name_is_documented(package: ModuleType) -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^### `(sixfold\.\w+\.\w+)`\n\n::: (\S+)$", text, re.MULTILINE))
    for name in package.__all__:
        full = f"{package.__name__}.{name}"
        if name == "InvariantViolation" and package is strategies:
            full = f"{harness.__name__}.{name}"
        assert full in told, f"{full} is not in docs/api.md"
        module, _, attribute = told[full].rpartition(".")
        thing = getattr(package, name)
        assert getattr(import_module(module), attribute) is thing
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), f"{full} has no docstring"


def test_names_are_listed_and_loaded_alike() -> None:
    assert set(harness.__all__) == set(harness._MODULES)
    assert set(harness.__all__) <= set(dir(harness))
    assert set(strategies.__all__) <= set(dir(strategies))
    for package in (harness, strategies):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = package.nothing


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_page_is_in_the_navigation(page: Path) -> None:
    assert f": {page.name}\n" in (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
