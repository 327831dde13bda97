"""Letta's rules, one test a rule, folded through the real reducer."""

from itertools import pairwise

from langchain_core.messages import AIMessage, HumanMessage

from sixfold.harness.chat_model import FakeChatModel
from sixfold.harness.environment import SMALL_WINDOW, Environment
from sixfold.harness.faults import Fault
from sixfold.harness.steps import AdvanceClock, ChangeState, ToolRound, UserTurn
from sixfold.models.letta import LETTA, LETTA_SUMMARY, Eviction, conversation_search

from .folded import final_state, folded, folds, ids, requests, said, summaries, users

FAILING = (Fault("raise", "source", for_good=True),)
LONG = UserTurn(rounds=(ToolRound(),), reply_words=60)


def test_letta_T1_memory_is_in_the_system_prompt_and_in_no_message() -> None:
    for request in requests(LETTA, UserTurn(), ChangeState(), UserTurn()):
        assert f"⟦s{request.turn}⟧" in request.system
        assert not any(view.mentions.states for view in request.messages)


def test_letta_T1_prompt_is_compiled_anew_only_when_memory_changes() -> None:
    same = [r.system for r in requests(LETTA, UserTurn(), AdvanceClock(), UserTurn())]
    changed = [r.system for r in requests(LETTA, UserTurn(), AdvanceClock(), ChangeState(), UserTurn())]
    assert same[0] == same[1]
    assert changed[0] != changed[1]


def test_letta_T1_memory_that_cannot_be_read_leaves_the_last_prompt() -> None:
    first, second = requests(LETTA, UserTurn(), ChangeState(), UserTurn(faults=FAILING))
    assert second.system == first.system


def test_letta_T2_whole_turns_leave_and_the_current_one_stays() -> None:
    state = final_state(LETTA, LONG, UserTurn())
    assert said(state) == ["u2", "a2"]


def test_letta_T2_what_fits_stays_and_only_grows() -> None:
    states = [fold.state for fold in folds(LETTA, UserTurn(), UserTurn())]
    assert all(ids(later)[: len(earlier)] == ids(earlier) for earlier, later in pairwise(states))


def test_letta_T2_nothing_of_the_current_turn_leaves() -> None:
    state = final_state(LETTA, UserTurn(rounds=(ToolRound(),) * 6))
    assert said(state)[:2] == ["u1", "a1.1"]


def test_letta_T2_what_left_the_window_is_found_by_search() -> None:
    messages = [
        HumanMessage("the key is blue", id="u1"),
        AIMessage("noted", id="a1"),
        HumanMessage("?", id="u2"),
    ]
    environment = Environment(FakeChatModel.create(max_input_tokens=SMALL_WINDOW))
    update = Eviction(environment, window=5).before_agent({"messages": messages}, None)
    assert update is not None
    assert [message.id for message in folded(messages, update["messages"])] == ["u2"]
    found = conversation_search.func(query="key", state=update)  # type: ignore[attr-defined]
    assert found == "human: the key is blue"
    assert conversation_search.func(query="lock", state=update) == "Nothing was found."  # type: ignore[attr-defined]


def test_letta_T2_one_summary_stands_first() -> None:
    state = final_state(LETTA_SUMMARY, LONG, LONG, UserTurn())
    assert [view.name for view in state].count("letta_summary") == 1
    assert state[0].name == "letta_summary"
    assert {"u1", "a1", "u2", "a2"} <= set(state[0].mentions.utterances)


def test_letta_T2_without_a_summary_nothing_leaves() -> None:
    blank = UserTurn(faults=(Fault("bad_summary", "summariser", summary="blank"),))
    steps = (LONG, blank)
    assert len(summaries(LETTA_SUMMARY, *steps)) == 1
    assert said(final_state(LETTA_SUMMARY, *steps))[0] == "u1"


def test_letta_T3_reminder_stands_before_the_words_in_the_same_message() -> None:
    first, second = users(final_state(LETTA, UserTurn(), UserTurn()))
    assert ids((first, second)) == ["u1", "u2"]
    assert first.text.startswith("<system-reminder>Started")
    assert second.text.startswith("<system-reminder>Continued")
    assert first.text.index("</system-reminder>") < first.text.index("⟦u1⟧")


def test_letta_T3_earlier_messages_are_never_rewritten() -> None:
    texts: dict[str | None, str] = {}
    for fold in folds(LETTA, UserTurn(), AdvanceClock(), UserTurn(), UserTurn()):
        for view in fold.state:
            if fold.by != "user":
                assert texts.setdefault(view.id, view.text) == view.text
    assert {"u1", "u2", "u3"} <= set(texts)


def test_letta_T3_later_requests_extend_earlier_ones() -> None:
    earlier, later = requests(LETTA, UserTurn(), UserTurn())
    assert later.messages[: len(earlier.messages)] == earlier.messages


def test_letta_T3_a_missed_reminder_is_not_made_up_for() -> None:
    skipped = UserTurn(faults=(Fault("skip", "before_agent", member=1),))
    texts = [view.text for view in users(final_state(LETTA, skipped, UserTurn()))]
    assert [text.startswith("<system-reminder>") for text in texts] == [False, True]
