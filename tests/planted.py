"""The planted flaws: for each check a small candidate with the flaw, and its correct sibling."""

from __future__ import annotations

from dataclasses import dataclass

from sixfold.harness.candidate import Candidate, Contract

from .flaws import (
    Base,
    DropCalls,
    DropResults,
    Emphasise,
    Focus,
    FoldWithoutResults,
    Forget,
    Introduce,
    LookUp,
    Normalise,
    NumberedPrompt,
    Rebuild,
    StateAppended,
    StateInPrompt,
    SummariseAnyway,
    SummariseQuestion,
    SummariseSummaries,
    Swap,
    Tag,
)


@dataclass(frozen=True)
class Planted:
    """A check, a candidate with the flaw that it is for, and the correct sibling."""

    code: str
    flawed: Candidate
    correct: Candidate


def planted(code: str, cls: type[Base], contract: Contract | None = None) -> Planted:
    """Return the pair for `code`: `cls` with and without its flaw."""

    def candidate(name: str, flawed: bool) -> Candidate:
        return Candidate(
            name=f"{name}-{code}",
            build=lambda environment: [cls(environment, flawed=flawed)],
            contract=contract or Contract(),
            source="tests/planted.py",
        )

    return Planted(code, candidate("flawed", True), candidate("correct", False))


_EDITS = Contract(edits_requests=True)
_COMPACTS = Contract(compacts=True)
_DROPS = Contract(drops_history=True, cuts_inside_turns=True, compacts=True)

PLANTED: dict[str, Planted] = {
    item.code: item
    for item in (
        planted("1.state-in-history", StateAppended),
        planted("1.stale-state", StateInPrompt, _EDITS),
        planted("2.reorder", Rebuild),
        planted("2.id-rewrite", Normalise),
        planted("2.duplicate", Emphasise),
        planted("2.mutated-in-place", Tag),
        planted("3.stale-question", Focus, _EDITS),
        planted("3.attach-not-latest", Introduce),
        planted("4.cut-inside-turn", Forget, Contract(drops_history=True, compacts=True)),
        planted("4.question-lost", SummariseQuestion, _COMPACTS),
        planted("4.orphan-result", DropCalls, _DROPS),
        planted("4.unanswered-call", DropResults, _DROPS),
        planted("5.failed-summary-committed", SummariseAnyway, _COMPACTS),
        planted("5.regenerated", SummariseSummaries, _COMPACTS),
        planted("5.prefix-broken", NumberedPrompt, _EDITS),
        planted("6.fold-incoherent", Swap, Contract(id_swap=True)),
        planted("6.recall", FoldWithoutResults, _COMPACTS),
        planted("6.hook-error", LookUp),
    )
}
