"""The catalogue: candidates that can be named without an import path."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..harness.candidate import CONTROL, Candidate
from .installed import LANGCHAIN, REAL, Adapter


def _control() -> Candidate:
    return CONTROL


def _summarization() -> Candidate:
    from .langchain_summarization import CANDIDATE

    return CANDIDATE


def _context_editing() -> Candidate:
    from .langchain_context_editing import CANDIDATE

    return CANDIDATE


def _deerflow_of(name: str) -> Callable[[], Candidate]:
    """Return the loader of a re-created deer-flow candidate: correct ones have a dot, flaws a number."""

    def load() -> Candidate:
        from . import deerflow, deerflow_repair, deerflow_summarization, deerflow_uploads

        modules = (deerflow, deerflow_repair, deerflow_summarization, deerflow_uploads)
        found = (thing for module in modules for thing in vars(module).values())
        return next(c for c in found if isinstance(c, Candidate) and c.name == name)

    return load


_DEERFLOW = (
    "deerflow.repair",
    "deerflow.summarization",
    "deerflow.uploads",
    "deerflow.stack",
    "deerflow-3685",
    "deerflow-2823",
    "deerflow-2939",
    "deerflow-3143",
    "deerflow-4080",
    "deerflow-904",
    "deerflow-uploads",
    "deerflow-uploads-copy",
    "deerflow-3887",
    "deerflow-4882",
)


def _production_of(name: str) -> Callable[[], Candidate]:
    """Return the loader of a candidate of the article's production system."""

    def load() -> Candidate:
        from . import production

        return next(c for c in vars(production).values() if isinstance(c, Candidate) and c.name == name)

    return load


_PRODUCTION = (
    "production",
    "production.canvas",
    "production.envelope",
    "production.metadata",
    "production.fold",
)

#: Candidates by name.
CATALOGUE: dict[str, Callable[[], Candidate]] = {
    "control": _control,
    "deerflow": _deerflow_of("deerflow"),
    "deerflow-4667": _deerflow_of("deerflow-4667"),
    "langchain.summarization": _summarization,
    "langchain.context_editing": _context_editing,
    **{name: _deerflow_of(name) for name in _DEERFLOW},
    **{name: _production_of(name) for name in _PRODUCTION},
    **{adapter.name: adapter for adapter in (*LANGCHAIN, *REAL) if adapter.installed},
}

#: Adapters whose packages, or versions of them, are not installed: called, they say what to install.
MISSING: dict[str, Adapter] = {
    adapter.name: adapter for adapter in (*LANGCHAIN, *REAL) if not adapter.installed
}

#: What a run without targets takes: control, a bug and its fix, and what is installed.
DEFAULT_TARGETS: tuple[str, ...] = (
    "control",
    "deerflow",
    "deerflow-4667",
    "langchain.summarization",
    "langchain.context_editing",
)


def sources() -> Iterator[tuple[str, str]]:
    """Yield name and source of each candidate; nothing of an adapted package is imported."""
    everything: dict[str, Callable[[], Candidate]] = {**CATALOGUE, **MISSING}
    for name, load in everything.items():
        yield name, load.source if isinstance(load, Adapter) else load().source
