"""`sixfold init`: what it writes runs as it stands, and nothing that is there is lost."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from sixfold.harness import run_folder

from .conftest import Sixfold

MIDDLEWARE = '''
from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables import RunnableLambda

class Easy(AgentMiddleware):
    def __init__(self, model, /, *, store, keep_messages=20, mood="good\\n#"): self.kept = keep_messages
    def before_model(self, state, runtime): return {"messages": state["messages"][:0], "jump_to": None}

class Hard(AgentMiddleware):
    def __init__(self, ledger: "dict[str, int]", *, tenant="""a\\nb""", who): pass

class Fails(AgentMiddleware):
    def __init__(self): raise ValueError("no key")

class Outer:
    class Candidate(AgentMiddleware): pass

instance = Easy(1, store=2)
def hook(state): return None
def factory(environment): return Easy(environment.model, store=None)
'''


@pytest.fixture(autouse=True)
def mine(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MIDDLEWARE)


@pytest.mark.parametrize("name", ["Easy", "instance", "hook", "factory", "Outer.Candidate"])
def test_what_is_written_runs(sixfold: Sixfold, tmp_path: Path, name: str) -> None:
    done = sixfold("init", f"mine.py:{name}")
    assert done.code == 0, done.err
    [adapter, test] = [
        line.removeprefix("wrote ") for line in done.out.splitlines() if line.startswith("wrote ")
    ]
    assert f"sixfold run {adapter}:CANDIDATE" in done.out
    assert f"pytest {test}" in done.out
    assert "FILL IN" not in (tmp_path / adapter).read_text()
    assert "docs/" not in (tmp_path / adapter).read_text()
    assert sixfold("run", f"{adapter}:CANDIDATE", "--max-histories", "2").code != 3
    ast.parse((tmp_path / test).read_text())


def test_the_written_test_is_found_and_run_by_pytest(sixfold: Sixfold, tmp_path: Path) -> None:
    sixfold("init", "mine.py:Easy", "--folder", "suite")
    test = tmp_path / "suite" / "test_sixfold_easy.py"
    test.write_text(test.read_text().replace("max_examples=50", "max_examples=2"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_arguments_are_filled_in_literally(sixfold: Sixfold, tmp_path: Path) -> None:
    sixfold("init", "mine.py:Easy")
    text = (tmp_path / "sixfold_easy.py").read_text()
    assert "from langgraph.store.memory import InMemoryStore" in text
    for line in ("environment.model,", "store=InMemoryStore(),", "keep_messages=2,", "# mood='good\\n#',"):
        assert f"            {line}\n" in text


def test_what_is_missing_is_marked_and_named(sixfold: Sixfold, tmp_path: Path) -> None:
    done = sixfold("init", "mine.py:Hard")
    assert done.code == 0
    assert "fill in ledger, who: the places are marked FILL IN in sixfold_hard.py" in done.out
    adapter = tmp_path / "sixfold_hard.py"
    run = sixfold("run", "sixfold_hard.py:CANDIDATE")
    assert (run.code, "fill in ledger in" in run.err) == (3, True)
    lines = adapter.read_text().splitlines()
    assert sum("# FILL IN: " in line for line in lines) == 2
    adapter.write_text(adapter.read_text().replace('fill_in("ledger")', "{}").replace('fill_in("who")', "1"))
    assert sixfold("run", "sixfold_hard.py:CANDIDATE", "--max-histories", "2").code != 3


def test_a_class_of_an_installed_package_is_imported(sixfold: Sixfold, tmp_path: Path) -> None:
    sixfold("init", "langchain.agents.middleware:ContextEditingMiddleware")
    text = (tmp_path / "sixfold_context_editing.py").read_text()
    assert "\nfrom langchain.agents.middleware import ContextEditingMiddleware\n" in text
    assert "edits=[ClearToolUsesEdit(trigger=40, keep=1)]," in text
    run = sixfold("run", "sixfold_context_editing.py:CANDIDATE", "--max-histories", "20")
    assert run.code != 3, run.err


def test_an_adapter_that_cannot_be_built_is_said_to_be_so(sixfold: Sixfold) -> None:
    done = sixfold("init", "mine.py:Fails")
    assert done.code == 0
    assert "it cannot be built yet: building the middleware raised ValueError: no key" in done.out


def test_what_is_found_is_played_again_by_the_name_in_the_matrix(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text(
        "from langchain.agents.middleware import AgentMiddleware\n"
        "class Never(AgentMiddleware):\n"
        "    def before_agent(self, state, runtime): raise LookupError('no')\n"
    )
    sixfold("init", "fails.py:Never")
    assert sixfold("run", "sixfold_never.py:CANDIDATE", "--max-histories", "3").code == 1
    scenario = str(next(tmp_path.glob(".sixfold/runs/*/scenarios/SF-*.json")))
    again = sixfold("replay", scenario, "Never")
    assert (again.code, "6.hook-error violated" in again.out) == (1, True)
    assert "unknown target 'Nevermore'" in sixfold("replay", scenario, "Nevermore").err


def test_nothing_is_overwritten_without_force(sixfold: Sixfold, tmp_path: Path) -> None:
    test = tmp_path / "test_sixfold_easy.py"
    test.write_text("precious")
    done = sixfold("init", "mine.py:Easy")
    assert done.code == 3
    assert "--force" in done.err
    assert test.read_text() == "precious"
    assert not (tmp_path / "sixfold_easy.py").exists()
    assert sixfold("init", "mine.py:Easy", "--force").code == 0
    assert "machine_for" in test.read_text()


def test_both_files_or_none(sixfold: Sixfold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sixfold_easy.py").write_text("precious")
    real = run_folder.write_atomically

    def fails_on_the_second(path: Path, text: str) -> None:
        if path.name.startswith("test_"):
            raise OSError(28, "No space left on device", str(path))
        real(path, text)

    monkeypatch.setattr("sixfold.cli.init.write_atomically", fails_on_the_second)
    done = sixfold("init", "mine.py:Easy", "--force")
    assert (done.code, "No space left" in done.err) == (3, True)
    assert (tmp_path / "sixfold_easy.py").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".py") == [
        "mine.py",
        "sixfold_easy.py",
    ]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("deerflow", "sixfold run deerflow"),
        ("mine.py:Eas", "Did you mean Easy?"),
        ("json:JSONDecoder", "AgentMiddleware"),
        ("shutil:copyfile", "2 required"),
    ],
)
def test_what_is_no_target_is_explained(sixfold: Sixfold, tmp_path: Path, target: str, words: str) -> None:
    done = sixfold("init", target)
    assert done.code == 3
    assert words in done.err
    assert [path.name for path in tmp_path.glob("*.py")] == ["mine.py"]
