"""The catalogue: candidates that can be named without an import path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from ..harness.candidate import CONTROL, Candidate
from .flaws import Flaw
from .installed import LANGCHAIN, REAL, Adapter


def _control() -> Candidate:
    return CONTROL


def _summarization() -> Candidate:
    from .langchain_summarization import CANDIDATE

    return CANDIDATE


def _context_editing() -> Candidate:
    from .langchain_context_editing import CANDIDATE

    return CANDIDATE


#: The re-created systems: modules of this folder, with the names of their candidates. Correct ones come
#: first, then those with a named flaw.
_RECREATED: dict[str, tuple[str, ...]] = {
    "claude_code": (
        "claude-code",
        "claude-code-reminder-moves",
        "claude-code-summary-every-turn",
        "claude-code-question-summarised",
    ),
    "deerflow": ("deerflow", "deerflow-4667", "deerflow-3685", "deerflow-2823"),
    "deerflow_repair": ("deerflow.repair", "deerflow-2939", "deerflow-3143", "deerflow-904"),
    "deerflow_summarization": (
        "deerflow.summarization",
        "deerflow.stack",
        "deerflow.delegating",
        "deerflow-4080",
        "deerflow-3887",
        "deerflow-4882",
    ),
    "deerflow_uploads": ("deerflow.uploads", "deerflow-uploads", "deerflow-uploads-copy"),
    "hermes_candidates": (
        "hermes",
        "hermes.mended",
        "hermes.micro",
        "hermes-split-group",
        "hermes-unanchored",
        "hermes-edge-parted",
        "hermes-unsummarised",
        "hermes-merge-replaces",
        "hermes-error-text",
        "hermes-counted-marker",
        "hermes-forgetful",
        "hermes-batch-dropped",
    ),
    "codex": ("codex",),
    "codex_flaws": (
        "codex-context-at-head",
        "codex-no-context-mid-turn",
        "codex-reference-kept",
        "codex-budget-from-oldest",
        "codex-summary-as-user",
        "codex-resummarises",
    ),
    "gemini": ("gemini",),
    "gemini_rolling": ("gemini.rolling", "gemini-rolling-unhardened", "gemini-rolling-forgets"),
    "gemini_flaws": (
        "gemini-cut-inside-turn",
        "gemini-open-call",
        "gemini-empty-snapshot",
        "gemini-context-lost",
    ),
    "letta": (
        "letta",
        "letta.summary",
        "letta-memory-in-history",
        "letta-evicts-inside-turns",
        "letta-rewrites-reminder",
    ),
    "naive": (
        "naive.attach-first",
        "naive.insert-at-zero",
        "naive.system-in-state",
        "naive.append-after-question",
    ),
    "naive_compaction": ("naive.last-n", "naive.summary-every-turn", "naive.trim-tokens"),
    "production": (
        "production",
        "production.canvas",
        "production.envelope",
        "production.metadata",
        "production.fold",
    ),
    "production_flaws": (
        "production-empty-canvas",
        "production-canvas-in-history",
        "production-stripped-requests",
        "production-metadata-appended",
        "production-fold-by-count",
        "production-record-of-records",
        "production-turn-summary",
    ),
}


def _recreated(module: str, name: str) -> Callable[[], Candidate]:
    """Return the loader of the candidate called `name` that a module of this folder defines."""

    def load() -> Candidate:
        things = vars(import_module(f".{module}", __package__)).values()
        found = [*(t for t in things if isinstance(t, Candidate)), *(f.candidate for f in _flaws_of(module))]
        return next(c for c in found if c.name == name)

    return load


def _flaws_of(module: str) -> tuple[Flaw, ...]:
    return getattr(import_module(f".{module}", __package__), "FLAWS", ())


def flaws() -> Iterator[Flaw]:
    """Yield the named flaws of all re-created systems."""
    for module in _RECREATED:
        yield from _flaws_of(module)


#: Candidates by name.
CATALOGUE: dict[str, Callable[[], Candidate]] = {
    "control": _control,
    "deerflow": _recreated("deerflow", "deerflow"),
    "deerflow-4667": _recreated("deerflow", "deerflow-4667"),
    "langchain.summarization": _summarization,
    "langchain.context_editing": _context_editing,
    **{name: _recreated(module, name) for module, names in _RECREATED.items() for name in names},
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
