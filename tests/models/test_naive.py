"""The naive baselines, one test a rule: what goes wrong after the fold, and does not in the mended form."""

from dataclasses import replace

from sixfold.harness.candidate import Candidate
from sixfold.harness.steps import ChangeState, Step, ToolCall, ToolRound, UserTurn
from sixfold.models.catalogue import flaws
from sixfold.models.flaws import Flaw

from .folded import final_state, folds, ids, requests, said, summaries

NAIVE = {flaw.candidate.name: flaw for flaw in flaws() if flaw.candidate.name.startswith("naive.")}
WITH_TOOLS = UserTurn(rounds=(ToolRound(),))


def both(name: str) -> tuple[Candidate, Candidate]:
    flaw: Flaw = NAIVE[name]
    return flaw.candidate, flaw.correct


def order(candidate: Candidate, *steps: Step) -> list[str]:
    """Return who stands where in the state, by utterance."""
    return said(final_state(candidate, *steps))


def test_naive_N1_attaching_to_the_first_message_moves_it_behind_the_question() -> None:
    naive, mended = both("naive.attach-first")
    assert order(naive, UserTurn(), UserTurn()) == ["a1", "u2", "u1", "a2"]
    assert order(mended, UserTurn(), UserTurn()) == ["u1", "a1", "u2", "a2"]


def test_naive_N2_a_copy_without_id_lands_behind_the_question() -> None:
    naive, mended = both("naive.insert-at-zero")
    assert order(naive, UserTurn(), UserTurn()).count("u1") > 1
    assert order(mended, UserTurn(), UserTurn()) == ["u1", "a1", "u2", "a2"]


def test_naive_N3_the_last_messages_may_begin_with_a_result() -> None:
    naive, mended = both("naive.last-n")
    turn = UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall())),))
    turn = replace(turn, rounds=turn.rounds * 2)
    assert order(naive, turn) == ["t1.1.1", "a1.2", "t1.2.0", "t1.2.1", "a1"]
    assert order(mended, turn)[0] == "u1"


def test_naive_N4_the_summary_is_another_one_in_every_turn() -> None:
    naive, mended = both("naive.summary-every-turn")
    steps = (WITH_TOOLS, UserTurn(), UserTurn())
    texts = [v.text for fold in folds(naive, *steps) for v in fold.state if v.name == "summary"]
    kept = {v.id: v.text for fold in folds(mended, *steps) for v in fold.state if v.name == "summary"}
    assert len(set(texts)) == len(summaries(naive, *steps)) == 2
    assert len(kept) == len(summaries(mended, *steps))
    assert order(naive, *steps)[0] == "u1"


def test_naive_N5_each_request_begins_somewhere_else() -> None:
    naive, mended = both("naive.trim-tokens")
    turn = UserTurn(rounds=(ToolRound(),) * 5)
    first = [request.messages[0].says for request in requests(naive, turn)]
    assert first[0] == "u1"
    assert len(set(first)) > 2
    assert {request.messages[0].says for request in requests(mended, turn)} == {"u1"}


def test_naive_N6_the_system_message_in_state_holds_what_was_true_then() -> None:
    naive, mended = both("naive.system-in-state")
    state = final_state(naive, UserTurn(), ChangeState(), UserTurn())
    assert [view.role for view in state][:2] == ["system", "human"]
    assert state[0].mentions.states == ("s2",)
    assert not any(
        view.mentions.states for view in final_state(mended, UserTurn(), ChangeState(), UserTurn())
    )


def test_naive_N7_the_reminder_is_the_last_thing_the_user_seems_to_say() -> None:
    naive, mended = both("naive.append-after-question")
    [appended], [before] = requests(naive, UserTurn()), requests(mended, UserTurn())
    assert ids(appended.messages) == ["u1", "note1"]
    assert ids(before.messages) == ["u1"]
    assert before.messages[-1].says == "u1"
