"""Running files in a fresh process: what is told of each, whatever it does."""

from dataclasses import replace

import pytest

from sixfold.reports import fresh_process
from sixfold.reports.fresh_process import Script, rerun

GOOD = Script("test_good.py", "def test_it():\n    assert 1 == 2, 'the claim'\n", False, "the claim")

BODIES = {
    "it passes": "assert True, 'the claim'",
    "failed with AssertionError: another": "assert False, 'another'",
    "failed with ValueError: the claim": "raise ValueError('the claim')",
    "failed with ModuleNotFoundError: No module named 'sixfold.harness'": "import sixfold.harness.steps",
}


def test_each_file_is_told_by_what_it_does() -> None:
    scripts = [
        replace(GOOD, name=f"test_{n}.py", text=f"def test_it():\n    {body}\n")
        for n, body in enumerate(BODIES.values())
    ]
    outcomes = rerun([GOOD, *scripts])
    assert outcomes[0] == ""
    for outcome, expected in zip(outcomes[1:], BODIES, strict=True):
        assert outcome.startswith(expected)


def test_a_file_that_needs_sixfold_can_import_it() -> None:
    text = f"import sixfold.harness.steps\n\n\n{GOOD.text}"
    assert rerun([replace(GOOD, text=text, needs_sixfold=True)]) == ("",)


def test_a_file_that_cannot_be_read_fails_in_another_way() -> None:
    [outcome] = rerun([replace(GOOD, text="import nothing_of_that_name\n")])
    assert "nothing_of_that_name" in outcome


def test_a_file_that_ends_the_process_spoils_no_other() -> None:
    ends = replace(GOOD, name="test_a_ends.py", text="import os\n\n\ndef test_it():\n    os._exit(3)\n")
    assert rerun([ends, GOOD]) == ("it came to no end", "")


def test_a_file_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_process, "SECONDS_A_PROCESS", 3)
    monkeypatch.setattr(fresh_process, "SECONDS_A_FILE", 0)
    hangs = replace(GOOD, name="test_a_hangs.py", text="def test_it():\n    while True:\n        pass\n")
    assert rerun([hangs]) == ("it came to no end",)
