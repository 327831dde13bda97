"""The terminal report: says what was found, and cannot be disturbed by what candidates are called."""

import dataclasses
import functools
import io
import shlex
import unicodedata

import pytest
from rich.console import Console

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import Candidate
from sixfold.harness.events import Options, RunResult
from sixfold.reports.terminal import print_result

from ..helpers import explore
from ..planted import PLANTED

FLAWED = PLANTED["2.duplicate"].flawed


def run(candidate: Candidate) -> RunResult:
    return Campaign([candidate], Options(seed=1, max_histories=20)).run(explore)


@functools.cache
def flawed_run() -> RunResult:
    return run(FLAWED)


def printed(result: RunResult, *, colour: bool = False, width: int = 100) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    print_result(console, result, replay="sixfold replay x")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_report_names_each_finding_with_its_replay() -> None:
    result = run(FLAWED)
    text = printed(result)
    assert result.findings
    for finding in result.findings:
        assert finding.id in text
        assert finding.signature.code in text
        assert finding.detail.split(":")[0] in " ".join(text.split())
    assert f"scenarios/{result.findings[0].id}.json {FLAWED.name}" in text


def test_report_counts_findings_and_histories() -> None:
    result = run(FLAWED)
    assert f"{len(result.findings)} distinct findings in 20 histories on 2 candidates (seed 1)" in printed(
        result
    )


def test_report_says_when_the_budget_ended_it() -> None:
    result = dataclasses.replace(run(FLAWED), complete=False)
    assert "stopped by the time budget" in " ".join(printed(result).split())


def test_report_says_when_a_finding_is_not_confirmed() -> None:
    result = run(FLAWED)
    doubtful = dataclasses.replace(
        result, findings=tuple(dataclasses.replace(f, confirmed=False) for f in result.findings)
    )
    assert "NOT confirmed" in printed(doubtful)
    assert "NOT confirmed" not in printed(result)


def commands(text: str) -> list[list[str]]:
    """Return the words of the replay commands, as a shell reads them."""
    joined = text.replace(" \\\n", " ").splitlines()
    return [shlex.split(line) for line in joined if line.strip().startswith("sixfold replay")]


def test_hostile_text_is_only_text(hostile_text: str) -> None:
    result = flawed_run()
    finding = dataclasses.replace(
        result.findings[0], detail=hostile_text, held_by=(hostile_text,), members=(hostile_text,)
    )
    candidates = tuple(
        dataclasses.replace(candidate, target=hostile_text, unreached=("compaction",), deterministic=False)
        for candidate in result.candidates
    )
    text = printed(dataclasses.replace(result, candidates=candidates, findings=(finding,)))
    unseen = {
        char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    }
    assert unseen == {"\n"}
    assert len(text) < 20_000


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize(
    "target", ["mine.py:Mine", "my file.py:Mine", "x; touch pwned", "$(touch pwned)", "'"]
)
def test_replay_is_one_command_for_a_shell(target: str, width: int) -> None:
    result = flawed_run()
    named = tuple(dataclasses.replace(candidate, target=target) for candidate in result.candidates)
    text = printed(dataclasses.replace(result, candidates=named), width=width)
    told = commands(text)
    assert told
    for words in told:
        assert words[:2] == ["sixfold", "replay"]
        assert words[3:] == [target]
    assert [line for line in text.splitlines() if len(line) > width] == []


def test_targets_of_one_file_are_told_apart_at_80_columns() -> None:
    names = [f"a/folder/far/down/dynamic_context_middleware.py:Number{n}" for n in (1, 2)]
    candidates = [dataclasses.replace(FLAWED, name=name, target=name) for name in names]
    result = Campaign(candidates, Options(seed=1, max_histories=20)).run(explore)
    text = printed(result, width=80)
    assert [line for line in text.splitlines() if len(line.rstrip()) > 80] == []
    matrix = text.partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in matrix[3:]] == [f"…xt_middleware.py:Number{n}" for n in (1, 2)]
    for finding in result.findings:
        label = finding.signature.candidate.rpartition("/")[2]
        assert f"{finding.id} {finding.signature.code} {label}" in " ".join(text.split())


@pytest.mark.parametrize(
    "name", ["[bold]loud", "[/]", "[/nothing]", "file.py:loop:", "\x1b[31mred", "a\u202eb", "x" * 300]
)
def test_name_of_a_candidate_is_only_text(name: str) -> None:
    text = printed(run(dataclasses.replace(FLAWED, name=name)), colour=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert name[:10].replace("\x1b", "�").replace("\u202e", "�") in text
