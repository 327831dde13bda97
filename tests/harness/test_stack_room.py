"""Calls below `with_room` cost the same at any depth: no loop maps and unmaps its frames over and over."""

import resource
import sys
from collections.abc import Callable

import pytest

from sixfold.harness.stack_room import with_room

CALLS = 1_000


def leaf() -> None:
    pass


def faults_of_calls() -> int:
    """Return the page faults of so many calls from here."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def deeper(depth: int, function: Callable[[], int]) -> int:
    return function() if depth == 0 else deeper(depth - 1, function)


def worst() -> int:
    """Return the most page faults at any of so many depths, more than a chunk of the interpreter holds."""
    return max(deeper(depth, faults_of_calls) for depth in range(300))


def test_no_depth_is_slow() -> None:
    assert with_room(worst) < CALLS / 2


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="later interpreters may keep a chunk that was just left"
)
def test_some_depth_is_slow_without() -> None:
    assert worst() > CALLS / 2


def test_arguments_results_and_errors_pass_through() -> None:
    assert with_room(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        with_room(divmod, 7, 0)
