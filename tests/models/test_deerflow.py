"""deer-flow's rules, one test a rule, folded through the real reducer."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from sixfold.harness.candidate import Candidate
from sixfold.harness.chat_model import FakeChatModel
from sixfold.harness.environment import SMALL_WINDOW, Environment
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import (
    AdvanceClock,
    ChangeState,
    Configure,
    LateResults,
    Restart,
    ToolCall,
    ToolRound,
    UserMessage,
    UserTurn,
)
from sixfold.models.deerflow import DATE_KEY, DEERFLOW, DEERFLOW_4667, REMINDER_KEY, DynamicContextMiddleware
from sixfold.models.deerflow_durable import (
    SUMMARY_BOUND,
    bounded,
    delegations_in,
    merged,
    record_of,
    skills_in,
)
from sixfold.models.deerflow_repair import DEERFLOW_REPAIR
from sixfold.models.deerflow_summarization import (
    DEERFLOW_DELEGATING,
    DEERFLOW_STACK,
    DEERFLOW_SUMMARIZATION,
    beside_no_result,
)

from ..helpers import agent_of, scenario_of
from .folded import final_state, folds, ids, requests, said, summaries, users

SKIPPED = UserTurn(faults=(Fault("skip", "before_agent"),))


def final_ids(scenario: Scenario, candidate: Candidate = DEERFLOW) -> list[str | None]:
    folds = [r for r in play(agent_of(candidate), scenario).history.records if isinstance(r, Fold)]
    return [view.id for view in folds[-1].state]


def dynamic_context() -> DynamicContextMiddleware:
    return DynamicContextMiddleware(Environment(FakeChatModel.create(max_input_tokens=SMALL_WINDOW)))


def test_deerflow_D1_target_is_a_real_user_message_that_was_not_swapped() -> None:
    is_target = dynamic_context().is_target
    assert is_target(HumanMessage("do", id="u1"))
    assert not is_target(HumanMessage("do", id="u1__user"))
    assert not is_target(HumanMessage("do", id="u1", name="summary"))
    assert not is_target(HumanMessage("do", id="u1", additional_kwargs={REMINDER_KEY: True}))
    assert not is_target(AIMessage("done", id="a1"))


def test_deerflow_D2_date_is_structured_and_only_old_system_reminders_are_read() -> None:
    tag = "<current_date>2026-08-16</current_date>"
    marked = {REMINDER_KEY: True}
    newest = dynamic_context().last_injected_date
    structured = SystemMessage(tag, additional_kwargs={**marked, DATE_KEY: "2026-08-17"})
    assert newest([structured]) == "2026-08-17"
    assert newest([SystemMessage(tag, additional_kwargs=marked)]) == "2026-08-16"
    assert newest([HumanMessage(tag, additional_kwargs=marked)]) is None
    assert newest([SystemMessage(tag)]) is None


def test_deerflow_D2_a_reminder_without_a_date_is_skipped() -> None:
    dated = SystemMessage("", additional_kwargs={REMINDER_KEY: True, DATE_KEY: "2026-08-17"})
    block = HumanMessage("memory", additional_kwargs={REMINDER_KEY: True})
    assert dynamic_context().last_injected_date([dated, block]) == "2026-08-17"


def test_deerflow_D3_first_injection_attaches_to_the_last_target() -> None:
    assert final_ids(scenario_of(SKIPPED, UserTurn())) == ["u1", "a1", "u2", "u2__memory", "u2__user", "a2"]


def test_deerflow_D3_before_4667_it_attached_to_the_first() -> None:
    moved = final_ids(scenario_of(SKIPPED, UserTurn()), DEERFLOW_4667)
    assert moved == ["u1", "a1", "u2", "u1__memory", "u1__user", "a2"]


def test_deerflow_D4_same_date_changes_nothing() -> None:
    assert final_ids(scenario_of(UserTurn(), UserTurn()))[-2:] == ["u2", "a2"]


def test_deerflow_D4_another_date_attaches_a_date_only_reminder() -> None:
    assert final_ids(scenario_of(UserTurn(), AdvanceClock(), UserTurn()))[-3:] == ["u2", "u2__user", "a2"]


def test_deerflow_D5_swap_keeps_the_order_of_reminder_memory_and_words() -> None:
    assert final_ids(scenario_of(UserTurn())) == ["u1", "u1__memory", "u1__user", "a1"]


def test_deerflow_D5_without_memory_there_is_no_block() -> None:
    assert final_ids(scenario_of(ChangeState(to="empty"), UserTurn())) == ["u1", "u1__user", "a1"]


def test_deerflow_D5_words_keep_name_and_metadata() -> None:
    words = UserTurn(messages=(UserMessage(name="ada", hidden=True),))
    before = folds(DEERFLOW, words)[0].state[0]
    after = next(view for view in final_state(DEERFLOW, words) if view.id == "u1__user")
    assert (after.name, after.extra, after.text) == (before.name, before.extra, before.text)


def test_deerflow_D6_asynchronous_injection_is_given_up_after_its_time() -> None:
    slow = UserTurn(faults=(Fault("timeout", "before_agent"),))
    assert final_ids(scenario_of(Configure(run_async=True), slow)) == ["u1", "a1"]
    assert final_ids(scenario_of(Configure(run_async=True), UserTurn()))[0:2] == ["u1", "u1__memory"]


def test_deerflow_D6_timeout_of_the_memory_skips_the_injection() -> None:
    turn = UserTurn(faults=(Fault("timeout", "source"),))
    assert final_ids(scenario_of(turn)) == ["u1", "a1"]


def test_deerflow_D7_memory_is_frozen() -> None:
    ids = final_ids(scenario_of(UserTurn(), ChangeState(), Restart(), AdvanceClock(), UserTurn()))
    assert [i for i in ids if i and i.endswith("__memory")] == ["u1__memory"]


LONG = UserTurn(rounds=(ToolRound(), ToolRound(), ToolRound()))
ASKED_TWICE = UserTurn(messages=(UserMessage(), UserMessage()), rounds=LONG.rounds)


def failing(summary: str) -> UserTurn:
    return UserTurn(faults=(Fault("bad_summary", "summariser", summary=summary),), rounds=LONG.rounds)  # type: ignore[arg-type]


def test_deerflow_D8_old_messages_leave_for_a_summary_beside_the_history() -> None:
    state = final_state(DEERFLOW_SUMMARIZATION, LONG)
    assert summaries(DEERFLOW_SUMMARIZATION, LONG)
    assert "a1.1" not in said(state)
    assert not any(view.name == "summary" for view in state)


def test_deerflow_D8_the_request_is_kept_by_its_id_before_the_cut() -> None:
    assert said(final_state(DEERFLOW_SUMMARIZATION, LONG))[0] == "u1"


def test_deerflow_D8_of_two_messages_only_the_latest_is_the_request() -> None:
    kept = said(final_state(DEERFLOW_SUMMARIZATION, ASKED_TWICE))
    assert "u1.2" in kept
    assert "u1" not in kept


def test_deerflow_D8_reminders_are_rescued_and_older_words_are_not() -> None:
    kept = ids(final_state(DEERFLOW_STACK, UserTurn(), LONG))
    assert kept[:2] == ["u1", "u1__memory"]
    assert "u1__user" not in kept
    assert "u2" in kept


def test_deerflow_D8_the_cut_parts_no_call_from_its_results() -> None:
    calls = [{"name": "look", "args": {}, "id": call} for call in ("c1", "c2")]
    results = [ToolMessage("found", tool_call_id=str(call["id"])) for call in calls]
    messages = [HumanMessage("do"), AIMessage("", tool_calls=calls), *results, AIMessage("done")]
    assert [beside_no_result(messages, cut) for cut in range(5)] == [0, 1, 1, 1, 4]
    assert beside_no_result([*results, HumanMessage("do")], 1) == 2


def test_deerflow_D8_a_failed_or_blank_summary_leaves_all_as_it_was() -> None:
    raising = UserTurn(faults=(Fault("raise", "summariser", for_good=True),), rounds=LONG.rounds)
    for turn in (raising, failing("empty"), failing("blank")):
        first = summaries(DEERFLOW_SUMMARIZATION, turn)[0]
        assert first.failure is not None
    assert said(final_state(DEERFLOW_SUMMARIZATION, raising))[:2] == ["u1", "a1.1"]


def test_deerflow_D9_record_and_rules_are_in_the_request_and_never_in_state() -> None:
    last = requests(DEERFLOW_SUMMARIZATION, LONG)[-1]
    rules, record = last.messages[:2]
    assert (rules.role, record.role, record.name) == ("system", "human", "durable_context")
    assert "a1.1" in record.mentions.utterances
    assert "hide_from_ui" in record.extra
    shown = {view.id for fold in folds(DEERFLOW_SUMMARIZATION, LONG) for view in fold.state}
    assert not shown & {"durable_context", "durable_context_rules"}


def test_deerflow_D9_with_nothing_to_show_nothing_is_shown() -> None:
    [request] = requests(DEERFLOW_SUMMARIZATION, UserTurn())
    assert ids(request.messages) == ["u1"]


def test_deerflow_D9_a_long_summary_loses_its_middle() -> None:
    text = "head" + "x" * SUMMARY_BOUND + "tail"
    short = bounded(text)
    assert len(short) == SUMMARY_BOUND
    assert short.startswith("head")
    assert short.endswith("tail")
    assert bounded("short") == "short"


def test_deerflow_D9_delegations_and_skills_are_captured_and_told() -> None:
    task = {"name": "task", "args": {"description": "count"}, "id": "c1"}
    read = {"name": "read_file", "args": {"path": "/mnt/skills/pdf/SKILL.md"}, "id": "c2"}
    other = {"name": "read_file", "args": {"path": "/tmp/SKILL.md"}, "id": "c3"}
    asked = AIMessage("", tool_calls=[task, read, other])
    open_ones = delegations_in([asked], frozenset({"task"}))
    done = delegations_in([asked, ToolMessage("three", tool_call_id="c1")], frozenset({"task"}))
    record = record_of({"delegations": merged(open_ones, done), "skills": skills_in([asked])})
    assert [each["status"] for each in (*open_ones, *done)] == ["in progress", "completed"]
    assert record.count("count") == 1
    assert "three" in record
    assert "/mnt/skills/pdf/SKILL.md" in record
    assert "/tmp/SKILL.md" not in record


def test_deerflow_D9_delegations_outlive_what_was_compacted_away() -> None:
    request = requests(DEERFLOW_DELEGATING, LONG, UserTurn())[-1]
    [record] = [view for view in request.messages if view.name == "durable_context"]
    assert "t1.1.0" not in said(request.messages)
    assert {"t1.1.0", "t1.2.0", "t1.3.0"} <= set(record.mentions.utterances)


def test_deerflow_D10_one_leading_system_message_holds_the_newest_date_only() -> None:
    for request in requests(DEERFLOW_STACK, UserTurn(), AdvanceClock(), UserTurn()):
        assert "system" not in [view.role for view in request.messages]
        assert request.system.count("<current_date>") == 1
    later = requests(DEERFLOW_STACK, UserTurn(), AdvanceClock(), UserTurn())[-1]
    earlier = requests(DEERFLOW_STACK, UserTurn())[-1]
    assert later.system != earlier.system
    assert len(users(later.messages)) == 3


def answered(*steps: object) -> list[tuple[str, str | None]]:
    """Return role and answered call of each message in the last request."""
    last = requests(DEERFLOW_REPAIR, *steps)[-1]  # type: ignore[arg-type]
    return [(view.role, view.answers) for view in last.messages]


def test_deerflow_D11_a_call_without_result_gets_one_beside_it() -> None:
    stopped = UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall())),), stop="after_calls")
    assert answered(stopped, UserTurn())[1:] == [
        ("ai", None),
        ("tool", "c1.1.0"),
        ("tool", "c1.1.1"),
        ("human", None),
    ]


def test_deerflow_D11_invalid_and_raw_calls_get_one_too() -> None:
    invalid = UserTurn(rounds=(ToolRound(calls=(ToolCall(kind="invalid"),)),))
    raw = UserTurn(rounds=(ToolRound(view="kwargs_only"),))
    assert ("tool", "c1.1.0") in answered(invalid, UserTurn())
    assert answered(raw, UserTurn())[1:3] == [("ai", None), ("tool", "c1.1.0")]


def test_deerflow_D11_late_and_doubled_results_stand_beside_their_calls_once() -> None:
    stopped = UserTurn(rounds=(ToolRound(),), stop="after_results")
    once = [("human", None), ("ai", None), ("tool", "c1.1.0"), ("human", None)]
    assert answered(stopped, LateResults(again=True), UserTurn()) == once


def test_deerflow_D11_the_state_is_left_as_it_is() -> None:
    stopped = UserTurn(rounds=(ToolRound(),), stop="after_calls")
    assert said(final_state(DEERFLOW_REPAIR, stopped, UserTurn())) == ["u1", "a1.1", "u2", "a2"]
