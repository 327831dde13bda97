"""Labels of candidates: short, and never the same for two of them."""

import pytest

from sixfold.reports.labels import cell, labels


def test_targets_in_files_are_told_without_their_folders() -> None:
    names = ["a/long/path/mine.py:Old", "a/long/path/mine.py:New", "pkg.module:Name", "deerflow"]
    assert list(labels(names).values()) == ["mine.py:Old", "mine.py:New", "pkg.module:Name", "deerflow"]


def test_a_label_that_would_name_two_is_not_shortened() -> None:
    assert list(labels(["a/x.py:A", "b/x.py:A", "b/x.py:B"]).values()) == ["a/x.py:A", "b/x.py:A", "x.py:B"]


@pytest.mark.parametrize("width", [10, 25])
def test_what_is_too_long_keeps_its_end(width: int) -> None:
    told = [cell(each, width) for each in ("my_context_middleware.py:A1", "my_context_middleware.py:A2")]
    assert [len(each) for each in told] == [width, width]
    assert [each[-3:] for each in told] == [":A1", ":A2"]
    assert told[0].startswith("…")


def test_a_label_is_one_line_without_control_characters() -> None:
    assert labels(["a\x1b[31m\nb"]) == {"a\x1b[31m\nb": "a�[31m b"}
