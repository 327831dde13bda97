"""Stand-alone files: each fails by its own assertion in a process of its own, and without the bug passes."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sixfold.harness.candidate import Candidate
from sixfold.harness.dependencies import recap_of
from sixfold.harness.faults import Fault
from sixfold.harness.findings import Finding
from sixfold.harness.plain import PlainTarget
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import (
    AdvanceClock,
    Configure,
    Continue,
    LoadTurn,
    OtherThread,
    Restart,
    Rewind,
    Step,
    ToolCall,
    ToolRound,
    TrimState,
    UserMessage,
    UserTurn,
)
from sixfold.models.resolve import resolve
from sixfold.reports import standalone
from sixfold.reports.fresh_process import rerun
from sixfold.reports.standalone import NoFile, Written, files, written

from ..corpus.cases import LOCAL
from .standalone_runs import found, run_of

ROUND = ToolRound()
PAIR = ToolRound(calls=(ToolCall(), ToolCall()))
SKIPPED = (Fault("skip", "before_agent"),)
SUMMARY = "langchain.summarization"
SYSTEM = Configure(system_in_state=True)

#: Findings on installed middleware: target, code, steps.
INSTALLED: dict[str, tuple[str, str, tuple[Step, ...]]] = {
    "L3": (SUMMARY, "4.orphan-result", (LoadTurn(calls=2, arrangement="consecutive_calls"), Continue())),
    "L7": (SUMMARY, "4.question-lost", (UserTurn(), UserTurn(rounds=(ROUND,)))),
    "L7-cut": (SUMMARY, "4.cut-inside-turn", (UserTurn(), UserTurn(rounds=(ROUND,)))),
    "empty-summary": (
        SUMMARY,
        "5.failed-summary-committed",
        (UserTurn(), UserTurn(), UserTurn(faults=(Fault("bad_summary", "summariser"),))),
    ),
    "again": (
        SUMMARY,
        "5.regenerated",
        (UserTurn(messages=(UserMessage(), UserMessage()), rounds=(PAIR,)), Continue()),
    ),
    "system": (SUMMARY, "4.system-lost", (SYSTEM, UserTurn(), UserTurn(), UserTurn())),
    "L10": ("langchain.context_editing", "5.prefix-broken", (UserTurn(rounds=(ROUND,) * 6),)),
}

STACK = """
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage


class Idle(AgentMiddleware):
    def before_model(self, state, runtime):
        return None


class Notes(AgentMiddleware):
    def before_agent(self, state, runtime):
        first = state["messages"][0]
        words = HumanMessage(first.content, id=f"{first.id}.b")
        return {"messages": [HumanMessage("note", id=first.id), words]}


