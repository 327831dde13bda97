"""Hermes Agent's compressor as candidates: as it is, mended, with micro compaction, and with named flaws."""

from __future__ import annotations

from typing import Any

from ..harness.candidate import Candidate, Contract
from .flaws import Flaw
from .hermes import HermesCompressor, HermesMicroCompaction
from .hermes_summary import SummaryRules
from .hermes_tail import TailRules

#: The window of the candidates in tokens, so small that short histories fill it. Nothing else is scaled:
#: to Hermes it is the window of a tiny model.
WINDOW = 160

_CONTRACT = Contract(compacts=True, keeps_head=True, clears_tool_results=True)
_SOURCE = "hermes-agent 0.19.0 (PyPI) agent/context_compressor.py ContextCompressor, re-created"

#: Hermes without the losses that its rules bring: all that is removed reaches the summariser, and no
#: question is summarised away.
_MENDED_TAIL = TailRules(budget=0, edge="keep", merged_words=True)
_MENDED_RULES = SummaryRules(whole_window=True)


def _candidate(name: str, what: str = "", **options: Any) -> Candidate:
    return Candidate(
        name=name,
        build=lambda environment: [HermesCompressor(environment, window=WINDOW, **options)],
        contract=_CONTRACT,
        source=_SOURCE + what,
        target=name,
    )


def _mended(name: str, what: str = "", **options: Any) -> Candidate:
    given = {"tail": _MENDED_TAIL, "rules": _MENDED_RULES, "after_failure": "abort", **options}
    return _candidate(name, what, **given)


HERMES = _candidate("hermes")
HERMES_MENDED = _mended("hermes.mended", ", with what it loses mended")

_MICRO_CONTRACT = Contract(
    compacts=True,
    clears_tool_results=True,
    # The agent's side of an exchange goes, the user's words stay: that is what it is for.
    cuts_inside_turns=True,
)


def _with_micro(name: str, what: str = "", *, drops_batch: bool = False) -> Candidate:
    def build(environment: Any) -> list[Any]:
        rules = SummaryRules(whole_window=True, protect_first=0)
        batch = HermesCompressor(
            environment, window=WINDOW, tail=_MENDED_TAIL, rules=rules, after_failure="abort"
        )
        micro = HermesMicroCompaction(environment, tail=batch.tail, protect_first=0, drops_batch=drops_batch)
        return [batch, micro]

    return Candidate(
        name=name,
        build=build,
        contract=_MICRO_CONTRACT,
        source="hermes-agent micro compaction (public source after 0.19.0), over hermes.mended without a head"
        + what,
        target=name,
    )


HERMES_MICRO = _with_micro("hermes.micro")

_BY_BUDGET = TailRules(budget=0, edge="keep", align=False, merged_words=True)
_UNANCHORED = TailRules(budget=0, anchor=False, merged_words=True)
_EDGE_PARTED = TailRules(budget=0, edge="alone", merged_words=True)
_NEWER_THAN_SUMMARY = SummaryRules(whole_window=False)

FLAWS: tuple[Flaw, ...] = (
    Flaw(
        candidate=_mended(
            "hermes-split-group",
            "; the cut follows the budget alone, and nothing is matched behind it",
            tail=_BY_BUDGET,
            rules=SummaryRules(whole_window=True, sanitise=False),
        ),
        correct=HERMES_MENDED,
        codes=("4.orphan-result",),
        origin="what H4 and H8 avoid; LangChain 1.1.1 and langmem 0.0.30 did it",
    ),
    Flaw(
        candidate=_mended(
            "hermes-unanchored",
            "; the last user message is not kept in the tail, as before hermes-agent #10896",
            tail=_UNANCHORED,
        ),
        correct=HERMES_MENDED,
        codes=("4.question-lost",),
        origin="hermes-agent #10896: the active task was summarised away",
    ),
    Flaw(
        candidate=_mended(
            "hermes-edge-parted",
            "; a user message at the head's edge is summarised without its reply, as before #22523",
            tail=_EDGE_PARTED,
        ),
        correct=HERMES_MENDED,
        codes=("4.question-lost",),
        origin="hermes-agent #22523: a pair of request and reply was parted by the cut",
    ),
    Flaw(
        candidate=_mended(
            "hermes-unsummarised",
            "; what stands before an earlier summary, or under one, is removed and not summarised",
            rules=_NEWER_THAN_SUMMARY,
        ),
        correct=HERMES_MENDED,
        codes=("6.recall",),
        origin="hermes-agent 0.19.0 as it is: the protected head and merged words are lost (docs/hermes.md)",
    ),
    Flaw(
        candidate=_mended(
            "hermes-merge-replaces",
            "; a merged summary replaces the words of the message it is merged into",
            rules=SummaryRules(whole_window=True, keep_words=False),
        ),
        correct=HERMES_MENDED,
        codes=("2.content-changed",),
        origin="what H6 avoids: the first message of the tail keeps its words",
    ),
    Flaw(
        candidate=_mended(
            "hermes-error-text",
            "; the text of an error is stored as the summary",
            after_failure="error_text",
        ),
        correct=HERMES_MENDED,
        codes=("5.failed-summary-committed",),
        origin="what H7 avoids; deer-flow #3887 and LangChain 1.3.14 did it",
    ),
    Flaw(
        candidate=_mended(
            "hermes-counted-marker",
            "; the stored summary is told how long the history is, before each model call",
            quotes_length=True,
        ),
        correct=HERMES_MENDED,
        codes=("5.summary-rewritten",),
        origin="what H10 avoids: outside of compaction no byte changes",
    ),
    Flaw(
        candidate=_mended(
            "hermes-forgetful",
            "; what was compacted, and that a summary failed, is remembered on the instance",
            remembers="instance",
        ),
        correct=HERMES_MENDED,
        codes=("5.replay-differs",),
        origin="hermes-agent 0.19.0 counts compactions on the compressor: a new process starts anew",
    ),
    Flaw(
        candidate=_with_micro(
            "hermes-batch-dropped",
            "; a micro compaction drops the marker of a batch compaction",
            drops_batch=True,
        ),
        correct=HERMES_MICRO,
        codes=("6.recall",),
        origin="what H9 avoids: one key for both markers",
    ),
)
