"""Codex's rules, one test a rule, folded through the real reducer."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage

from sixfold.harness.environment import count_tokens
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, Requested, Summarised, TurnEnded
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import AdvanceClock, Configure, Restart, ToolCall, ToolRound, UserTurn
from sixfold.models import codex_handoff
from sixfold.models.codex import CODEX, Codex
from sixfold.models.codex_handoff import CompactionError, HandoffRequest
from sixfold.models.codex_history import (
    COMPACTION_KEY,
    CONTEXT_KEY,
    NO_SUMMARY,
    SUMMARY_PREFIX,
    BeforeLastUserMessage,
    DoNotInject,
    insertion_point,
    is_context,
    is_real_user,
    is_summary,
    summary_message,
    with_context,
    within_budget,
)

from ..helpers import agent_of, scenario_of
from .summariser import answer, environment_with, folded, ids, result, user

BUSY = UserTurn(rounds=(ToolRound(calls=(ToolCall(words=30),) * 3),))
U1, A1, U2 = user("u1"), answer("a1"), user("u2")
CONTEXT = HumanMessage("the date", id="context", additional_kwargs={CONTEXT_KEY: "environment"})
SUMMARY = summary_message("what was done", "summary")


def records_of(scenario: Scenario, kind: type[Any]) -> list[Any]:
    return [r for r in play(agent_of(CODEX), scenario).history.records if isinstance(r, kind)]


def compacting(*answers: str | Exception, limit: int = 1, **options: Any) -> tuple[Codex, Any]:
    environment, model = environment_with(*answers)
    return Codex(environment, automatic_limit=limit, **options), model


def kinds_of(messages: list[BaseMessage]) -> list[str]:
    """Return the names of the user's messages, and what the others are."""
    return ["context" if is_context(m) else "summary" if is_summary(m) else str(m.id) for m in messages]


# ---------------------------------------------------------------- C1


def test_codex_C1_initial_context_is_sent_once_before_the_first_user_message() -> None:
    first, second = records_of(scenario_of(UserTurn(), UserTurn()), Requested)
    assert [view.role for view in first.messages] == ["system", "human", "human", "human"]
    assert first.messages[-1].says == "u1"
    assert second.messages[: len(first.messages)] == first.messages
    assert [view.says for view in second.messages[len(first.messages) :]] == ["a1", "u2"]


def test_codex_C1_a_change_is_appended_and_nothing_is_rewritten() -> None:
    first, second = records_of(scenario_of(UserTurn(), AdvanceClock(), UserTurn()), Requested)
    assert second.messages[: len(first.messages)] == first.messages
    [said, changed, asked] = second.messages[len(first.messages) :]
    assert (said.says, asked.says) == ("a1", "u2")
    assert "<environment_context>" in changed.text


# ---------------------------------------------------------------- C2


def test_codex_C2_before_a_turn_the_context_is_left_out_and_brought_in_before_the_new_message() -> None:
    codex, _ = compacting("what was done")
    before = [CONTEXT, U1, A1, U2]
    after = folded(before, codex.before_agent({"messages": before, "last_input": "u1"}, None))
    assert kinds_of(after) == ["u1", "summary", "context", "context", "context", "u2"]


# ---------------------------------------------------------------- C3


def test_codex_C3_the_request_is_the_history_and_one_user_message() -> None:
    codex, model = compacting("what was done")
    codex.before_agent({"messages": [U1, A1, U2], "last_input": "u1"}, None)
    [asked] = model.asked
    assert asked[:-1] == [U1, A1]
    assert isinstance(asked[-1], HumanMessage)
    for wanted in ("done and decided", "preferences", "steps that remain", "data"):
        assert wanted in asked[-1].text


# ---------------------------------------------------------------- C4


def test_codex_C4_only_user_messages_and_the_summary_are_left_and_the_summary_is_last() -> None:
    codex, _ = compacting("what was done")
    history = [CONTEXT, U1, answer("a1", "c1"), result("c1"), SUMMARY, A1, U2]
    after = codex.replaced(history, "more was done", DoNotInject())
    assert ids(after[:-1]) == ["u1", "u2"]
    assert after[-1].text == f"{SUMMARY_PREFIX}\nmore was done"


def test_codex_C4_the_newest_user_messages_fit_the_budget_and_the_next_one_is_truncated() -> None:
    users = [user("old"), user("long", "word " * 60), user("new")]
    budget = count_tokens([users[2]]) + 20
    kept = within_budget(users, budget, count_tokens)
    assert ids(kept) == ["long", "new"]
    assert kept[1] is users[2]
    assert "tokens truncated" in kept[0].text
    assert len(kept[0].text) < len(users[1].text)


def test_codex_C4_an_empty_summary_is_said_to_be_none() -> None:
    assert summary_message(" \n", "s").text == f"{SUMMARY_PREFIX}\n{NO_SUMMARY}"


def test_codex_C4_what_begins_with_the_prefix_is_a_summary_and_no_user_message() -> None:
    assert not is_real_user(user("u", f"{SUMMARY_PREFIX}\nI did it"))
    assert is_real_user(user("u", f"I did it. {SUMMARY_PREFIX}"))


# ---------------------------------------------------------------- C5


@pytest.mark.parametrize(
    ("history", "point"),
    [
        ([U1, U2, SUMMARY], 1),
        ([answer("a1"), SUMMARY, SUMMARY], 2),
        ([HumanMessage("…", additional_kwargs={COMPACTION_KEY: True, CONTEXT_KEY: "x"}), A1], 0),
        ([A1], 1),
        ([], 0),
    ],
    ids=["last-user", "last-summary", "last-compaction-item", "append", "empty"],
)
def test_codex_C5_the_anchor_is_found_from_the_tail(history: list[BaseMessage], point: int) -> None:
    assert insertion_point(history) == point