STACK = [Idle(), Notes()]
"""


@pytest.fixture(scope="module")
def installed() -> dict[str, tuple[Written, str]]:
    """Each finding on an installed middleware: its file, and what is wrong with it in a fresh process."""
    made: dict[str, Written] = {}
    for name, (target, code, steps) in INSTALLED.items():
        candidate = resolve(target)
        finding = found(candidate, code, Scenario(steps))
        file = written(finding, run_of(candidate, finding))
        assert isinstance(file, Written), file
        made[name] = file
    scripts = [replace(file.script, name=f"test_{number}.py") for number, file in enumerate(made.values())]
    outcomes = rerun(scripts)
    return {name: (file, outcome) for (name, file), outcome in zip(made.items(), outcomes, strict=True)}


@pytest.mark.parametrize("name", INSTALLED)
def test_installed_middleware_needs_no_sixfold(installed: dict[str, tuple[Written, str]], name: str) -> None:
    file, outcome = installed[name]
    assert outcome == ""
    assert not file.needs_sixfold
    assert "sixfold" not in "\n".join(line for line in file.text.splitlines() if "import" in line)
    assert "import SummarizationMiddleware" in file.text or "import ClearToolUsesEdit" in file.text


def local_files(fixed: bool) -> list[tuple[str, Written]]:
    made = []
    for case in LOCAL:
        candidate = resolve(case.bug.target)
        for code in case.codes:
            try:
                finding = found(candidate, code, case.trigger)
            except IndexError:
                continue
            file = written(finding, run_of(candidate, finding))
            assert isinstance(file, Written), (case.name, code, file)
            if fixed and case.fixed is not None:
                target, other = f'TARGET = "{case.bug.target}"', f'TARGET = "{case.fixed.target}"'
                assert target in file.text
                file = replace(file, text=file.text.replace(target, other))
            made.append((f"{case.name} {code}", file))
            break
    return made


@pytest.mark.parametrize(("fixed", "expected"), [(False, ""), (True, "it passes")])
def test_known_bugs_fail_and_their_fixes_pass(fixed: bool, expected: str) -> None:
    made = local_files(fixed)
    scripts = [replace(file.script, name=f"test_{number}.py") for number, (_, file) in enumerate(made)]
    outcomes = dict(zip([name for name, _ in made], rerun(scripts), strict=True))
    assert outcomes == dict.fromkeys(outcomes, expected)
    assert len(outcomes) == len(LOCAL)


def test_a_stack_in_a_file_is_loaded_whole_and_what_it_needs_is_told(tmp_path: Path) -> None:
    path = tmp_path / "stacked.py"
    path.write_text(STACK)
    candidate = resolve(f"{path}:STACK")
    finding = found(candidate, "2.id-rewrite", Scenario((UserTurn(), UserTurn())))
    assert finding.members == ("Notes",)
    run = run_of(candidate, finding)
    [(name, text)] = files(run).items()
    assert name == f"test_repro_{finding.id}.py"
    assert "sixfold" not in text.replace(str(path), "")
    assert "# Of these, it takes only Notes to show." in text


STEPS: dict[str, Sequence[Step]] = {
    "rewind": (UserTurn(), UserTurn(), Rewind(), UserTurn(), UserTurn(rounds=(ROUND,))),
    "restart": (UserTurn(), UserTurn(), Restart(), UserTurn(rounds=(ROUND, ROUND))),
    "stopped": (UserTurn(), UserTurn(rounds=(ROUND,), stop="after_calls"), Continue()),
    "asynchronous": (Configure(run_async=True), UserTurn(), UserTurn(rounds=(ROUND,))),
    "another thread": (UserTurn(), OtherThread(), UserTurn(rounds=(ROUND,))),
    "crash": (
        UserTurn(),
        UserTurn(rounds=(ROUND,), faults=(Fault("crash", "model"),)),
        Continue(rounds=(ROUND,)),
    ),
    "failing tool": (
        UserTurn(),
        UserTurn(rounds=(PAIR,), faults=(Fault("raise", "tool", nth=1),)),
        UserTurn(rounds=(ROUND,)),
    ),
    "failing summariser": (
        UserTurn(),
        UserTurn(rounds=(ROUND,), faults=(Fault("bad_summary", "summariser", for_good=True),)),
        UserTurn(),
        UserTurn(rounds=(ROUND,)),
    ),
    "failing token counter": (
        UserTurn(),
        UserTurn(rounds=(ROUND,), faults=(Fault("raise", "token_counter", nth=1),)),
        UserTurn(rounds=(ROUND,)),
    ),
    "two of each": (Configure(stack="twice"), UserTurn(), UserTurn(rounds=(ROUND,))),
    "trimmed": (UserTurn(), UserTurn(), TrimState(keep=1), UserTurn(), UserTurn(rounds=(ROUND,))),
    "skipped": (UserTurn(faults=(Fault("skip", "before_model"),)), UserTurn(), UserTurn(rounds=(ROUND,))),
    "shapes": (
        UserTurn(messages=(UserMessage(shape="blocks"), UserMessage(shape="image", form="dict"))),
        UserTurn(rounds=(ROUND,), chunks=True, metadata=True, usage="low", reply="thinking"),
    ),
}


def test_every_kind_of_step_is_played_as_sixfold_plays_it() -> None:
    candidate = resolve(SUMMARY)
    scripts = []
    for number, steps in enumerate(STEPS.values()):
        finding = found(candidate, "4.question-lost", Scenario(tuple(steps)), last=True)
        file = written(finding, run_of(candidate, finding))
        assert isinstance(file, Written), file
        scripts.append(replace(file.script, name=f"test_{number}.py"))
    outcomes = dict(zip(STEPS, rerun(scripts), strict=True))
    assert outcomes == dict.fromkeys(STEPS, "")


def finding_on_summarization() -> tuple[Candidate, Finding]:
    candidate = resolve(SUMMARY)
    return candidate, found(candidate, "4.question-lost", Scenario((UserTurn(), UserTurn(rounds=(ROUND,)))))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((AdvanceClock(), UserTurn(), UserTurn(rounds=(ROUND,))), "time passes"),
        ((UserTurn(), Restart(stored="json"), UserTurn(rounds=(ROUND,))), "old format"),
        (
            (UserTurn(), UserTurn(messages=(UserMessage(form="reused"),)), UserTurn(rounds=(ROUND,))),
            "sent again",
        ),
    ],
)
def test_what_cannot_be_written_has_a_reason(steps: tuple[Step, ...], reason: str) -> None:
    candidate = resolve(SUMMARY)
    finding = found(candidate, "4.question-lost", Scenario(steps), last=True)
    none = written(finding, run_of(candidate, finding))
    assert isinstance(none, NoFile)
    assert reason in none.reason


def test_comparisons_and_doubtful_findings_have_no_file() -> None:
    candidate, finding = finding_on_summarization()
    compared = replace(finding, signature=replace(finding.signature, code="5.replay-differs"))
    for doubtful, reason in (
        (compared, "compares several"),
        (replace(finding, confirmed=None), "not confirmed"),
    ):
        none = written(doubtful, run_of(candidate, doubtful))
        assert isinstance(none, NoFile)
        assert reason in none.reason


def test_a_file_that_does_not_fail_is_not_promised() -> None:
    candidate, finding = finding_on_summarization()
    run = run_of(candidate, finding)
    harmless = PlainTarget("langchain.agents.middleware", "ToolCallLimitMiddleware", (("run_limit", "9"),))
    run = replace(run, plain={candidate.name: harmless})
    [none] = standalone.promises([finding], run)
    assert isinstance(none, NoFile)
    assert none.reason.endswith("it passes")
    assert files(run) == {}


def test_equal_findings_give_equal_bytes() -> None:
    texts = set()
    for _ in range(2):
        candidate, finding = finding_on_summarization()
        file = written(finding, run_of(candidate, finding))
        assert isinstance(file, Written)
        texts.add(file.text)
    assert len(texts) == 1


HOSTILE = 'x""" \n\nimport pwned #\\\'\' \u202e \x1b \ud800 \u2028import pwned\n"'


