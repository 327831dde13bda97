"""The pytest plugin in suites of others: options, scenario files, fixtures, and nothing unless asked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sixfold.cli import pytest_plugin
from sixfold.harness.faults import Fault
from sixfold.harness.scenario import Scenario, to_json
from sixfold.harness.steps import UserTurn

from ..suites import HISTORY, PLUGIN, REMINDER, run_pytest, write

PLAIN = Scenario((UserTurn(),))
#: The bug #4667: one injection is skipped, and the next attaches to the first message.
BREAKS = Scenario((UserTurn(faults=(Fault("skip", "before_agent"),)), UserTurn()))

PROJECT = """
[tool.sixfold.candidates]
sound = "deerflow"
before = "deerflow-4667"
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "4667.sixfold.json").write_text(to_json(BREAKS))
    (tmp_path / "corpus" / "plain.sixfold.json").write_text(to_json(PLAIN))
    return tmp_path


def test_the_plugin_imports_nothing_but_pytest() -> None:
    script = (
        f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; "
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert all(name.startswith("'sixfold") for name in done.stdout.strip("[]\n").split(", ")), done.stdout


def test_the_plugin_has_no_hook_that_runs_for_each_test() -> None:
    hooks = {name for name in vars(pytest_plugin) if name.startswith("pytest_")}
    # Once a run, once a file, once a collection.
    assert hooks == {
        "pytest_addoption",
        "pytest_configure",
        "pytest_load_initial_conftests",
        "pytest_collect_file",
        "pytest_collection_modifyitems",
    }
    autouse = [fixture for fixture in vars(pytest_plugin).values() if "autouse=True" in repr(fixture)]
    assert autouse == []


def test_scenario_files_are_tests_on_each_target(corpus: Path) -> None:
    done = run_pytest(
        corpus, "-v", "--sixfold", "deerflow", "--sixfold", "deerflow-4667", "corpus", "-k", "json"
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "corpus/4667.sixfold.json::deerflow-4667 FAILED" in done.stdout
    assert "deerflow-4667 violates 2.id-rewrite: the words of u1" in done.stdout
    assert "corpus/4667.sixfold.json::deerflow PASSED" in done.stdout
    assert "| sixfold replay - deerflow-4667" in done.stdout
    assert "Traceback" not in done.stdout


def test_scenario_files_are_played_on_the_candidates_of_the_project(corpus: Path) -> None:
    (corpus / "pyproject.toml").write_text(PROJECT)
    done = run_pytest(corpus, "-v", "-n2")
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "FAILED corpus/4667.sixfold.json::before" in done.stdout


def test_without_targets_scenario_files_are_skipped(corpus: Path) -> None:
    done = run_pytest(corpus, "-rs")
    assert "2 skipped" in done.stdout
    assert "no target: use --sixfold" in done.stdout


def test_a_damaged_scenario_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "bad.sixfold.json").write_text('{"sixfold_scenario": 1, "steps": [{"kind": "\\u001b[31m"}]}')
    done = run_pytest(tmp_path, "--sixfold", "deerflow", "-k", "json")
    assert "1 failed" in done.stdout
    assert "invalid scenario: steps.0" in done.stdout
    assert "Traceback" not in done.stdout
    assert "\x1b[31m" not in done.stdout


def test_a_target_is_fuzzed_in_a_test_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, reminder=REMINDER, test_other="def test_other(): pass\n")
    done = run_pytest(
        tmp_path, "-v", "--sixfold", "deerflow-4667", "--sixfold-max-histories", "60", "--sixfold-seed", "3"
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "sixfold[deerflow-4667] FAILED" in done.stdout
    assert "distinct finding" in done.stdout
    assert "in 60 histories" in done.stdout
    assert "(seed 3)" in done.stdout
    assert "| sixfold replay - deerflow-4667" in done.stdout


def test_a_target_that_cannot_be_loaded_fails_with_the_reason(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "--sixfold", "nowhere.py:Thing")
    assert "1 failed" in done.stdout
    assert "error: there is no file nowhere.py" in done.stdout
    assert "Traceback" not in done.stdout


FIXTURES = """
import pytest
from history import HISTORY
from reminder import Reminder


def test_folds(fold):
    assert fold(Reminder(), HISTORY).last_user == "remove the subtitles"


def test_fails_and_shows_what_was_folded(fold):
    assert fold(Reminder(), HISTORY).last_user == "make me a product intro video"


def test_environment(sixfold_environment):
    environment = sixfold_environment
    assert environment.state.read()
    assert environment.token_counter(HISTORY) > 9
    assert environment.new_id() != environment.new_id()
    assert environment.model.invoke(HISTORY).content.startswith("Recap:")
    assert environment.clock.now().year > 2000
"""


def test_fixtures(tmp_path: Path) -> None:
    write(tmp_path, reminder=REMINDER, history=HISTORY, test_fixtures=FIXTURES)
    done = run_pytest(tmp_path)
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "folded by sixfold" in done.stdout
    assert (
        'state:    [user id=m1 "make me a product intro…"] [model id=a1 "done"] [system id=m2 "Be brief."]'
        in done.stdout
    )


def test_nothing_is_done_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    write(
        tmp_path,
        test_it="import sys\ndef test_it(): assert not {'langchain', 'sixfold.harness'} & set(sys.modules)\n",
    )
    done = run_pytest(tmp_path)
    assert "1 passed" in done.stdout, done.stdout
    assert "audit" not in done.stdout


def test_json_of_an_audit_is_one_document_under_xdist(tmp_path: Path) -> None:
    write(tmp_path, reminder=REMINDER, history=HISTORY, test_fixtures=FIXTURES)
    done = run_pytest(tmp_path, "-n2", "--sixfold-audit-report", "audit.json")
    assert "sixfold audit" in done.stdout, done.stdout + done.stderr
    data = json.loads((tmp_path / "audit.json").read_text())
    assert data["counts"]["folded"] == 2
    assert data["tests_without_hooks"] == 1
    assert [test["test"].partition("::")[2] for test in data["tests"]] == [
        "test_fails_and_shows_what_was_folded",
        "test_folds",
    ]
