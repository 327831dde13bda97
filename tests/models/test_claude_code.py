"""Claude Code's rules as observed, one test a rule, folded through the real reducer."""

from langchain_core.messages import BaseMessage, HumanMessage

from sixfold.harness.faults import Fault
from sixfold.harness.play import play
from sixfold.harness.steps import AdvanceClock, ChangeState, Step, ToolRound, UserTurn
from sixfold.models.claude_code import CLAUDE_CODE

from ..helpers import agent_of, scenario_of
from .folded import final_state, folds, ids, requests, said, summaries, users

LONG = UserTurn(rounds=(ToolRound(),), reply_words=150)


def sent(*steps: Step) -> list[list[BaseMessage]]:
    """Return the message objects of each request, the system message first."""
    seen: list[list[BaseMessage]] = []
    play(agent_of(CLAUDE_CODE), scenario_of(*steps), on_request=lambda _, sent: seen.append(list(sent)))
    return seen


def marked(message: BaseMessage) -> bool:
    parts = message.content if isinstance(message.content, list) else []
    return any(isinstance(part, dict) and "cache_control" in part for part in parts)


def test_claude_code_A1_system_prompt_is_in_blocks_with_cache_marks() -> None:
    system = sent(UserTurn())[0][0]
    assert system.type == "system"
    assert len(system.content) > 1
    assert marked(system)


def test_claude_code_A1_one_reminder_is_the_first_part_of_the_first_user_message() -> None:
    first, second = users(final_state(CLAUDE_CODE, UserTurn(), UserTurn()))
    assert ids((first, second)) == ["u1", "u2"]
    assert first.text.startswith("<system-reminder>")
    assert first.text.index("</system-reminder>") < first.text.index("⟦u1⟧")
    assert "system-reminder" not in second.text


def test_claude_code_A1_the_reminder_stays_as_it_was() -> None:
    first, second = requests(CLAUDE_CODE, UserTurn(), AdvanceClock(), UserTurn())
    assert first.messages[0] == second.messages[0]


def test_claude_code_A1_a_missed_reminder_goes_to_the_message_being_written() -> None:
    skipped = UserTurn(faults=(Fault("skip", "before_agent", member=1),))
    first, second = users(final_state(CLAUDE_CODE, skipped, UserTurn()))
    assert "system-reminder" not in first.text
    assert second.text.startswith("<system-reminder>")


def test_claude_code_A2_the_new_message_is_last_and_carries_the_mark() -> None:
    steps = (UserTurn(), UserTurn())
    for request, turn in zip(sent(*steps), (1, 2), strict=True):
        told = [message for message in request if isinstance(message, HumanMessage)]
        assert told[-1].id == f"u{turn}"
        assert [marked(message) for message in request[1:]] == [False] * (len(request) - 2) + [True]


def test_claude_code_A2_later_requests_extend_earlier_ones() -> None:
    earlier, later = requests(CLAUDE_CODE, UserTurn(), UserTurn())
    assert later.system == earlier.system
    assert later.messages[: len(earlier.messages)] == earlier.messages


def test_claude_code_A3_further_reminders_follow_the_message_of_their_turn() -> None:
    state = final_state(CLAUDE_CODE, UserTurn(), ChangeState(), UserTurn())
    assert [view.role for view in state] == ["human", "system", "ai", "human", "system", "ai"]
    assert "⟦s1⟧" in state[1].text
    assert "⟦s2⟧" in state[4].text


def test_claude_code_A3_what_has_not_changed_is_not_told_again() -> None:
    state = final_state(CLAUDE_CODE, UserTurn(), UserTurn())
    assert [view.role for view in state].count("system") == 1


def test_claude_code_A4_the_request_for_a_summary_ends_with_the_instruction() -> None:
    [summary] = summaries(CLAUDE_CODE, LONG, UserTurn())
    assert set(summary.quoted) >= {"u1", "a1.1", "t1.1.0", "a1"}
    assert "u2" not in summary.quoted


def test_claude_code_A4_the_new_message_is_last_behind_summary_reply_and_command() -> None:
    compacted = next(
        fold for fold in folds(CLAUDE_CODE, LONG, UserTurn()) if fold.by.startswith("Compaction")
    )
    summary, reply, command, new = compacted.state
    assert [view.role for view in (summary, reply, command)] == ["human", "ai", "human"]
    assert summary.text.startswith("<system-reminder>")
    assert {"u1", "a1"} <= set(summary.mentions.utterances)
    assert "command-name" in command.text
    assert new.says == "u2"


def test_claude_code_A4_a_blank_summary_changes_nothing() -> None:
    blank = UserTurn(faults=(Fault("bad_summary", "summariser", summary="blank"),))
    assert said(final_state(CLAUDE_CODE, LONG, blank))[0] == "u1"


def test_claude_code_A5_it_compacts_over_the_threshold_only() -> None:
    assert not summaries(CLAUDE_CODE, UserTurn(), UserTurn())
    assert summaries(CLAUDE_CODE, LONG, UserTurn())
