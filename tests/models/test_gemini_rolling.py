"""Gemini CLI's rules of 2026, one test a rule, folded through the real reducer."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from sixfold.harness.environment import count_tokens
from sixfold.models.gemini_nodes import (
    LOST_RESULT,
    SUMMARY_KEY,
    aged_out,
    consumed,
    derive_stable_id,
    hardened,
    nodes_of,
    summary_node,
    transcript,
)
from sixfold.models.gemini_rolling import RollingSummary

from .summariser import answer, environment_with, folded, ids, result, user

HISTORY: list[BaseMessage] = [
    user("u1"),
    answer("a1", "c1"),
    result("c1"),
    answer("a2"),
    user("u2"),
    answer("a3"),
    user("u3"),
]
NODES = nodes_of(HISTORY, {})


def rolling(*answers: str | Exception, **options: Any) -> tuple[RollingSummary, Any]:
    environment, model = environment_with(*answers)
    return RollingSummary(environment, **{"retained": 0, **options}), model


def rolled(messages: list[BaseMessage], *answers: str | Exception, **options: Any) -> list[BaseMessage]:
    middleware, _ = rolling(*answers, **options)
    return folded(messages, middleware.before_model({"messages": messages}, None))


# ---------------------------------------------------------------- R1


def test_gemini_rolling_R1_messages_are_typed_nodes_with_ids() -> None:
    summary = summary_node("what was said", NODES[:2]).message
    nodes = nodes_of([summary, *HISTORY[:4]], {})
    assert [node.type for node in nodes] == [
        "ROLLING_SUMMARY",
        "USER_PROMPT",
        "TOOL_EXECUTION",
        "TOOL_EXECUTION",
        "AGENT_THOUGHT",
    ]
    assert [node.id for node in nodes] == ids([summary, *HISTORY[:4]])


def test_gemini_rolling_R1_the_first_prompt_is_never_folded() -> None:
    assert rolled(HISTORY, "what was said")[0] is HISTORY[0]
    assert consumed(NODES, "max", 0, count_tokens) == NODES[1:]
    assert consumed(NODES[1:], "max", 0, count_tokens) == NODES[1:]


# ---------------------------------------------------------------- R2


def test_gemini_rolling_R2_incremental_folds_the_two_oldest() -> None:
    assert consumed(NODES, "incremental", 0, count_tokens) == NODES[1:3]


def test_gemini_rolling_R2_freeNTokens_folds_until_so_many_are_free() -> None:
    three = count_tokens([node.message for node in NODES[1:4]])
    assert consumed(NODES, "freeNTokens", three, count_tokens) == NODES[1:4]
    assert consumed(NODES, "freeNTokens", three + 1, count_tokens) == NODES[1:5]


def test_gemini_rolling_R2_max_folds_all_that_has_aged_out() -> None:
    retained = count_tokens(HISTORY[4:]) - 1
    targets = aged_out(NODES, retained, count_tokens)
    assert targets == NODES[:4]
    assert ids(rolled(HISTORY, "what was said", retained=retained))[2:] == ["u2", "a3", "u3"]


# ---------------------------------------------------------------- R3


@pytest.mark.parametrize("strategy", ["incremental", "freeNTokens", "max"])
def test_gemini_rolling_R3_fewer_than_two_nodes_are_left_alone(strategy: Any) -> None:
    assert consumed(NODES[:2], strategy, 1_000, count_tokens) == []
    assert consumed([], strategy, 1_000, count_tokens) == []


# ---------------------------------------------------------------- R4


def test_gemini_rolling_R4_the_summary_stands_where_the_first_folded_node_stood() -> None:
    after = rolled(HISTORY, "what was said", strategy="incremental")
    assert ids(after) == ["u1", after[1].id, "a2", "u2", "a3", "u3"]
    assert isinstance(after[1], HumanMessage)
    assert after[1].additional_kwargs[SUMMARY_KEY] == ["a1", "result of c1"]


def test_gemini_rolling_R4_the_id_depends_on_the_folded_ids_alone() -> None:
    one, other = (rolled(HISTORY, text, strategy="incremental")[1] for text in ("short", "longer"))
    assert one.id == other.id == derive_stable_id(["result of c1", "a1"])
    assert one.id != derive_stable_id(["a1", "a2"])


def test_gemini_rolling_R4_the_time_is_that_of_the_last_folded_node() -> None:
    middleware, _ = rolling("what was said", strategy="incremental")
    clock = middleware.environment.clock
    seen = middleware.times({"messages": HISTORY[:2]})
    clock.advance(minutes=5)
    later = clock.now().timestamp()
    seen = middleware.times({"messages": HISTORY[:3], "seen_at": seen})
    clock.advance(minutes=5)
    update = middleware.before_model({"messages": HISTORY, "seen_at": seen}, None)
    assert folded(HISTORY, update)[1].additional_kwargs["timestamp"] == later


# ---------------------------------------------------------------- R5


def test_gemini_rolling_R5_a_failing_summariser_leaves_the_nodes() -> None:
    assert rolled(HISTORY, OSError("no route")) == HISTORY


def test_gemini_rolling_R5_an_empty_summary_is_taken_as_it_comes() -> None:
    assert [message.text for message in rolled(HISTORY, "")] == [HISTORY[0].text, "", HISTORY[-1].text]


def test_gemini_rolling_R5_the_asynchronous_form_does_the_same() -> None:
    middleware, _ = rolling(OSError("no route"))
    update = asyncio.run(middleware.abefore_model({"messages": HISTORY}, None))
    assert folded(HISTORY, update) == HISTORY


def test_gemini_rolling_an_earlier_summary_is_folded_with_its_text() -> None:
    summary = summary_node("said long ago", NODES[1:3])
    assert "said long ago" in transcript([summary, NODES[3]])


# ---------------------------------------------------------------- what is sent


def test_gemini_rolling_a_request_has_a_result_for_each_call_and_a_call_for_each_result() -> None:
    lost = hardened([user("u1"), answer("a1", "c1", "c2"), result("c2"), user("u2")])
    assert [m.text for m in lost if isinstance(m, ToolMessage)] == [LOST_RESULT, "a result"]
    orphan = hardened([user("u1"), answer("a1"), result("c1"), user("u2")])
    assert isinstance(orphan[1], AIMessage)
    assert [call["id"] for call in orphan[1].tool_calls] == ["c1"]


def test_gemini_rolling_a_request_in_order_is_sent_as_it_is() -> None:
    assert hardened(HISTORY) == HISTORY


def test_gemini_rolling_a_request_begins_and_ends_with_the_user() -> None:
    sent = hardened([answer("a1"), user("u1"), answer("a2")])
    assert [message.type for message in sent] == ["human", "ai", "human", "ai", "human"]
