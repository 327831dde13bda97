"""Hostile text of every kind in every format: it never becomes more than text.

The formats that have a syntax of their own for it are tested here; those that only need to stay on their
line, within their schema or in their cell in the tests of JUnit, SARIF, GitHub, JSON, events and terminal.
"""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sixfold.harness.plain import PlainTarget
from sixfold.reports import html, markdown, standalone
from sixfold.reports.standalone import Written, written
from sixfold.reports.stored_run import StoredRun, load_run

from .runs import HOSTILE, made_hostile
from .test_html import Page

#: Text that nothing needs to be done for: what is around it is the skeleton of the format.
HARMLESS = "text"


@pytest.fixture(autouse=True)
def promised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Promise every file that can be written, so that its text is in the reports, too."""
    monkeypatch.setattr(standalone, "rerun", lambda scripts, **_: [""] * len(scripts))
    monkeypatch.setattr(standalone, "_OUTCOMES", {})


@pytest.fixture(scope="module")
def known_run(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return load_run(made_hostile(run_folder, HARMLESS, tmp_path_factory.mktemp("harmless") / "run"))


def skeleton(text: str) -> list[str]:
    """Return what a renderer of Markdown sees outside of code: the lines, without spans and blocks."""
    text = re.sub(r"^(`{3,})(\w*)\n.*?\n\1$", r"BLOCK \2", text, flags=re.DOTALL | re.MULTILINE)
    # The place is told when it is a hook, whose names have a dot.
    text = re.sub(r"`[^`\n]*`", "SPAN", text).replace("Here, at SPAN:", "Here:")
    return [line for line in text.splitlines() if line]


def test_the_skeleton_holds_what_is_outside_of_code() -> None:
    assert skeleton("a `b`\n```py\n# x\n```\n<b>") == ["a SPAN", "BLOCK py", "<b>"]


def test_markdown_has_the_same_skeleton(hostile_run: StoredRun, known_run: StoredRun) -> None:
    for finding, known in zip(hostile_run.findings, known_run.findings, strict=True):
        text = markdown.render(finding, hostile_run)
        lines = skeleton(text)
        # Where a history has nothing to compare, the difference is left out; nothing ever comes in.
        allowed = skeleton(markdown.render(known, known_run))
        odd = [
            line
            for line in lines
            if line.replace(finding.id, "ID") not in {each.replace(known.id, "ID") for each in allowed}
            and line not in ("## What happens", "BLOCK diff")
            and not line.startswith("There is no stand-alone test: SPAN.")
        ]
        assert odd == []


def test_html_has_the_same_elements_and_attributes(hostile_run: StoredRun, known_run: StoredRun) -> None:
    page = Page(html.files(hostile_run)[html.NAME])
    known = Page(html.files(known_run)[html.NAME])
    assert {(name, key) for name, found, _ in page.elements for key in found} <= {
        (name, key) for name, found, _ in known.elements for key in found
    } | {("rect", "rx"), ("rect", "class")}
    assert {name for name, _, _ in page.elements} <= {name for name, _, _ in known.elements}
    assert [name for name, _, _ in page.elements].count("script") == 1
    for _, attributes, _ in page.elements:
        assert (attributes.get("href") or "#").startswith("#")


def names_in(text: str) -> set[str]:
    """Return what a Python file imports, calls and defines."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {alias.name for alias in names} | {getattr(node, "module", "")}
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
    return found


def files_of(run: StoredRun, text: str, *, plain: bool) -> list[str]:
    """Return the stand-alone files of a run in which everything around the histories is `text`."""
    made = []
    for finding in run.findings[:1]:
        hostile = replace(finding, detail=text, members=(text, text))
        name = finding.signature.candidate
        target = PlainTarget(f"{text}.py", text, (("", repr(text)), ("keep", repr(text))))
        around = replace(
            run,
            targets={name: text},
            versions={"langchain": text, "langgraph": text},
            plain={name: target, f"{name}.x": target} if plain else {},
        )
        file = written(hostile, around)
        if isinstance(file, Written):
            made.append(file.text)
    assert made
    return made


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "with Sixfold"])
def test_a_stand_alone_file_does_the_same(real_run: StoredRun, hostile_text: str, plain: bool) -> None:
    for text, known in zip(
        files_of(real_run, hostile_text, plain=plain), files_of(real_run, HARMLESS, plain=plain), strict=True
    ):
        assert all(char.isprintable() or char == "\n" for char in text)
        # A name that is no identifier is taken with getattr and importlib, from a literal.
        assert names_in(text) <= names_in(known) | {"getattr", "importlib", "import_module", hostile_text}


def test_every_kind_of_hostile_text_is_there() -> None:
    asked = {
        "HTML": "<script>",
        "Markdown": "](javascript:",
        "ANSI escapes": "\x1b[31m",
        "mentions": "@everyone",
        "issues": "#123",
        "fences": "```",
        "bidi": "\u202e",
        "formulas": "=HYPERLINK",
        "a megabyte": "x" * 1_000_000,
        "lone surrogates": "\ud800",
    }
    for kind, text in asked.items():
        assert any(text in each for each in HOSTILE.values()), kind
