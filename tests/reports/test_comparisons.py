"""Reports of comparisons: hostile text of candidates never becomes more than text."""

import functools
import io
import json
import re

from rich.console import Console

from sixfold.harness.agent import build_agent
from sixfold.harness.differential import try_out
from sixfold.harness.history import History, Requested
from sixfold.harness.scenario import Scenario
from sixfold.harness.sides.result import KINDS, ComparisonResult, Difference, SideResult
from sixfold.harness.steps import UserTurn
from sixfold.reports import comparison_github, comparison_json
from sixfold.reports.comparison_markdown import comment, marker
from sixfold.reports.comparison_terminal import print_comparison, print_next_steps

from ..planted import PLANTED
from .test_github import parsed
from .test_hostile import HARMLESS, skeleton

SCENARIO = Scenario((UserTurn(),))


@functools.cache
def played() -> History:
    return try_out(build_agent(PLANTED["2.duplicate"].flawed, direct=True), SCENARIO).history


@functools.cache
def history(text: str) -> History:
    """Return a history in which the candidate put `text` wherever the model sees it."""
    known = played()
    records = [
        record._replace(
            system=text, messages=tuple(view._replace(text=text, id=text) for view in record.messages)
        )
        if isinstance(record, Requested)
        else record
        for record in known.records
    ]
    return History(text, known.lane, records)


def result(text: str) -> ComparisonResult:
    """Return a result of every kind of difference, with `text` wherever candidates and users write."""
    before, after = history("before"), history(text)
    base = SideResult("base" + text, text, {"langchain": text, text: text}, (text,), (text,))
    head = SideResult(text, text, {"langgraph": text}, (text,), (text,))
    differences = [
        Difference(
            kind=kind,
            head=text,
            code="" if kind == "changed" else "2.duplicate",
            scenario=SCENARIO,
            before=before,
            after=after,
            by=text,
            detail=text,
        )
        for kind in KINDS
    ]
    return ComparisonResult(0, 3, True, (base, head), tuple(differences))


def test_a_comment_has_the_same_skeleton(hostile_text: str) -> None:
    # What is empty is left out.
    hostile_text = hostile_text or "\0"
    hostile, known = (comment([result(text)], [text], limit=None) for text in (hostile_text, HARMLESS))
    first, *lines = skeleton(hostile)
    assert first == marker([hostile_text])
    assert re.fullmatch(r"<!-- sixfold-pr [0-9a-f]{12} -->", first)
    assert lines == skeleton(known)[1:]
    assert len(comment([result(hostile_text)], [hostile_text])) <= 60_000


def test_annotations_stay_on_their_lines(hostile_text: str) -> None:
    lines = comparison_github.commands([result(hostile_text)]).split("\n")[:-1]
    known = comparison_github.commands([result(HARMLESS)]).split("\n")[:-1]
    assert [parsed(line)[0] for line in lines] == [parsed(line)[0] for line in known]
    for line in lines:
        assert set(parsed(line)[1]) <= {"title", "file"}
        assert line.isprintable()


def test_the_terminal_obeys_nobody(hostile_text: str) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    print_comparison(console, result(hostile_text))
    print_next_steps(console, [result(hostile_text)], "folder")
    assert isinstance(console.file, io.StringIO)
    text = re.sub(r"\x1b\[(0|1;31|1;32|33)m", "", console.file.getvalue())
    assert all(char.isprintable() or char == "\n" for char in text)


def test_json_keeps_every_text(hostile_text: str) -> None:
    text = comparison_json.render([result(hostile_text)])
    assert text.isascii()
    [comparison] = json.loads(text)["comparisons"]
    assert comparison["sides"][1]["troubles"] == [hostile_text]
    assert {each["detail"] for each in comparison["differences"]} == {hostile_text}
