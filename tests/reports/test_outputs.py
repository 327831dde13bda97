"""The registry: every format gives the same bytes for the same run, and stays text whatever it reports."""

import re
import unicodedata
from pathlib import Path

import pytest

from sixfold.harness.errors import SixfoldError
from sixfold.reports.outputs import ALL, OUTPUTS, Output, chosen, files_of
from sixfold.reports.stored_run import StoredRun, load_run

from .runs import DOCUMENTED, HOSTILE

#: Verdicts are handed on as they are: JSON that other programs read and nobody looks at raw.
SHOWN = [output for output in OUTPUTS if output.name != "json"]
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
every_output = pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output.name)


def test_nothing_asked_for_is_markdown() -> None:
    assert [output.name for output in chosen(())] == ["markdown"]


def test_all_is_every_format_once() -> None:
    assert chosen([ALL, "junit"]) == OUTPUTS
    assert [output.name for output in chosen(["sarif", "junit", "sarif"])] == ["sarif", "junit"]


def test_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(SixfoldError, match="unknown format 'juint'") as caught:
        chosen(["markdown", "juint"])
    assert caught.value.exit_code == 3
    assert "Did you mean junit?" in caught.value.remedy
    assert all(output.name in caught.value.remedy for output in OUTPUTS)


def test_every_format_is_documented() -> None:
    text = DOCUMENTED.with_name("reports.md").read_text(encoding="utf-8")
    for output in OUTPUTS:
        assert f"\n| `{output.name}`" in text
        assert f"\n## {output.name}\n" in text


@every_output
def test_same_run_same_bytes(output: Output, real_run: StoredRun, run_folder: Path) -> None:
    made = output.files(real_run)
    assert made
    assert made == output.files(load_run(run_folder))


@every_output
def test_names_stay_below_the_folder(output: Output, hostile_run: StoredRun) -> None:
    for name in output.files(hostile_run):
        assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}", part) for part in name.split("/"))


def test_no_two_formats_write_the_same_file(real_run: StoredRun) -> None:
    assert len(files_of(OUTPUTS, real_run)) == sum(len(output.files(real_run)) for output in OUTPUTS)


@pytest.mark.parametrize("output", SHOWN, ids=lambda output: output.name)
def test_no_control_or_bidirectional_character(output: Output, hostile_run: StoredRun) -> None:
    for text in output.files(hostile_run).values():
        odd = {char for char in text if unicodedata.category(char) in UNSEEN}
        assert odd <= {"\n"}
        assert text.encode()


@pytest.mark.parametrize("output", SHOWN, ids=lambda output: output.name)
def test_long_text_is_cut(output: Output, hostile_run: StoredRun) -> None:
    assert all(len(text) < len(HOSTILE["long"]) / 3 for text in output.files(hostile_run).values())