def test_hostile_text_stays_in_literals_and_comments() -> None:
    candidate, finding = finding_on_summarization()
    finding = replace(finding, detail=HOSTILE, members=(HOSTILE,))
    run = replace(
        run_of(candidate, finding),
        targets={candidate.name: HOSTILE},
        versions={"langchain": HOSTILE, "langgraph": HOSTILE},
        plain={candidate.name: PlainTarget(f"{HOSTILE}.py", HOSTILE, (("keep", repr(HOSTILE)),))},
    )
    for plain in (run.plain, {}):
        file = written(finding, replace(run, plain=plain))
        assert isinstance(file, Written)
        assert all(char.isprintable() or char == "\n" for char in file.text)
        nodes = list(ast.walk(ast.parse(file.text)))
        assert not any(isinstance(n, ast.Import) and n.names[0].name == "pwned" for n in nodes)
        assert not any(isinstance(n, ast.Name) and n.id == "pwned" for n in nodes)


@pytest.mark.parametrize("shown", ["__import__('os').getcwd()", "environment.clock", "[x for x in ()]"])
def test_arguments_of_a_run_folder_are_literals_or_known(shown: str) -> None:
    candidate, finding = finding_on_summarization()
    run = replace(
        run_of(candidate, finding),
        plain={candidate.name: PlainTarget("langchain.agents.middleware", "Summary", (("keep", shown),))},
    )
    file = written(finding, run)
    assert isinstance(file, Written)
    assert shown not in file.text
    assert file.needs_sixfold


def test_a_summary_in_a_file_is_the_one_that_sixfold_gives() -> None:
    candidate, finding = finding_on_summarization()
    file = written(finding, run_of(candidate, finding))
    assert isinstance(file, Written)
    names: dict[str, object] = {}
    exec(compile(file.text, "file", "exec"), names)  # noqa: S102  our own text, to look at its parts
    model, message = names["SummaryModel"], names["HumanMessage"]
    prompt = "⟦u1⟧ ask: a [⟦a1.2⟧] \\u27e6t1.1.0\\u27e7 ⟦u1⟧ ⟦s1⟧"
    answer = model().invoke([message(prompt)])  # type: ignore[operator]
    assert answer.content == recap_of(["u1", "a1.2", "t1.1.0"])
