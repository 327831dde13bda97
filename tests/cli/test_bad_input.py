"""Bad input: each has cause, place and remedy on stderr, exit code 3, and no traceback."""

import os
import textwrap
from pathlib import Path

import pytest

from .conftest import Sixfold

FILES = {
    "raises.py": "x = 1\nraise RuntimeError('no licence')\n",
    "exits.py": "import sys\nsys.exit(0)\n",
    "syntax.py": "def f(:\n",
    "needs.py": "import a_package_that_is_not_there\n",
    "things.py": (
        "from langchain.agents.middleware import AgentMiddleware\n"
        "class Needs(AgentMiddleware):\n"
        "    def __init__(self, ledger, *, tenant): ...\n"
        "class Fails(AgentMiddleware):\n"
        "    def __init__(self): raise ValueError('no key')\n"
        "class Plain: ...\n"
        "number = 5\n"
        "empty = []\n"
        "mixed = [Fails, 5]\n"
        "def two(left, right): ...\n"
        "def nothing(environment): return None\n"
        "def numbers(environment): return [5]\n"
        "def fails(environment): raise ValueError('no key')\n"
    ),
    "damaged.json": '{"sixfold_scenario": 1, "steps": [{"kind": "explode"}]}',
    "future.json": '{"sixfold_scenario": 99, "steps": []}',
    "not.json": "hello",
}

#: What is run, and words that cause, place and remedy must hold.
BAD: dict[str, tuple[tuple[str, ...], tuple[str, str, str]]] = {
    "unknown target": (("run", "deerflo"), ("'deerflo'", "command line", "Did you mean deerflow?")),
    "nothing like a target": (("run", "?!"), ("'?!'", "command line", "sixfold list")),
    "module that raises": (("run", "raises.py:X"), ("RuntimeError: no licence", "raises.py:2", "import")),
    "module that exits": (("run", "exits.py:X"), ("SystemExit", "exits.py:2", "import")),
    "syntax error": (("run", "syntax.py:X"), ("SyntaxError", "syntax.py", "import")),
    "module with a missing import": (
        ("run", "needs.py:X"),
        ("a_package_that_is_not_there", "needs.py:1", "import"),
    ),
    "missing module": (("run", "no_such_module:X"), ("no_such_module", "no_such_module:X", "Install")),
    "missing file": (("run", "no/such.py:X"), ("no/such.py", "no/such.py:X", "Check the path")),
    "missing attribute": (("run", "things.py:Need"), ("'Need'", "things.py:Need", "Did you mean Needs?")),
    "missing attribute of a module": (("run", "json:dump_"), ("'dump_'", "json:dump_", "Did you mean dump")),
    "constructor": (
        ("run", "things.py:Needs"),
        ("ledger, tenant", "things.py:Needs", "def build(environment):"),
    ),
    "constructor that raises": (
        ("run", "things.py:Fails"),
        ("ValueError: no key", "things.py:Fails", "factory"),
    ),
    "class of something else": (("run", "things.py:Plain"), ("Plain", "things.py:Plain", "AgentMiddleware")),
    "number": (("run", "things.py:number"), ("int", "things.py:number", "AgentMiddleware")),
    "empty list": (("run", "things.py:empty"), ("list", "things.py:empty", "AgentMiddleware")),
    "list of other things": (("run", "things.py:mixed"), ("an int", "things.py:mixed", "AgentMiddleware")),
    "function of two arguments": (("run", "things.py:two"), ("2 required", "things.py:two", "def build(")),
    "factory of nothing": (("run", "things.py:nothing"), ("returned nothing", "things.py:nothing", "Return")),
    "factory of numbers": (("run", "things.py:numbers"), ("int", "things.py:numbers", "Return")),
    "factory that raises": (("run", "things.py:fails"), ("ValueError: no key", "things.py:fails", "factory")),
    "budget": (("run", "deerflow", "--budget", "soon"), ("'soon'", "--budget", "90s")),
    "budget of nothing": (("run", "deerflow", "--budget", "0s"), ("'0s'", "--budget", "90s")),
    "format": (("run", "deerflow", "--format", "yaml"), ("'yaml'", "--format", "json")),
    "report folder": (
        ("run", "deerflow", "--report-dir", "not.json"),
        ("run folder", "not.json", "--report-dir"),
    ),
    "damaged scenario": (("replay", "damaged.json"), ("explode", "damaged.json", "sixfold run")),
    "future scenario": (("replay", "future.json"), ("99", "future.json", "Upgrade")),
    "scenario that is no JSON": (("replay", "not.json"), ("not valid JSON", "not.json", "sixfold run")),
    "missing scenario": (("replay", "none.json"), ("cannot read", "none.json", "path")),
    "lane": (("replay", "future.json", "--lane", "fast"), ("'fast'", "--lane", "reducer, graph")),
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_explained(sixfold: Sixfold, name: str) -> None:
    arguments, (cause, place, remedy) = BAD[name]
    outcome = sixfold(*arguments)
    assert outcome.code == 3, outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    first, _, rest = outcome.err.partition("\n  where: ")
    where, _, what_to_do = rest.partition("\n  remedy: ")
    assert first.startswith("error: ")
    assert cause in first
    assert place in where
    assert remedy in what_to_do


@pytest.mark.parametrize(
    "arguments",
    [
        ("fly",),
        ("run", "--max-histories", "0"),
        ("run", "--max-histories", "many"),
        ("run", "--invariant", "7"),
        ("run", "--seed"),
        ("run", "--no-such-option"),
        ("replay",),
    ],
)
def test_wrong_arguments_are_usage_errors(sixfold: Sixfold, arguments: tuple[str, ...]) -> None:
    outcome = sixfold(*arguments)
    assert outcome.code == 3
    assert "Error" in outcome.err or "Usage" in outcome.err
    assert "Traceback" not in outcome.err


def test_constructor_remedy_can_be_pasted(sixfold: Sixfold, tmp_path: Path) -> None:
    remedy = sixfold("run", "things.py:Needs").err.partition("remedy: ")[2]
    # A file is loaded under a private name, which nobody else can import.
    assert "_sixfold_target_" not in remedy
    code = textwrap.dedent(remedy.partition("\n")[2])
    assert "Needs(...)" in code
    with (tmp_path / "things.py").open("a") as file:
        file.write(code.replace("Needs(...)", "Needs(1, tenant=2)"))
    outcome = sixfold("run", "things.py:build", "--max-histories", "2")
    assert outcome.code != 3, outcome.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    outcome = sixfold("run", "deerflow", "--report-dir", "locked/runs")
    assert outcome.code == 3
    assert "--report-dir" in outcome.err
