"""The audit: it tells tests that fold from tests that do not, and shows what the latter cannot see."""

import json
import re
from pathlib import Path

import pytest

from sixfold.cli.mutating import Runner, all_mutants, sources_of
from sixfold.harness.errors import SixfoldError
from sixfold.models.resolve import resolve

from ..suites import FOLDS, HISTORY, NO_OTHER_PLUGINS, REMINDER, SHAPE, run_pytest, write
from .conftest import Sixfold

MORE = """
import asyncio
from history import HISTORY
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, before_model
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import add_messages as fold_them
from reminder import Reminder

def proposed(): return Reminder().before_agent({"messages": HISTORY}, None)

def test_ignored(): proposed()
def test_not_none(): assert proposed() is not None
def test_nothing(): assert Reminder().before_agent({"messages": []}, None) is None
def test_added_up_by_hand():
    assert [*HISTORY, *proposed()["messages"]][-1].content == "remove the subtitles"
def test_compared(): assert proposed() == proposed() or True
def test_renamed_reducer(): assert fold_them(HISTORY, proposed()["messages"])
def test_named_arguments(): assert fold_them(left=HISTORY, right=proposed()["messages"])
def test_message_by_message():
    folded = HISTORY
    for message in proposed()["messages"]:
        folded = fold_them(folded, message)
    assert len(folded) == 4
def test_channel():
    channel = BinaryOperatorAggregate(list, fold_them).from_checkpoint(HISTORY)
    channel.update([proposed()["messages"]])
    assert len(channel.get()) == 4
def test_graph():
    agent = create_agent(FakeListChatModel(responses=["yes"]), [], middleware=[Reminder()])
    assert agent.invoke({"messages": HISTORY})["messages"]
def test_another_fold():
    proposed()["messages"]
    assert fold_them(HISTORY, [HumanMessage("something else")])
def test_asynchronous():
    class Late(AgentMiddleware):
        async def abefore_model(self, state, runtime): return {"messages": [HumanMessage("x")]}
    assert asyncio.run(Late().abefore_model({"messages": []}, None))["messages"]
def test_decorated():
    @before_model
    def say(state, runtime): return {"messages": [HumanMessage("x")]}
    assert fold_them([], say.before_model({"messages": []}, None)["messages"])
def test_by_its_parent():
    class Loud(Reminder):
        def before_agent(self, state, runtime): return super().before_agent(state, runtime)
    assert Loud().before_agent({"messages": HISTORY}, None)["messages"]
def test_with_a_fixture(fold): assert fold(Reminder(), HISTORY, update=proposed()).order_kept
def test_no_hook(): assert Reminder()
"""

EXPECTED = {
    "folded": "renamed_reducer named_arguments message_by_message channel graph decorated with_a_fixture",
    "shape-only": "added_up_by_hand compared another_fold asynchronous by_its_parent",
    "result ignored": "ignored not_none",
    "no update": "nothing",
}


SUITE = {"reminder": REMINDER, "history": HISTORY, "test_shape": SHAPE, "test_folds": FOLDS}


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes that the audit starts load no plugins that have nothing to do with it."""
    for name, value in NO_OTHER_PLUGINS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    write(tmp_path, **SUITE)
    return tmp_path


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a suite that was run once under audit, and what was printed."""
    folder = tmp_path_factory.mktemp("audited")
    write(folder, **SUITE, test_more=MORE)
    done = run_pytest(folder, "--sixfold-audit", "--sixfold-audit-report", "audit.json")
    assert "18 passed" in done.stdout, done.stdout + done.stderr
    return folder, done.stdout


def verdicts(folder: Path, file: str = "") -> dict[str, set[str]]:
    """Return the names of the tests in `file` by their verdict."""
    found: dict[str, set[str]] = {}
    for test in json.loads((folder / "audit.json").read_text())["tests"]:
        if test["test"].startswith(file):
            found.setdefault(test["verdict"], set()).add(test["test"].rpartition("::test_")[2])
    return found


def test_the_two_tests_of_the_article_are_told_apart(audited: tuple[Path, str]) -> None:
    folder, said = audited
    assert verdicts(folder, "test_shape.py") == {"shape-only": {"reminder_takes_an_id_and_words_follow"}}
    assert verdicts(folder, "test_folds.py") == {"folded": {"the_question_stays_the_last_one"}}
    assert "test_shape.py::test_reminder_takes_an_id_and_words_follow  (Reminder.before_agent)" in said
    assert re.search(r"folded: +8 ", said)


def test_each_way_to_fold_is_seen_and_nothing_else_is_taken_for_one(audited: tuple[Path, str]) -> None:
    folder, _ = audited
    assert verdicts(folder, "test_more.py") == {
        verdict: set(names.split()) for verdict, names in EXPECTED.items()
    }
    assert json.loads((folder / "audit.json").read_text())["tests_without_hooks"] == 1


def test_the_audit_does_not_change_what_tests_see(audited: tuple[Path, str]) -> None:
    assert "18 passed" in run_pytest(audited[0], "-q").stdout


def test_a_machine_of_sixfold_counts_as_folding(suite: Path) -> None:
    text = (
        "from hypothesis import settings\nfrom reminder import Reminder\n"
        "from sixfold.strategies import machine_for\n"
        "TestMine = machine_for(lambda environment: [Reminder()]).TestCase\n"
        "TestMine.settings = settings(max_examples=20, stateful_step_count=5, database=None, deadline=None)\n"
    )
    write(suite, test_machine=text)
    run_pytest(suite, "--sixfold-audit-report", "audit.json", "test_machine.py")
    assert set(verdicts(suite)) == {"folded"}


def test_the_command_runs_the_audit(suite: Path, sixfold: Sixfold) -> None:
    assert sixfold("audit", "--tests", "test_shape.py").code == 0
    assert sixfold("audit", "--mutate").err.startswith("error: there is nothing to mutate")


def test_the_head_scan_lives_under_the_shape_and_dies_under_the_fold(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(suite)
    target = "reminder.py:Reminder"
    [(path, classes, head)] = [
        each
        for each in all_mutants(sources_of(resolve(target)), 99)
        if each[2].rule == "head-instead-of-tail"
    ]
    told = {}
    for tests in ("test_shape.py", "test_folds.py"):
        runner = Runner(target, [tests], histories=40)
        runner.begin()
        told[tests] = runner.try_out(path, classes, head)
    assert told["test_folds.py"].verdict == "killed by the tests"
    assert told["test_shape.py"].verdict == "only Sixfold sees it"
    assert "3.stale-question" in told["test_shape.py"].codes
    assert (suite / "reminder.py").read_text() == REMINDER


def test_mutants_that_no_test_loads_are_told(suite: Path, sixfold: Sixfold) -> None:
    write(suite, test_nothing="def test_nothing(): pass\n")
    options = ("--tests", "test_nothing.py", "--max-mutants", "1", "--max-histories", "20")
    done = sixfold("audit", "reminder.py:Reminder", "--mutate", *options)
    assert done.code == 1, done.err
    assert "no test imports the file; Sixfold: " in " ".join(done.out.split())
    assert "1 of 11 mutants: 0 killed by the tests, 1 only Sixfold sees it" in " ".join(done.out.split())


def test_tests_that_fail_anyway_are_refused(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(suite)
    write(suite, test_bad="def test_bad(): assert False\n")
    with pytest.raises(SixfoldError, match="fail without any mutation"):
        Runner("reminder.py:Reminder", ["test_bad.py"], histories=5).begin()