def test_codex_C5_within_a_turn_the_context_stands_before_the_last_user_message() -> None:
    codex, _ = compacting("what was done")
    before = [U1, A1, CONTEXT, U2, answer("a2", "c1"), result("c1")]
    after = folded(before, codex.before_model({"messages": before}, None))
    assert kinds_of(after) == ["u1", "context", "context", "context", "u2", "summary"]


# ---------------------------------------------------------------- C6


def test_codex_C6_the_choice_decides_whether_the_context_is_put_in() -> None:
    assert with_context([U1, SUMMARY], BeforeLastUserMessage((CONTEXT,))) == [CONTEXT, U1, SUMMARY]
    assert with_context([U1, SUMMARY], DoNotInject()) == [U1, SUMMARY]


# ---------------------------------------------------------------- C7


def test_codex_C7_what_exceeds_the_window_loses_its_oldest_item_and_is_tried_again() -> None:
    window = count_tokens([A1, U2])
    codex, model = compacting("what was done", window=window)
    assert codex.summary([U1, A1, U2]) == "what was done"
    assert [m.id for m in model.asked[0][:-1]] == ["a1", "u2"]


def test_codex_C7_one_item_that_exceeds_the_window_is_an_error() -> None:
    codex, model = compacting("never", window=1)
    with pytest.raises(CompactionError):
        codex.summary([U1, A1])
    assert not model.asked


def test_codex_C7_other_errors_are_retried_so_many_times(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(codex_handoff.time, "sleep", pauses.append)
    codex, model = compacting(OSError("no route"), retries=3)
    with pytest.raises(CompactionError) as caught:
        codex.summary([U1, A1])
    assert isinstance(caught.value.__cause__, OSError)
    assert len(model.asked) == 4
    assert pauses == [0.2, 0.4, 0.8]


def test_codex_C7_a_dropped_item_starts_the_retries_anew() -> None:
    request = HandoffRequest([U1, A1], window=10, retries=1, count=count_tokens)
    assert request.pause_after(OSError()) > 0
    assert request.pause_after(codex_handoff.ContextWindowExceeded()) == 0
    assert request.pause_after(OSError()) > 0
    with pytest.raises(CompactionError):
        request.pause_after(OSError())


@pytest.mark.parametrize("kind", ["raise", "cancel"])
def test_codex_C7_a_failed_or_interrupted_compaction_changes_nothing(kind: Any) -> None:
    at: Any = "summariser" if kind == "raise" else "before_agent"
    failing = UserTurn(faults=(Fault(kind, at, for_good=True),))
    talkative = UserTurn(reply_words=150)
    story = scenario_of(Configure(run_async=True), talkative, failing)
    assert records_of(scenario_of(talkative, UserTurn()), Summarised)
    assert [end.how for end in records_of(story, TurnEnded)][-1] == "aborted"
    before, after = records_of(story, Fold)[-2:]
    assert (before.by, after.by) == ("model", "user")
    assert after.state[:-1] == before.state


def test_codex_C7_the_asynchronous_form_retries_too() -> None:
    codex, model = compacting(OSError("no route"), "what was done")
    assert asyncio.run(codex.asummary([U1, A1])) == "what was done"
    assert len(model.asked) == 2


# ---------------------------------------------------------------- C8


def test_codex_C8_each_compaction_opens_a_window_with_the_next_number() -> None:
    codex, _ = compacting("what was done")
    state: dict[str, Any] = {"messages": [U1, A1, U2], "last_input": "u1"}
    first = codex.before_agent(state, None)
    assert first is not None
    assert first["window_number"] == 1
    state |= {**first, "messages": [*folded(state["messages"], first), answer("a2", "c1"), result("c1")]}
    second = codex.before_model(state, None)
    assert second is not None
    assert second["window_number"] == 2
    assert second["window_id"] != first["window_id"]


def test_codex_C8_a_restarted_process_installs_what_was_stored_and_makes_no_summary() -> None:
    story = [BUSY, BUSY, UserTurn()]
    requested = records_of(scenario_of(*story, UserTurn()), Requested)
    restarted = scenario_of(*story, Restart(), UserTurn())
    assert records_of(restarted, Requested)[-1].messages == requested[-1].messages
    summaries = records_of(scenario_of(*story), Summarised)
    assert summaries
    assert records_of(restarted, Summarised) == summaries


# ---------------------------------------------------------------- C9


def test_codex_C9_below_the_limit_nothing_is_compacted() -> None:
    limit = count_tokens([U1, A1])
    over, _ = compacting("what was done", limit=limit)
    assert over.compacts_before_turn([U1, A1])
    under, _ = compacting("what was done", limit=limit + 1)
    assert not under.compacts_before_turn([U1, A1])


def test_codex_C9_within_a_turn_only_behind_results_that_the_model_has_to_see() -> None:
    codex, _ = compacting("what was done")
    assert codex.compacts_within_turn([U1, answer("a1", "c1"), result("c1")])
    assert not codex.compacts_within_turn([U1, A1])
    assert not codex.compacts_within_turn([U1])


def test_codex_C9_the_limit_is_nine_tenths_of_the_window_unless_configured() -> None:
    environment, _ = environment_with("")
    assert Codex(environment, window=1_000).limit == 900
    assert Codex(environment, window=1_000, automatic_limit=300).limit == 300
