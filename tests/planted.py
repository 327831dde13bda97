"""The planted flaws: for each check and each comparison a small candidate with the flaw, its correct
sibling, and the smallest scenario that tells the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.comparisons import COMPARED
from sixfold.harness.faults import Fault
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import (
    ChangeState,
    Configure,
    OtherThread,
    Step,
    ToolCall,
    ToolRound,
    UserMessage,
    UserTurn,
)

from .flaws import cuts, state, summaries, turns, updates, variants
from .flaws.base import Base


@dataclass(frozen=True)
class Planted:
    """A check, a candidate with the flaw that it is for, the correct sibling, and the minimum."""

    code: str
    cls: type[Base]
    flawed: Candidate
    correct: Candidate
    minimum: Scenario

    @property
    def comparing(self) -> bool:
        """Tell whether the flaw shows only when variants of a scenario are played."""
        return self.code in COMPARED


def planted(code: str, cls: type[Base], minimum: Scenario, contract: Contract | None = None) -> Planted:
    """Return the pair for `code`: `cls` with and without its flaw."""

    def candidate(name: str, flawed: bool) -> Candidate:
        return Candidate(
            name=f"{name}-{code}",
            build=lambda environment: [cls(environment, flawed=flawed)],
            contract=contract or Contract(),
            source="tests/planted.py",
        )

    return Planted(code, cls, candidate("flawed", True), candidate("correct", False), minimum)


def _of(*steps: Step) -> Scenario:
    return Scenario(steps)


_ROUND = ToolRound()
_ONE_TURN = _of(UserTurn())
_TWO_TURNS = _of(UserTurn(), UserTurn())
_THREE_TURNS = _of(UserTurn(), UserTurn(), UserTurn())
_ONE_ROUND = _of(UserTurn(rounds=(_ROUND,)))
_TWO_CALLS = _of(UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall())),)))
_TWO_MESSAGES = _of(UserTurn(messages=(UserMessage(), UserMessage())))
# A client tells what went before, and the user goes on.
_TOLD_BEFORE = _of(UserTurn(messages=(UserMessage(name="summary"), UserMessage())))
_ROUND_THEN_TURN = _of(UserTurn(rounds=(_ROUND,)), UserTurn())
_SKIP_THEN_TURN = _of(UserTurn(faults=(Fault("skip", "before_agent"),)), UserTurn())

_EDITS = Contract(edits_requests=True)
_COMPACTS = Contract(compacts=True)
_FORGETS = Contract(drops_history=True, compacts=True)
_DROPS = Contract(drops_history=True, cuts_inside_turns=True, compacts=True)
# What is put before the question of a turn has no place in a run without one.
_NO_CONTINUE = frozenset({"continue"})
# A thread that the middleware has seen from its first turn on.
_NO_CLIENT = frozenset({"continue", "load_turn"})

PLANTED: dict[str, Planted] = {
    item.code: item
    for item in (
        planted("1.state-in-history", state.StateAppended, _ONE_TURN),
        planted("1.stale-state", state.StateInPrompt, _of(UserTurn(), ChangeState(), UserTurn()), _EDITS),
        planted(
            "1.state-missing",
            state.StateForTheQuestion,
            _ONE_ROUND,
            Contract(edits_requests=True, shows_state=True),
        ),
        planted("1.speaks-as-user", state.StateAtTheEnd, _ONE_TURN, _EDITS),
        planted("2.reorder", updates.Rebuild, _ONE_ROUND),
        planted("2.id-rewrite", updates.Normalise, _ONE_TURN),
        planted("2.duplicate", updates.Emphasise, _ONE_TURN),
        planted("2.mutated-in-place", updates.Tag, _ONE_TURN),
        planted(
            "2.content-changed", updates.Flatten, _of(UserTurn(messages=(UserMessage(shape="strings"),)))
        ),
        planted("2.id-growth", updates.Stamp, _ONE_ROUND, Contract(id_swap=True, outside=_NO_CONTINUE)),
        planted("3.stale-question", updates.Focus, _TOLD_BEFORE, _EDITS),
        planted("3.attach-not-latest", updates.Introduce, _SKIP_THEN_TURN, Contract(outside=_NO_CLIENT)),
        planted("4.cut-inside-turn", cuts.Forget, _TWO_TURNS, _FORGETS),
        planted(
            "4.question-lost",
            summaries.SummariseQuestion,
            _TOLD_BEFORE,
            _COMPACTS,
        ),
        planted("4.orphan-result", cuts.DropCalls, _ROUND_THEN_TURN, _DROPS),
        planted("4.unanswered-call", cuts.DropResults, _ROUND_THEN_TURN, _DROPS),
        planted(
            "4.duplicate-result",
            cuts.Repair,
            _TWO_CALLS,
            Contract(edits_requests=True, repairs_tool_calls=True),
        ),
        planted("4.hole", cuts.ForgetTheMiddle, _THREE_TURNS, _FORGETS),
        planted(
            "4.system-lost",
            cuts.FoldWithInstructions,
            _of(Configure(system_in_state=True), UserTurn()),
            _COMPACTS,
        ),
        planted(
            "5.failed-summary-committed",
            summaries.SummariseAnyway,
            _of(UserTurn(), UserTurn(faults=(Fault("timeout", "summariser"),))),
            _COMPACTS,
        ),
        planted(
            "5.regenerated",
            summaries.SummariseSummaries,
            _of(UserTurn(), UserTurn(rounds=(_ROUND,))),
            _COMPACTS,
        ),
        planted("5.prefix-broken", state.NumberedPrompt, _ONE_ROUND, _EDITS),
        planted("5.summary-rewritten", summaries.PolishRecap, _TOLD_BEFORE, _COMPACTS),
        planted("5.thrash", summaries.SummariseInVain, _THREE_TURNS, _COMPACTS),
        planted(
            "6.fold-incoherent", updates.Swap, _TWO_MESSAGES, Contract(id_swap=True, outside=_NO_CONTINUE)
        ),
        planted("6.recall", summaries.FoldWithoutResults, _ROUND_THEN_TURN, _COMPACTS),
        planted("6.hook-error", turns.LookUp, _SKIP_THEN_TURN, Contract(outside=_NO_CLIENT)),
        planted("6.ends-silently", turns.Refuse, _TWO_MESSAGES),
        planted("6.leaked-words", turns.Topic, _of(UserTurn(), OtherThread()), _EDITS),
        planted("4.rejected-request", state.NoteAtTheEnd, _ONE_TURN, _EDITS),
        planted("3.head-dependent", variants.InsertNote, _ONE_TURN, Contract(outside=_NO_CONTINUE)),
        planted("5.replay-differs", variants.NoteOnce, _TWO_TURNS),
        planted("6.sync-async", variants.PromptInBothForms, _ONE_TURN, _EDITS),
        planted("6.reducers", variants.WriteAgain, _ONE_ROUND),
    )
}

#: A second flaw for a code that judges two things.
ALSO_PLANTED: dict[str, Planted] = {
    item.code: item
    for item in (
        planted("5.replay-differs", variants.NotePastTheReducer, _ONE_TURN, Contract(outside=_NO_CONTINUE)),
    )
}
