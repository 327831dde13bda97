"""Hermes Agent's rules H1 to H10, one test a rule at least; whole turns fold through the real reducer."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.chat_model import FakeChatModel
from sixfold.harness.environment import SMALL_WINDOW, Environment
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, Requested, Summarised
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import AdvanceClock, Restart, ToolRound, UserTurn
from sixfold.models.hermes import COOLDOWN, HermesCompressor, Session, threshold_of
from sixfold.models.hermes_candidates import HERMES, HERMES_MENDED, HERMES_MICRO
from sixfold.models.hermes_messages import (
    END,
    MERGED,
    MICRO_KEY,
    PREFIX,
    SUMMARY_KEY,
    is_batch,
    is_micro,
    is_summary,
    size_of,
)
from sixfold.models.hermes_micro import next_exchange, spliced
from sixfold.models.hermes_prepass import sanitised, shortened, with_newest_images
from sixfold.models.hermes_summary import (
    FALLBACK_MOST,
    Plan,
    SummaryRules,
    assembled,
    fallback,
    is_fatal,
    plan,
    summary_role,
)
from sixfold.models.hermes_tail import TailRules, head_size, last_words, tail_start

from ..helpers import agent_of, scenario_of

RULES = SummaryRules()
TAIL = TailRules(budget=27)
ONE_CALL = UserTurn(rounds=(ToolRound(),))
LONG_TALK = (UserTurn(),) * 7


def user(number: int, text: str = "ask") -> HumanMessage:
    return HumanMessage(f"{text} {number}", id=f"u{number}")


def agent(number: int, *calls: str, text: str = "say") -> AIMessage:
    asked = [{"name": "lookup", "args": {}, "id": call, "type": "tool_call"} for call in calls]
    return AIMessage(f"{text} {number}" if text else "", id=f"a{number}", tool_calls=asked)


def result(call: str, text: str = "got") -> ToolMessage:
    return ToolMessage(text, tool_call_id=call, id=f"t-{call}")


def talk(turns: int) -> list[BaseMessage]:
    return [m for n in range(1, turns + 1) for m in (user(n), agent(n))]


def ids(messages: list[BaseMessage]) -> list[str | None]:
    return [message.id for message in messages]


def planned(messages: list[BaseMessage], **options: Any) -> Plan:
    made = plan(messages, options.get("tail", TAIL), options.get("rules", RULES), "", options.get("first", 3))
    assert made is not None
    return made


def compacted(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    made = planned(messages, **options)
    return assembled(made, "the summary", "summary", options.get("rules", RULES))


def compressor(**options: Any) -> HermesCompressor:
    environment = Environment(FakeChatModel.create(max_input_tokens=SMALL_WINDOW))
    return HermesCompressor(environment, window=160, **options)


def records_of(scenario: Scenario, candidate: Candidate = HERMES) -> list[Any]:
    return list(play(agent_of(candidate), scenario).history.records)


def folds_of(scenario: Scenario, candidate: Candidate = HERMES) -> list[Fold]:
    folds = [r for r in records_of(scenario, candidate) if isinstance(r, Fold)]
    return [fold for fold in folds if fold.by == "HermesCompressor.before_model"]


def calls_in(scenario: Scenario, candidate: Candidate = HERMES) -> list[Summarised]:
    return [r for r in records_of(scenario, candidate) if isinstance(r, Summarised)]


FAILING = UserTurn(faults=(Fault("raise", "summariser", for_good=True),))
TIMING_OUT = UserTurn(faults=(Fault("timeout", "summariser", for_good=True),))


# -- H1: when ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "output", "threshold"),
    [
        (1_000_000, 0, 500_000),  # half of a large window
        (200_000, 0, 150_000),  # three quarters below 512,000
        (200_000, 40_000, 120_000),  # what is reserved for the answer is taken off first
        (80_000, 0, 64_000),  # never below 64,000 tokens …
        (64_000, 0, 54_400),  # … unless the window has no room for that
        (160, 0, 136),
    ],
)
def test_hermes_H1_threshold(window: int, output: int, threshold: int) -> None:
    assert threshold_of(window, output=output) == threshold


def test_hermes_H1_nothing_happens_below_the_threshold() -> None:
    assert not calls_in(scenario_of(UserTurn(), UserTurn()))
    assert calls_in(scenario_of(*LONG_TALK))


def test_hermes_H1_nothing_is_tried_while_a_failure_cools_down() -> None:
    soon = scenario_of(*LONG_TALK[:3], *(TIMING_OUT,) * 3, UserTurn())
    assert [call.failure for call in calls_in(soon)] == ["timeout"]
    later = scenario_of(*LONG_TALK[:3], *(TIMING_OUT,) * 3, AdvanceClock(minutes=COOLDOWN // 60), UserTurn())
    assert [call.failure for call in calls_in(later)] == ["timeout", None]


def test_hermes_H1_a_forced_compaction_clears_the_cooldown() -> None:
    hermes = compressor()
    waiting = Session(paused_until=1e12)
    assert not hermes.is_due(talk(8), waiting)
    made, cleared = hermes.planned(talk(8), waiting, forced=True)
    assert made is not None
    assert hermes.is_due(talk(8), cleared)


def test_hermes_H1_two_compactions_in_vain_block_the_next() -> None:
    hermes = compressor()
    assert hermes.is_due(talk(8), Session(ineffective=1, fallbacks=1))
    assert not hermes.is_due(talk(8), Session(ineffective=2))
    assert not hermes.is_due(talk(8), Session(fallbacks=2))


def test_hermes_H1_the_prompt_of_the_next_answer_judges_a_compaction() -> None:
    hermes = compressor()
    full = agent(9)
    full.usage_metadata = {"input_tokens": 900, "output_tokens": 0, "total_tokens": 900}
    after = hermes.after_model({"messages": [full], "hermes": Session(unproven=True)}, None)
    assert after is not None
    assert after["hermes"] == {"ineffective": 1, "unproven": False}
    relieved = hermes.after_model({"messages": [agent(9)], "hermes": Session(ineffective=1)}, None)
    assert relieved is not None
    assert relieved["hermes"]["ineffective"] == 0


# -- H2: before the summary, without a model -----------------------------------------------------


def test_hermes_H2_old_outputs_become_one_line_and_the_tail_is_spared() -> None:
    long = "x" * 300
    calls = [m for n in range(30) for m in (agent(n, f"c{n}"), result(f"c{n}", f"{n} {long}"))]
    short = shortened(calls, budget=27, protect_last=20)
    assert short[1].text == "[lookup]: 302 characters"
    assert [m.text for m in short[-20:]] == [m.text for m in calls[-20:]]


def test_hermes_H2_of_equal_outputs_the_newest_is_kept() -> None:
    long = "x" * 300
    short = shortened(
        [agent(1, "c1"), result("c1", long), agent(2, "c2"), result("c2", long)], budget=27, protect_last=20
    )
    assert [short[1].text == long, short[3].text == long] == [False, True]


def test_hermes_H2_long_arguments_of_old_calls_are_cut() -> None:
    wordy = agent(1, "c1")
    wordy.tool_calls[0]["args"] = {"text": "y" * 600, "line": 3}
    short = shortened([wordy, result("c1"), *talk(12)], budget=27, protect_last=20)
    assert isinstance(short[0], AIMessage)
    assert short[0].tool_calls[0]["args"] == {"text": "y" * 200 + "...[cut]", "line": 3}
    assert len(wordy.tool_calls[0]["args"]["text"]) == 600


# -- H3: the head --------------------------------------------------------------------------------


def test_hermes_H3_head_is_the_system_message_and_three_more() -> None:
    assert head_size([SystemMessage("be brief"), *talk(4)], 3) == 4
    assert head_size(talk(4), 3) == 3


def test_hermes_H3_a_head_before_tool_results_slides_past_them() -> None:
    assert head_size([user(1), agent(1), agent(2, "c1", "c2"), result("c1"), result("c2"), agent(3)], 3) == 5


def test_hermes_H3_after_the_first_compaction_nothing_but_the_system_message_is_protected() -> None:
    first, second = folds_of(scenario_of(*(UserTurn(),) * 11))[:2]
    assert [view.id for view in first.state[:3]] == ["u1", "a1", "u2"]
    assert "u1" not in [view.id for view in second.state]


# -- H4: the tail --------------------------------------------------------------------------------


def test_hermes_H4_the_tail_grows_to_one_and_a_half_budgets() -> None:
    messages = talk(12)
    budget = 10 * size_of(messages[0])
    assert len(messages) - tail_start(messages, 3, TailRules(budget=budget)) == 15


def test_hermes_H4_eight_messages_stay_whatever_their_size() -> None:
    assert len(talk(12)) - tail_start(talk(12), 3, TAIL) == 8


def test_hermes_H4_in_a_short_history_two_are_left_to_summarise() -> None:
    messages = talk(5)
    assert tail_start(messages, 3, TAIL) - 3 == 3


def test_hermes_H4_a_tool_group_is_never_split() -> None:
    calls = [f"c{n}" for n in range(6)]
    messages = [*talk(4), agent(5, *calls), *map(result, calls), user(6), agent(6), agent(7)]
    assert tail_start(messages, 3, TAIL) == 8


def test_hermes_H4_last_user_message_is_in_the_tail() -> None:
    work = [m for n in range(10) for m in (agent(n, f"c{n}"), result(f"c{n}"))]
    messages = [*talk(3), user(4), *work]
    assert tail_start(messages, 3, TAIL) == 6
    assert tail_start(messages, 3, TailRules(budget=27, anchor=False)) > 6


def test_hermes_H4_a_summary_is_not_the_last_real_user_message() -> None:
    summary = HumanMessage(f"{PREFIX}\nold\n\n{END}", id="summary")
    assert last_words([*talk(3), user(4), summary, agent(5)], 3, TAIL) == 6


def test_hermes_H4_last_visible_answer_is_in_the_tail() -> None:
    silent = [m for n in range(6) for m in (agent(n, f"c{n}", text=""), result(f"c{n}"))]
    assert tail_start([*talk(4), user(5), *silent], 3, TAIL) == 7
    assert tail_start([*talk(4), user(5), *silent], 3, TailRules(budget=27, anchor=False)) > 8


def test_hermes_H4_a_pair_at_the_heads_edge_is_summarised_whole() -> None:
    work = [m for n in range(2, 9) for m in (agent(n, f"c{n}"), result(f"c{n}"))]
    messages = [user(1), agent(1, "c1"), result("c1"), *work]
    assert tail_start(messages, 0, TAIL) == 3
    assert tail_start(messages, 0, TailRules(budget=27, edge="alone")) == 1


# -- H5: nothing to do ---------------------------------------------------------------------------


def test_hermes_H5_too_few_messages_change_nothing() -> None:
    assert plan(talk(3), TAIL, RULES, "", 3) is None


def test_hermes_H5_nothing_between_head_and_tail_counts_as_ineffective() -> None:
    hermes = compressor()
    big = [user(1, "x" * 600), agent(1), user(2)]
    update = hermes.before_model({"messages": big}, None)
    assert update == {"hermes": {"ineffective": 1}}


# -- H6: the summary -----------------------------------------------------------------------------


def test_hermes_H6_summary_stands_between_its_marks() -> None:
    [summary] = [m for m in compacted(talk(7)) if m.id == "summary"]
    assert summary.text.startswith(PREFIX)
    assert summary.text.endswith(END)
    assert summary.additional_kwargs == {SUMMARY_KEY: True}


def test_hermes_H6_previous_summary_is_updated_and_its_turns_are_not_shown_again() -> None:
    again = planned([*compacted(talk(7)), *talk(12)[14:]], first=0)
    assert again.previous == "the summary"
    assert not any(is_summary(message) for message in again.turns)
    assert "Bring the summary up to date" in again.prompt()


@pytest.mark.parametrize(
    ("head", "tail", "role"),
    [
        ([], [user(1)], "assistant"),
        ([agent(1)], [agent(2), user(2)], "user"),
        ([user(1)], [user(2)], "assistant"),
        ([agent(1)], [user(2)], None),  # neither role fits
        ([user(1)], [agent(2)], None),
        ([SystemMessage("s")], [agent(1), user(1)], "user"),  # behind a lone system message
        ([SystemMessage("s")], [user(1)], None),
        ([agent(1)], [agent(2)], "user"),
        ([], [agent(1)], "user"),  # no user message would survive
    ],
)
def test_hermes_H6_role_differs_from_both_neighbours(
    head: list[BaseMessage], tail: list[BaseMessage], role: str | None
) -> None:
    assert summary_role(head, tail) == role


def test_hermes_H6_a_merged_summary_stands_behind_the_words_it_is_merged_into() -> None:
    messages = [user(1), agent(1), agent(2), *talk(6)]
    merged = compacted(messages)[3]
    before, _, behind = merged.text.partition(MERGED)
    assert merged.id == messages[planned(messages).end].id
    assert messages[planned(messages).end].text in before
    assert "the summary" in behind
    assert merged.additional_kwargs[SUMMARY_KEY] is True


def test_hermes_H6_the_system_message_is_told_once() -> None:
    once = compacted([SystemMessage("be brief", id="s"), *talk(8)])
    twice = compacted([*once, *talk(14)[16:]], first=0)
    assert once[0].text.startswith("be brief\n\n[")
    assert twice[0].text == once[0].text


# -- H7: a failing summary -----------------------------------------------------------------------


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionError(), RuntimeError("insufficient_quota")])
def test_hermes_H7_no_access_quota_or_network_aborts(error: Exception) -> None:
    assert is_fatal(error)
    assert not is_fatal(RuntimeError("the model answered with nonsense"))


def test_hermes_H7_a_timeout_leaves_the_messages_as_they_were() -> None:
    scenario = scenario_of(*LONG_TALK[:4], TIMING_OUT)
    assert calls_in(scenario)
    assert all(len(fold.state) == 9 for fold in folds_of(scenario))


def test_hermes_H7_other_errors_end_in_a_fallback_that_keeps_the_requests() -> None:
    *_, last = folds_of(scenario_of(*LONG_TALK[:4], FAILING))
    [summary] = [view for view in last.state if view.text.startswith(PREFIX) or MERGED in view.text]
    assert "a2" in summary.mentions.utterances


def test_hermes_H7_by_configuration_the_messages_stay() -> None:
    folds = folds_of(scenario_of(*LONG_TALK[:4], FAILING), HERMES_MENDED)
    assert all(len(fold.state) == 9 for fold in folds)


def test_hermes_H7_a_fallback_is_bounded() -> None:
    turns = [user(n, "x" * 2_000) for n in range(40)]
    made = Plan(messages=turns, start=0, end=40, turns=list(turns), previous="")
    assert 0 < len(fallback(made)) <= FALLBACK_MOST


# -- H8: behind the assembly ---------------------------------------------------------------------


def test_hermes_H8_results_and_calls_without_each_other_go() -> None:
    kept = sanitised([agent(1, "c1", "c2", text=""), result("c1"), result("c9"), agent(2, "c3", text="")])
    assert ids(kept) == ["a1", "t-c1", "a2"]
    assert [call["id"] for call in kept[0].tool_calls] == ["c1"]  # type: ignore[attr-defined]
    assert kept[-1].text == "(tool call removed)"


def test_hermes_H8_images_before_the_last_one_of_a_user_become_placeholders() -> None:
    def shown(number: int) -> HumanMessage:
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
        return HumanMessage([{"type": "text", "text": f"see {number}"}, picture], id=f"u{number}")

    old, newest, plain = with_newest_images([shown(1), shown(2), user(3)])
    assert [part["type"] for part in old.content] == ["text", "text"]  # type: ignore[index]
    assert [part["type"] for part in newest.content] == ["text", "image_url"]  # type: ignore[index]
    assert plain.text == "ask 3"


# -- H9: micro and batch -------------------------------------------------------------------------


def test_hermes_H9_the_two_markers_have_different_keys() -> None:
    [batch] = [m for m in compacted(talk(7)) if is_summary(m)]
    exchange = next_exchange(talk(7), TAIL, 3)
    assert exchange is not None
    [micro] = [m for m in spliced(exchange, "rolling", "micro") if is_summary(m)]
    assert (is_batch(batch), is_micro(batch)) == (True, False)
    assert (is_batch(micro), is_micro(micro)) == (False, True)
    assert MICRO_KEY not in batch.additional_kwargs


def test_hermes_H9_a_micro_compaction_drops_its_own_marker_and_no_batch_marker() -> None:
    batch = AIMessage(f"{PREFIX}\nbatch\n\n{END}", id="batch", additional_kwargs={SUMMARY_KEY: True})
    exchange = next_exchange([user(1), batch, *talk(8)[2:]], TAIL, 0)
    assert exchange is not None
    once = spliced(exchange, "first", "micro1")
    again = next_exchange(once, TAIL, 0)
    assert again is not None
    assert again.rolling == "first"
    twice = spliced(again, "second", "micro2")
    assert [m.id for m in twice if is_summary(m)] == ["batch", "micro2"]
    assert {"u1", "u2", "u3"} <= set(ids(twice))


def test_hermes_H9_the_users_words_are_not_folded() -> None:
    last = [r for r in records_of(scenario_of(*LONG_TALK), HERMES_MICRO) if isinstance(r, Fold)]
    micro = [fold for fold in last if fold.by == "HermesMicroCompaction.after_agent"]
    assert micro
    before, after = last[last.index(micro[0]) - 1], micro[0]
    words = [view.says for view in before.state if view.role == "human"]
    assert [view.says for view in after.state if view.role == "human"] == words


# -- H10: byte stability -------------------------------------------------------------------------


def test_hermes_H10_requests_extend_earlier_ones_but_for_a_compaction() -> None:
    previous: tuple[Any, ...] = ()
    changed = 0
    for record in records_of(scenario_of(*(ONE_CALL,) * 6)):
        if isinstance(record, Fold) and record.by == "HermesCompressor.before_model":
            if record.state[: len(previous)] != previous:
                changed += 1
                previous = ()
        elif isinstance(record, Requested):
            assert record.messages[: len(previous)] == previous
            previous = record.messages
    assert changed


def test_hermes_H10_a_new_process_goes_on_as_the_old_one_would() -> None:
    turns = (UserTurn(),) * 10
    plain = folds_of(scenario_of(*turns))[-1].state
    resumed = folds_of(scenario_of(*turns[:7], Restart(), *turns[7:]))[-1].state
    assert [view.text for view in plain] == [view.text for view in resumed]


def test_hermes_declares_what_it_does_on_purpose_and_no_more() -> None:
    assert HERMES.contract == Contract(compacts=True, keeps_head=True, clears_tool_results=True)
