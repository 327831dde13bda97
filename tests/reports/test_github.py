"""GitHub Actions: one command a line, escaped as the runner reads it, and no more than GitHub shows."""

import re
from dataclasses import replace

import pytest

from sixfold.reports.github import (
    ANNOTATIONS,
    MOST_OF_A_KIND,
    SUMMARY,
    commands,
    files,
    message,
    property_value,
    summary,
)
from sixfold.reports.stored_run import StoredRun

#: A line as the runner takes it apart: command, properties, message.
COMMAND = re.compile(r"::(?P<kind>error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)")


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the runner does."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    pairs = [pair.partition("=") for pair in match["properties"].split(",")]
    properties = {name: _unescaped(value) for name, _, value in pairs}
    return match["kind"], properties, _unescaped(match["message"])


def _unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def many(run: StoredRun, count: int, *, confirmed: bool | None = True) -> StoredRun:
    finding = replace(run.findings[0], confirmed=confirmed)
    return replace(run, findings=(finding,) * count)


def test_each_finding_is_an_error(real_run: StoredRun) -> None:
    told = [parsed(line) for line in commands(real_run)]
    assert [kind for kind, _, _ in told] == ["error"] * len(real_run.findings)
    for (_, properties, text), finding in zip(told, real_run.findings, strict=True):
        assert properties == {"title": f"{finding.id} {finding.signature.code} deerflow-4667"}
        assert finding.detail in text
        assert f"sixfold replay $RUN/scenarios/{finding.id}.json" in text


def test_escaping_is_that_of_the_toolkit() -> None:
    assert message("50%\r\na: b, c") == "50%25%0D%0Aa: b, c"
    assert property_value("50%\r\na: b, c") == "50%25%0D%0Aa%3A b%2C c"
    assert _unescaped(property_value("%0A %3A : ,")) == "%0A %3A : ,"


def test_a_file_is_named(real_run: StoredRun) -> None:
    run = replace(real_run, targets=dict.fromkeys(real_run.targets, "./src/a,b:c.py:Mine"))
    _, properties, _ = parsed(commands(run)[0])
    assert properties["file"] == "src/a,b:c.py"


def test_hostile_text_starts_no_command(hostile_run: StoredRun) -> None:
    lines = files(hostile_run)[ANNOTATIONS].splitlines()
    assert lines
    for line in lines:
        kind, properties, _ = parsed(line)
        assert kind in ("error", "warning", "notice")
        assert set(properties) <= {"file", "title"}


def test_only_what_github_shows_and_the_rest_is_counted(real_run: StoredRun) -> None:
    told = [parsed(line) for line in commands(many(real_run, 13))]
    assert [kind for kind, _, _ in told] == ["error"] * MOST_OF_A_KIND + ["notice"]
    assert told[-1][2] == "3 errors more: see the job summary"
    exactly = commands(many(real_run, MOST_OF_A_KIND))
    assert [parsed(line)[0] for line in exactly] == ["error"] * MOST_OF_A_KIND


def test_what_is_inconclusive_is_a_warning(real_run: StoredRun) -> None:
    doubtful = replace(real_run.candidates[1], deterministic=False)
    run = replace(many(real_run, 11, confirmed=None), candidates=(doubtful,))
    told = [parsed(line) for line in commands(run)]
    assert [kind for kind, _, _ in told] == ["warning"] * MOST_OF_A_KIND + ["notice"]
    assert told[-1][2] == "2 warnings more: see the job summary"
    [_, properties, text] = parsed(commands(replace(run, findings=()))[0])
    assert properties["title"] == "Sixfold: deerflow is inconclusive"
    assert text.startswith("not deterministic")


def test_summary_holds_matrix_and_findings(real_run: StoredRun) -> None:
    text = files(real_run)[SUMMARY]
    assert text.startswith(f"## Sixfold: {len(real_run.findings)} findings in 40 histories\n")
    assert "| `deerflow-4667` | waived | **violated** | **violated** | holds | holds | **violated** |" in text
    for finding in real_run.findings:
        assert f"| {finding.id} | `{finding.signature.code}` | `deerflow-4667` |" in text


def test_summary_of_many_findings_stays_short(real_run: StoredRun) -> None:
    text = summary(many(real_run, 5_000))
    assert "| and 4900 more |" in text
    assert len(text.encode()) < 100_000


def outside_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", text)


def test_hostile_text_stays_in_code_spans_of_its_cell(hostile_run: StoredRun, real_run: StoredRun) -> None:
    text = summary(hostile_run)
    outside = outside_code(text)
    for dangerous in ("<", "@", "#1", "](", "http", "`", "x; ", "{{", "xxxx", "::"):
        assert dangerous not in outside
    for row in text.splitlines():
        if row.startswith("| "):
            assert row.count("|") - 1 in (5, 7)


def test_the_reader_sees_hostile_text_outside() -> None:
    assert outside_code("a `b` <script> `c`") == "a  <script> "


@pytest.mark.parametrize("count", [0, 1])
def test_numbers_and_nouns_agree(real_run: StoredRun, count: int) -> None:
    text = summary(replace(many(real_run, count), histories=1))
    assert text.startswith(f"## Sixfold: {count} finding{'s' * (count != 1)} in 1 history\n")
