"""In test suites of others: a machine with rules of their own, and Hypothesis as its users know it."""

import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage

from sixfold.cli.app import app
from sixfold.cli.guard import guarded
from sixfold.harness import InvariantViolation, Scenario, TargetError, UserMessage, UserTurn, check
from sixfold.harness.scenario import from_json
from sixfold.harness.violation import compact, violation
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.strategies import ContextMachine, machine_for, scenarios

from ..helpers import explored
from ..suites import run_pytest, write

FEW = settings(max_examples=40, stateful_step_count=6, database=None, deadline=None)
ONCE = settings(FEW, phases=[Phase.generate], report_multiple_bugs=False)

#: Longer than any words that are drawn.
LONG = 1_000


class Clip(AgentMiddleware[Any, Any, Any]):
    """Flaw: long words of the user are cut off in the state."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        long = [m for m in state["messages"] if isinstance(m, HumanMessage) and len(str(m.content)) > 2_000]
        return {"messages": [HumanMessage(str(m.content)[:2_000], id=m.id) for m in long]} if long else None


class WithLongWords(machine_for(Clip)):  # type: ignore[misc]
    """A user's machine: one rule more."""

    @rule()
    def long_words(self) -> None:
        self.perform(UserTurn(messages=(UserMessage(words=LONG),)))


def test_one_rule_of_ones_own_finds_what_the_others_do_not() -> None:
    run_state_machine_as_test(machine_for(Clip), settings=FEW)
    with pytest.raises(InvariantViolation) as raised:
        run_state_machine_as_test(WithLongWords, settings=ONCE)
    assert raised.value.code == "2.content-changed"


def test_an_invariant_of_ones_own_sees_state_and_requests() -> None:
    class NeverTwoReminders(ContextMachine):
        candidates = (DEERFLOW,)

        @invariant()
        def one_reminder(self) -> None:
            reminders = [view for view in self.side.state if "<memory>" in view.text]
            assert len(reminders) <= 0, "a reminder"
            assert self.sides["control"].requests or not self.side.requests

    with pytest.raises(AssertionError, match="a reminder"):
        run_state_machine_as_test(NeverTwoReminders, settings=ONCE)


def failing() -> InvariantViolation:
    for scenario in explored(200, candidate=DEERFLOW_4667):
        try:
            check(DEERFLOW_4667, scenario)
        except InvariantViolation as error:
            return error
    raise AssertionError("nothing was found")


def test_notes_hold_the_picture_and_a_command_that_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = failing()
    picture, command = error.__notes__
    assert "turn 1: user: [u1" in picture
    assert f"← {error.code}: " in picture.splitlines()[-1]
    words = shlex.split(command.removeprefix("replay it: "))
    assert (words[0], words[2:]) == ("echo", ["|", "sixfold", "replay", "-", "deerflow-4667"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(words[1].encode())))
    monkeypatch.setattr("sys.argv", words[3:])
    with pytest.raises(SystemExit) as stop:
        guarded(app)
    assert stop.value.code == 1
    assert f"{error.code} violated" in capsys.readouterr().out


@given(scenario=scenarios())
def test_a_compact_scenario_is_the_same_scenario(scenario: Scenario) -> None:
    text = compact(scenario)
    assert "\n" not in text
    assert from_json(text) == scenario


def test_failures_of_two_checks_are_told_apart_by_their_class() -> None:
    one, again = failing(), failing()
    assert isinstance(one, InvariantViolation)
    assert type(one) is type(again) is not InvariantViolation
    history = check(DEERFLOW, Scenario((UserTurn(),))).history
    other = violation(DEERFLOW_4667, "6.recall", "it forgets", one.scenario, history, 0)
    assert type(other) is not type(one)


def test_one_failure_does_not_hide_another() -> None:
    history = check(DEERFLOW, Scenario((UserTurn(),))).history

    @settings(FEW, phases=[Phase.generate, Phase.shrink])
    @given(code=st.sampled_from(("2.reorder", "6.recall")))
    def holds(code: str) -> None:
        raise violation(DEERFLOW_4667, code, "as planned", Scenario(), history, 0)

    with pytest.raises(ExceptionGroup) as raised:
        holds()
    codes = [error.code for error in raised.value.exceptions if isinstance(error, InvariantViolation)]
    assert sorted(codes) == ["2.reorder", "6.recall"]


