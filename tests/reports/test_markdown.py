"""The issue text of a finding: complete, short, and nothing that a tracker would render, link or notify."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.errors import SixfoldError
from sixfold.harness.events import Options, RunResult
from sixfold.harness.run_folder import RunFolder
from sixfold.harness.scenario import Scenario, from_json
from sixfold.harness.steps import Continue, LoadTurn, ToolRound, UserTurn
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.models.resolve import resolve
from sixfold.reports.markdown import code_span, fenced, render
from sixfold.reports.standalone import files
from sixfold.reports.stored_run import StoredRun, load_run

from ..helpers import explore
from .standalone_runs import found, run_of

HOSTILE = "<script>alert(1)</script> @everyone #123 `tick` ```fence \x1b[31m \u202e [link](http://x) |cell|"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredRun, RunResult]:
    """A run as it is read from its folder, and as the campaign returned it."""
    folder = RunFolder(tmp_path_factory.mktemp("runs"), "one")
    result = Campaign([DEERFLOW, DEERFLOW_4667], Options(max_histories=150), [folder]).run(explore)
    return load_run(folder.path), result


@pytest.fixture(scope="module")
def run(played: tuple[StoredRun, RunResult]) -> StoredRun:
    return played[0]


def test_a_stored_run_gives_the_findings_that_the_run_had(played: tuple[StoredRun, RunResult]) -> None:
    run, result = played
    assert run.findings == result.findings
    assert {finding.signature.code for finding in run.findings} >= {"2.reorder", "3.stale-question"}


def test_the_text_says_what_a_maintainer_asks_for(run: StoredRun) -> None:
    [finding] = [f for f in run.findings if f.signature.code == "3.attach-not-latest"]
    text = render(finding, run)
    assert text.startswith(f"# {finding.id}: `deerflow-4667` 3.attach-not-latest")
    assert '- [u1 "…"]  human:' in text
    assert '+ [u1__user "…"]  human:' in text
    assert "Confirmed in the real `create_agent` graph" in text
    assert "the fault skip" in text
    assert f"sixfold replay {finding.id}.json deerflow-4667" in text
    assert run.versions["langchain"] in text
    assert len(re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL).splitlines()) < 80


@pytest.mark.parametrize(
    ("code", "marked"),
    [
        ("2.reorder", {'+ [u1__user "…"]'}),
        ("3.stale-question", {'+ [u1__user "…"]'}),
        ("3.attach-not-latest", {"+ [reminder id=u1]"}),
    ],
)
def test_the_offending_row_is_marked(run: StoredRun, code: str, marked: set[str]) -> None:
    [finding, *_] = [f for f in run.findings if f.signature.code == code]
    [block] = re.findall(r"```diff\n(.*?)\n```", render(finding, run), re.DOTALL)
    rows = [line.partition("  ← ") for line in block.splitlines()]
    assert {row.partition("]")[0] + "]" for row, _, code_there in rows if code_there == code} == marked
    assert {code_there for _, _, code_there in rows} <= {code, ""}


def test_what_was_lost_is_marked_where_it_was() -> None:
    candidate = resolve("langchain.summarization")
    for code, marked in (("4.question-lost", '- [u2 "…"]'), ("4.cut-inside-turn", '- [u2 "…"]')):
        finding = found(candidate, code, Scenario((UserTurn(), UserTurn(rounds=(ToolRound(),)))))
        lines = render(replace(finding, confirmed=None), run_of(candidate, finding)).splitlines()
        wrong = [line for line in lines if line.endswith(f"  ← {code}")]
        assert [line.partition("]")[0] + "]" for line in wrong] == [marked]


def test_a_summary_that_is_read_as_the_question_is_marked() -> None:
    candidate = resolve("langchain.summarization")
    finding = found(candidate, "3.stale-question", Scenario((UserTurn(), UserTurn(rounds=(ToolRound(),)))))
    lines = render(replace(finding, confirmed=None), run_of(candidate, finding)).splitlines()
    [wrong] = [line for line in lines if line.endswith("  ← 3.stale-question")]
    assert wrong.startswith("+ [summary id=")


def test_a_request_that_is_all_wrong_by_itself_is_shown_and_marked() -> None:
    candidate = resolve("langchain.summarization")
    steps = (LoadTurn(calls=2, arrangement="consecutive_calls"), Continue())
    finding = found(candidate, "4.orphan-result", Scenario(steps))
    text = render(replace(finding, confirmed=None), run_of(candidate, finding))
    wrong = [line for line in text.splitlines() if line.endswith("  ← 4.orphan-result")]
    assert len(wrong) == 1
    assert "[t1." in wrong[0]


def test_the_scenario_in_the_text_is_the_one_that_failed(run: StoredRun) -> None:
    for finding in run.findings:
        block = re.search(r"```json\n(.*?)\n```", render(finding, run), re.DOTALL)
        assert block is not None
        assert json.loads(block.group(1))
        assert from_json(block.group(1)) == finding.scenario


def test_the_stand_alone_test_is_in_the_text(run: StoredRun) -> None:
    [finding] = [f for f in run.findings if f.signature.code == "3.attach-not-latest"]
    text = render(finding, run)
    block = re.search(r"<summary>(.*?)</summary>\n\n```python\n(.*?)\n```\n\n</details>", text, re.DOTALL)
    assert block is not None
    assert block.group(1) == f"test_repro_{finding.id}.py"
    assert files(run)[block.group(1)] == block.group(2) + "\n"
    assert "and Sixfold, with which the target is made" in text


def test_the_text_says_why_there_is_no_stand_alone_test(run: StoredRun) -> None:
    text = render(replace(run.findings[0], confirmed=False), run)
    assert (
        "There is no stand-alone test: `the finding is not confirmed in the real create_agent graph`." in text
    )
    assert "```python" not in text


def test_hostile_text_stays_in_code(run: StoredRun) -> None:
    finding = run.findings[0]
    hostile = replace(
        finding,
        signature=replace(finding.signature, candidate=HOSTILE),
        detail=HOSTILE,
        held_by=(HOSTILE,),
        members=(HOSTILE,),
    )
    outside = re.sub(r"(`{3,}).*?\n\1", "", render(hostile, run), flags=re.DOTALL)
    outside = re.sub(r"`[^`\n]*`", "", outside)
    for dangerous in ("<script", "@everyone", "#123", "](http", "\x1b", "\u202e"):
        assert dangerous not in outside


def test_the_command_is_quoted_for_a_shell(run: StoredRun) -> None:
    finding = run.findings[0]
    hostile = replace(run, targets={finding.signature.candidate: "x; touch pwned"})
    assert f"sixfold replay {finding.id}.json 'x; touch pwned'" in render(finding, hostile)


def test_hostile_versions_stay_in_code(run: StoredRun) -> None:
    text = render(run.findings[0], replace(run, versions={"langchain": HOSTILE}))
    last = text.splitlines()[-1]
    assert last.startswith("Seen with `langchain <script>")
    assert "<" not in re.sub(r"`[^`\n]*`", "", last)


def test_no_text_ends_its_code_span_or_fence() -> None:
    assert code_span("a`b``c").count("`") == 2
    block = fenced(["```", "````inside"]).splitlines()
    assert block[0] == block[-1] == "`````"


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SixfoldError, match=r"no verdicts\.json"):
        load_run(tmp_path)
    (tmp_path / "verdicts.json").write_text('{"options": {}}')
    with pytest.raises(SixfoldError, match="cannot be read"):
        load_run(tmp_path)


def test_the_text_says_why_a_finding_is_inconclusive(run: StoredRun) -> None:
    finding = replace(run.findings[0], confirmed=None)
    assert "Inconclusive: two replays of the same history differ." in render(finding, run)
    doubted = replace(run, disagreed=frozenset({finding.signature.candidate}))
    assert "Inconclusive: the lanes disagree on the candidate." in render(finding, doubted)


@pytest.mark.parametrize(
    ("key", "damaged"), [("confirmed", "yes"), ("faults", ["flood"]), ("detail", None), ("record", -1)]
)
def test_a_damaged_finding_is_refused(run: StoredRun, tmp_path: Path, key: str, damaged: object) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy)
    data = json.loads((copy / "verdicts.json").read_text())
    data["findings"][0][key] = damaged
    (copy / "verdicts.json").write_text(json.dumps(data))
    with pytest.raises(SixfoldError, match="cannot be read"):
        load_run(copy)


@pytest.mark.parametrize(
    "damaged", ["[]", '{"sixfold_history": 1, "candidate": "a", "lane": "b", "records": [[]]}']
)
def test_a_damaged_history_is_refused(run: StoredRun, tmp_path: Path, damaged: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy)
    (copy / "histories" / f"{run.findings[0].id}.json").write_text(damaged)
    with pytest.raises(SixfoldError, match="cannot be read"):
        load_run(copy)
