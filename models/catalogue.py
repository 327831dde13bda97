"""The catalogue: candidates that can be named without an import path."""

from __future__ import annotations

from collections.abc import Callable

from ..harness.candidate import CONTROL, Candidate


def _control() -> Candidate:
    return CONTROL


def _deerflow() -> Candidate:
    from .deerflow import DEERFLOW

    return DEERFLOW


def _deerflow_4667() -> Candidate:
    from .deerflow import DEERFLOW_4667

    return DEERFLOW_4667


def _summarization() -> Candidate:
    from .langchain_summarization import CANDIDATE

    return CANDIDATE


def _context_editing() -> Candidate:
    from .langchain_context_editing import CANDIDATE

    return CANDIDATE


#: Candidates by name, in the order in which a run without targets takes them.
CATALOGUE: dict[str, Callable[[], Candidate]] = {
    "control": _control,
    "deerflow": _deerflow,
    "deerflow-4667": _deerflow_4667,
    "langchain.summarization": _summarization,
    "langchain.context_editing": _context_editing,
}
