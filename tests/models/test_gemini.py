"""Gemini CLI's rules of 2025, one test a rule, folded through the real reducer."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, ToolMessage

from sixfold.harness.environment import count_tokens
from sixfold.models.gemini import (
    ACKNOWLEDGEMENT,
    SNAPSHOT_KEY,
    GeminiCompression,
    is_context,
)
from sixfold.models.gemini_history import (
    find_split_point,
    items_of,
    shortened,
    size_of,
    within_tool_budget,
)

from .summariser import answer, environment_with, folded, ids, result, user

LONG = "a long answer " * 40
HISTORY: list[BaseMessage] = [user("u1"), answer("a1", text=LONG), user("u2"), answer("a2"), user("u3")]


def compression(*answers: str | Exception, **options: Any) -> tuple[GeminiCompression, Any]:
    environment, model = environment_with(*answers)
    options = {"window": 2 * count_tokens(HISTORY[:-1]), **options}
    return GeminiCompression(environment, **options), model


def compressed(messages: list[BaseMessage], *answers: str | Exception, **options: Any) -> list[BaseMessage]:
    middleware, _ = compression(*answers, **options)
    return folded(messages, middleware.before_model({"messages": messages}, None))


def split_of(messages: list[BaseMessage], share: float = 0.7) -> int:
    return find_split_point([item.content() for item in items_of(messages)], share)


# ---------------------------------------------------------------- G1


def test_gemini_G1_the_environment_context_is_the_first_user_message() -> None:
    middleware, _ = compression("")
    after = folded([user("u1")], middleware.before_agent({"messages": [user("u1")]}, None))
    assert [is_context(m) for m in after] == [True, False]
    assert middleware.before_agent({"messages": after}, None) is None


def test_gemini_G1_the_same_context_is_put_in_front_of_a_snapshot() -> None:
    middleware, _ = compression("a snapshot")
    before = folded(HISTORY, middleware.before_agent({"messages": HISTORY}, None))
    after = folded(before, middleware.before_model({"messages": before}, None))
    assert after[0] == before[0]
    assert is_context(after[0])
    assert SNAPSHOT_KEY in after[1].additional_kwargs


# ---------------------------------------------------------------- G2


def test_gemini_G2_half_of_the_window_is_what_triggers() -> None:
    used = count_tokens(HISTORY[:-1])
    assert compressed(HISTORY, "a snapshot", window=2 * used) != HISTORY
    assert compressed(HISTORY, "a snapshot", window=2 * used + 2) == HISTORY
    assert compressed(HISTORY, "a snapshot", window=4 * used, threshold=0.25) != HISTORY


def test_gemini_G2_a_forced_compression_needs_no_trigger_but_a_history() -> None:
    assert compressed(HISTORY, "a snapshot", window=1_000_000, forced=True) != HISTORY
    assert compressed([user("u1")], "a snapshot", forced=True) == [user("u1")]


# ---------------------------------------------------------------- G3


def unsaved(name: str, text: str) -> str:
    raise OSError("the disk is full")


def kept_outputs(save: Callable[[str, str], str], *texts: str) -> list[str]:
    messages: list[BaseMessage] = [result(f"c{number}", text) for number, text in enumerate(texts)]
    budget = count_tokens([ToolMessage(texts[-1], tool_call_id="c")])
    after = within_tool_budget(messages, budget=budget, kept=10, count=count_tokens, save=save)
    return [message.text for message in after]


def test_gemini_G3_the_newest_outputs_stay_and_older_ones_are_shortened_and_saved() -> None:
    saved: dict[str, str] = {}

    def save(name: str, text: str) -> str:
        saved[name] = text
        return name

    old, new = kept_outputs(save, "0123456789" * 10, "the newest output")
    assert new == "the newest output"
    assert list(saved.values()) == ["0123456789" * 10]
    [name] = saved
    assert name in old
    assert old.endswith("01 … 23456789")


def test_gemini_G3_what_cannot_be_saved_stays() -> None:
    texts = ["0123456789" * 10, "the newest output"]
    assert kept_outputs(unsaved, *texts) == texts


def test_gemini_G3_a_short_output_stays_beyond_the_budget() -> None:
    assert shortened("0123456789", 10, "a file") == "0123456789"


# ---------------------------------------------------------------- G4


def test_gemini_G4_the_cut_falls_on_the_first_prompt_with_the_share_before_it() -> None:
    contents = [item.content() for item in items_of(HISTORY)]
    before = sum(map(size_of, contents[:2]))
    assert before >= 0.7 * sum(map(size_of, contents))
    assert find_split_point(contents, 0.7) == 2
    assert find_split_point(contents, 0.99) == 4


def test_gemini_G4_a_result_is_no_place_to_cut() -> None:
    turn = [user("u1"), answer("a1", "c1", text=LONG), result("c1"), answer("a2")]
    assert split_of(turn) == len(turn)
    assert split_of([*turn, answer("a3", "c2")]) == 0


def test_gemini_G4_everything_may_go_only_behind_an_answer_without_calls() -> None:
    assert split_of([user("u1"), answer("a1")]) == 2
    assert split_of([user("u1"), answer("a1"), user("u2"), answer("a2", "c1", text=LONG)]) == 2
    assert split_of([user("u1"), answer("a1", "c1")]) == 0


def test_gemini_G4_results_of_one_answer_are_one_item() -> None:
    items = items_of([user("u1"), answer("a1", "c1", "c2"), result("c1"), result("c2"), answer("a2")])
    assert [len(item.messages) for item in items] == [1, 1, 2, 1]
    assert [part["functionResponse"]["id"] for part in items[2].content()["parts"]] == ["c1", "c2"]


# ---------------------------------------------------------------- G5


def test_gemini_G5_the_second_answer_replaces_the_first_unless_it_is_empty() -> None:
    assert compressed(HISTORY, "first", "better")[0].text == "better"
    assert compressed(HISTORY, "first", "  ")[0].text == "first"


def test_gemini_G5_the_summariser_sees_the_original_if_it_fits_its_window() -> None:
    output = "0123456789" * 10
    history = [user("u1"), answer("a1", "c1"), result("c1", output), answer("a2", text=LONG), user("u2")]
    limits = {"tool_budget": 1, "tool_output_kept": 10, "threshold": 0.01}
    for window, seen in ((10_000, True), (count_tokens(history[:-1]), False)):
        middleware, model = compression("a snapshot", window=window, **limits)
        middleware.before_model({"messages": history}, None)
        assert (output in [message.text for message in model.asked[0]]) is seen


def test_gemini_G5_an_earlier_snapshot_is_to_be_taken_over() -> None:
    middleware, model = compression("a snapshot", forced=True)
    after = folded(HISTORY, middleware.before_model({"messages": HISTORY}, None))
    middleware.before_model({"messages": [*after, answer("a3"), user("u4")]}, None)
    first, _, third, _ = model.asked
    assert "earlier" not in first[-1].text
    assert "earlier" in third[-1].text


def test_gemini_G5_the_asynchronous_form_asks_twice_too() -> None:
    middleware, model = compression("first", "better")
    update = asyncio.run(middleware.abefore_model({"messages": HISTORY}, None))
    assert folded(HISTORY, update)[0].text == "better"
    assert len(model.asked) == 2


# ---------------------------------------------------------------- G6


def test_gemini_G6_snapshot_and_acknowledgement_stand_before_what_is_kept() -> None:
    after = compressed(HISTORY, "a snapshot")
    assert [message.text for message in after[:2]] == ["a snapshot", ACKNOWLEDGEMENT]
    assert ids(after[2:]) == ["u2", "a2", "u3"]


def test_gemini_G6_an_empty_snapshot_changes_nothing() -> None:
    assert compressed(HISTORY, "", " \n") == HISTORY


def test_gemini_G6_a_failing_summariser_changes_nothing() -> None:
    with pytest.raises(OSError, match="no route"):
        compressed(HISTORY, OSError("no route"))


def test_gemini_G6_a_snapshot_that_makes_it_longer_changes_nothing_and_is_the_last_try() -> None:
    middleware, model = compression("snapshot " * 200)
    update = middleware.before_model({"messages": HISTORY}, None)
    assert update == {"compression_failed": True}
    assert middleware.before_model({"messages": HISTORY, **update}, None) is None
    assert len(model.asked) == 2


def test_gemini_G6_after_a_failure_tool_outputs_are_still_shortened() -> None:
    history = [user("u1"), answer("a1", "c1"), result("c1", "0123456789" * 100), answer("a2"), user("u2")]
    middleware, model = compression(
        "never", window=2 * count_tokens(history[:-1]), tool_budget=1, tool_output_kept=10
    )
    update = middleware.before_model({"messages": history, "compression_failed": True}, None)
    after = folded(history, update)
    assert ids(after) == ids(history)
    assert len(after[2].text) < len(history[2].text)
    assert not model.asked


def test_gemini_G6_a_forced_compression_tries_again() -> None:
    middleware, _ = compression("a snapshot", forced=True)
    update = middleware.before_model({"messages": HISTORY, "compression_failed": True}, None)
    assert update is not None
    assert update["compression_failed"] is False