def test_machines_of_different_candidates_have_different_names() -> None:
    names = {machine_for(DEERFLOW).__name__, machine_for(DEERFLOW_4667).__name__, machine_for(Clip).__name__}
    assert names == {"MachineDeerflow", "MachineDeerflow4667", "MachineClip"}
    assert issubclass(machine_for(Clip), RuleBasedStateMachine)
    with pytest.raises(TargetError, match="two candidates"):
        machine_for(Clip, Clip)


# ------------------------------------------------------------------ Hypothesis, in a suite of its own

PROFILES = """
from hypothesis import Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

# Without shrinking: another test does that.
settings.register_profile(
    "mine",
    max_examples=300,
    stateful_step_count=10,
    deadline=None,
    print_blob=True,
    report_multiple_bugs=False,
    phases=[Phase.reuse, Phase.generate],
    database=DirectoryBasedExampleDatabase("kept"),
)
settings.register_profile("again", settings.get_profile("mine"), phases=[Phase.reuse])
settings.register_profile("no database", settings.get_profile("mine"), database=None)
"""

SUITE = """
from hypothesis import given, settings
from sixfold.harness import check
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.strategies import machine_for, scenarios

@given(scenario=scenarios())
def test_scenario(scenario):
    check(DEERFLOW_4667, scenario)

Machine = machine_for(DEERFLOW_4667)
TestMachine = Machine.TestCase
TestMachine.settings = settings()
"""


def failures(text: str) -> list[str]:
    return re.findall(r"violates (\S+):", text)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A suite that has failed once, with an example database in a folder."""
    folder = tmp_path_factory.mktemp("kept")
    write(folder, conftest=PROFILES, test_mine=SUITE)
    done = run_pytest(folder, "-q", "--hypothesis-profile=mine")
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    return folder, done.stdout


def test_a_directory_database_keeps_what_failed(kept: tuple[Path, str]) -> None:
    folder, _ = kept
    assert any((folder / "kept").rglob("*"))
    # Nothing is generated any more: what fails comes out of the database.
    done = run_pytest(folder, "-q", "--hypothesis-profile=again")
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    assert commands(done.stdout) == commands(kept[1])


def commands(text: str) -> list[str]:
    return re.findall(r"replay it: (.*)", text)


def test_reproduce_failure_works_for_both_front_ends(kept: tuple[Path, str], tmp_path: Path) -> None:
    blobs = re.findall(r"@reproduce_failure\(('[^']+'), (b'[^']+')\)", kept[1])
    assert len(blobs) == 2, kept[1]
    decorators = [f"@reproduce_failure({version}, {blob})" for version, blob in blobs]
    text = SUITE.replace("import given", "import given, reproduce_failure")
    machine, plan = (
        decorators if kept[1].index("TestMachine") < kept[1].index("_ test_scenario") else decorators[::-1]
    )
    text = text.replace("@given", f"{plan}\n@given")
    text = text.replace("Machine = ", f"Machine = {machine[1:]}(", 1).replace("4667)\nTest", "4667))\nTest")
    write(tmp_path, conftest=PROFILES, test_mine=text)
    done = run_pytest(tmp_path, "-q", "--hypothesis-profile=no database")
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    assert commands(done.stdout) == commands(kept[1])


def test_a_seed_gives_the_same_failures_on_one_processor_or_two(tmp_path: Path) -> None:
    write(tmp_path, conftest=PROFILES, test_bad=SUITE, test_sound=SUITE.replace("DEERFLOW_4667", "DEERFLOW"))
    seeded = ("-q", "--hypothesis-seed=7", "--hypothesis-profile=no database")
    one, two = run_pytest(tmp_path, *seeded), run_pytest(tmp_path, *seeded, "-n2")
    for done in (one, two):
        assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert len(commands(one.stdout)) == 2
    assert sorted(commands(one.stdout)) == sorted(commands(two.stdout))
