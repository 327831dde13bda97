"""`[tool.sixfold]`: candidates and defaults of a project; the command line wins; all mistakes at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from sixfold.cli.project import table_of

from .conftest import Sixfold

PROJECT = """
[tool.other]
x = 1

[tool.sixfold]
seed = 5
max_histories = 3
budget = "10m"
invariants = [2, 6]
report_dir = "kept"
format = "json"

[tool.sixfold.candidates]
plain = "mine.py:Notes"

[tool.sixfold.candidates.declared]
target = "mine.py:Notes"
contract = { injects_into_history = true, outside = ["rewind"], suffers = ["skip"] }
"""

MIDDLEWARE = """
from langchain.agents.middleware import AgentMiddleware
class Notes(AgentMiddleware):
    def before_agent(self, state, runtime): return None
"""


@pytest.fixture(autouse=True)
def mine(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MIDDLEWARE)


def run_of(done: Any) -> Any:
    assert done.code != 3, done.err
    return json.loads(done.out)


def names(result: Any) -> list[str]:
    return [candidate["name"] for candidate in result["candidates"]]


def test_a_run_without_anything_takes_the_project(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    result = run_of(sixfold("run"))
    assert names(result) == ["control", "plain", "declared"]
    options = result["options"]
    assert (options["seed"], options["max_histories"], options["budget"]) == (5, 3, 600)
    assert options["invariants"] == [2, 6]
    assert (tmp_path / "kept" / "latest" / "verdicts.json").is_file()


def test_the_command_line_wins(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    given = (
        "--seed",
        "1",
        "--max-histories",
        "2",
        "--budget",
        "1h",
        "--invariant",
        "1",
        "--report-dir",
        "mine",
    )
    result = run_of(sixfold("run", "mine.py:Notes", *given))
    assert names(result) == ["control", "mine.py:Notes"]
    options = result["options"]
    assert (options["seed"], options["max_histories"], options["budget"]) == (1, 2, 3600)
    assert options["invariants"] == [1]
    assert not (tmp_path / "kept").exists()
    assert "histories on" in sixfold("run", "plain", "--format", "terminal").out


def test_a_candidate_of_the_project_is_a_target(
    sixfold: Sixfold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    below = tmp_path / "some" / "where"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert names(run_of(sixfold("run", "declared"))) == ["control", "declared"]
    assert (tmp_path / "kept").is_dir()
    scenario = below / "s.json"
    scenario.write_text('{"sixfold_scenario": 1, "steps": [{"kind": "user_turn"}]}')
    assert "declared (reducer lane)" in sixfold("replay", "s.json", "declared").out


def test_contract_of_the_project_is_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sixfold.cli.project import candidate_of, chosen

    (tmp_path / "pyproject.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    plain, declared = map(candidate_of, chosen([], ("control",)))
    assert plain.contract == type(plain.contract)()
    assert declared.contract.injects_into_history
    assert declared.contract.outside == {"rewind"}
    assert declared.contract.suffers == {"skip"}


def test_a_project_without_the_table_changes_nothing(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    done = sixfold("run", "mine.py:Notes", "--max-histories", "2", "--format", "json")
    assert run_of(done)["options"]["seed"] == 0


MISTAKES = """
[tool.sixfold]
seed = "x"
max_histores = 3
max_histories = 0
budget = "soon"
invariants = [7]
format = "yaml"

[tool.sixfold.candidates.a]
contract = { compact = true, outside = ["rewnd"], id_swap = 1 }

[tool.sixfold.candidates]
b = 5
"""

#: Place and remedy of each mistake.
EXPLAINED = {
    "seed": "valid integer",
    "max_histores": "did you mean max_histories?",
    "max_histories": "greater than or equal to 1; it is 0",
    "budget": "Write a number with s, m or h",
    "invariants.0": "less than or equal to 6; it is 7",
    "format": "'terminal' or 'json'",
    "candidates.a.target": "add it",
    "candidates.a.contract.compact": "did you mean compacts?",
    "candidates.a.contract.outside.0": "'rewind'",
    "candidates.a.contract.id_swap": "valid boolean",
    "candidates.b": "it is 5",
}


def test_all_mistakes_are_told_at_once(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(MISTAKES)
    done = sixfold("run")
    assert (done.code, done.out) == (3, "")
    assert f"[tool.sixfold] has {len(EXPLAINED)} mistakes" in done.err
    assert str(tmp_path / "pyproject.toml") in done.err
    lines = [line.strip() for line in done.err.splitlines()]
    for place, remedy in EXPLAINED.items():
        [line] = [line for line in lines if line.startswith(f"tool.sixfold.{place}: ")]
        assert remedy in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.sixfold", "not valid TOML"),
        ("tool = 5", ""),
        ("[tool]\nsixfold = 5", "[tool.sixfold] has a mistake"),
        ("[tool.sixfold.candidates]\nx = 'deerflo'", "Did you mean deerflow?"),
        ("[tool.sixfold.candidates]\ncontrol = 'mine.py:Notes'", "two candidates are called 'control'"),
    ],
)
def test_an_odd_file_is_explained(sixfold: Sixfold, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    done = sixfold("run", *(() if words else ("mine.py:Notes", "--max-histories", "2")))
    assert done.code == (3 if words else 2)
    assert words in done.err
    assert "Traceback" not in done.err


def test_help_needs_no_project(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(MISTAKES)
    assert sixfold("run", "--help").code == 0
    assert sixfold("list").code == 0


def test_what_a_project_names_is_played_again_and_written_down(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.sixfold.candidates]\nmade = "copies.py:build"\nready = "copies.py:Copies"\n'
    )
    (tmp_path / "copies.py").write_text(COPIES)
    result = run_of(sixfold("run", "--max-histories", "3", "--invariant", "2", "--format", "json"))
    found = {finding["candidate"]: finding["id"] for finding in result["findings"]}
    assert set(found) == {"made", "ready"}
    for name, finding in found.items():
        scenario = str(next(tmp_path.glob(f".sixfold/runs/*/scenarios/{finding}.json")))
        assert sixfold("replay", scenario, name).code == 1
    texts = {name: sixfold("report", "--finding", finding).out for name, finding in found.items()}
    for name, text in texts.items():
        assert "A stand-alone test has failed with the assertion at its end in a fresh process." in text
        assert ("and Sixfold, with which the target is made" in text) == (name == "made")


COPIES = """
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
class Copies(AgentMiddleware):
    def before_agent(self, state, runtime):
        last = state["messages"][-1]
        return {"messages": [HumanMessage(last.content, id=f"{last.id}-copy")]}
def build(environment): return Copies()
"""


def test_a_command_reads_the_project_once(
    sixfold: Sixfold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    read: list[Path] = []
    monkeypatch.setattr(
        "sixfold.cli.project.table_of", lambda folder: read.append(folder) or table_of(folder)
    )
    for command in range(1, 3):
        assert names(run_of(sixfold("run", "plain", "declared", "mine.py:Notes")))[0] == "control"
        assert len(read) == command
