"""The rules of strict providers, on requests written by hand as they are sent."""

from typing import Any

import pytest

from sixfold.harness.wire_rules import Answer, Rejection, anthropic_rejects, openai_rejects

USER = {"role": "user", "content": "look"}


def calling(*ids: str | None, **more: Any) -> dict[str, Any]:
    calls = [{"type": "function", "id": i, "function": {"name": "lookup", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(call: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": "found"}


OPENAI: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "calls and results": ([USER, calling("a", "b"), result("b"), result("a"), USER], []),
    "the same id in a later turn": ([calling("a"), result("a"), calling("a"), result("a")], []),
    "empty text": ([{"role": "user", "content": ""}, {"role": "assistant", "content": ""}], []),
    "no messages": ([], ["no-messages"]),
    "no result at the end": ([USER, calling("a")], ["unanswered-call"]),
    "one result of two": ([calling("a", "b"), result("a"), USER], ["unanswered-call"]),
    "a user message between": ([calling("a"), USER, result("a")], ["unanswered-call", "orphan-result"]),
    "a result without a call": ([USER, result("a")], ["orphan-result"]),
    "two results": ([calling("a"), result("a"), result("a")], ["duplicate-result"]),
    "one id twice": ([calling("a", "a"), result("a"), result("a")], ["duplicate-call"]),
    "a call without an id": ([calling(None), USER], ["unanswered-call", "call-without-id"]),
    "a call without a name": (
        [calling("a", tool_calls=[{"id": "a", "function": {"name": ""}}]), result("a")],
        ["call-without-name"],
    ),
    "an empty list of calls": ([calling(content="well")], ["empty-tool-calls"]),
    "null and no call": ([{"role": "assistant", "content": None}], ["null-content"]),
    "a name with a space": ([{**USER, "name": "my summary"}], ["bad-name"]),
}


@pytest.mark.parametrize("case", OPENAI)
def test_openai(case: str) -> None:
    messages, rules = OPENAI[case]
    assert [rejection.rule for rejection in openai_rejects({"messages": messages})] == rules


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call: str, name: str = "lookup") -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": {}}


def found(call: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": ""}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


ANTHROPIC: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "calls and results": (
        [USER, assistant(text("so"), use("a"), use("b")), user(found("b"), found("a"), text("go on"))],
        [],
    ),
    "the assistant begins, and empty": ([assistant(), USER, USER], []),
    "no messages": ([], ["no-messages"]),
    "no result at the end": ([USER, assistant(use("a"))], ["unanswered-call"]),
    "one result of two": ([assistant(use("a"), use("b")), user(found("a"))], ["unanswered-call"]),
    "results in two messages": (
        [assistant(use("a"), use("b")), user(found("a")), user(found("b"))],
        ["unanswered-call", "orphan-result"],
    ),
    "a result without a call": ([user(found("a"))], ["orphan-result"]),
    "two results": ([assistant(use("a")), user(found("a"), found("a"))], ["duplicate-result"]),
    "text before the result": ([assistant(use("a")), user(text("well"), found("a"))], ["late-result"]),
    "text between results": (
        [assistant(use("a"), use("b")), user(found("a"), text("and"), found("b"))],
        ["late-result"],
    ),
    "one id twice": ([assistant(use("a"), use("a")), user(found("a"), found("a"))], ["duplicate-call"]),
    "the same id in a later turn": (
        [assistant(use("a")), user(found("a")), assistant(use("a")), user(found("a"))],
        ["duplicate-call"],
    ),
    "a call without an id": ([assistant(use("")), user(found(""))], ["call-without-id"]),
    "a call without a name": ([assistant(use("a", "")), user(found("a"))], ["call-without-name"]),
    "a user without words": ([{"role": "user", "content": ""}], ["empty-content"]),
    "an empty text block": ([user(text(""), text("x"))], ["empty-content"]),
    "white space only": ([user(text(" \n"))], ["blank-content"]),
    "white space and words": ([user(text(" "), text("x"))], []),
}


@pytest.mark.parametrize("case", ANTHROPIC)
def test_anthropic(case: str) -> None:
    messages, rules = ANTHROPIC[case]
    assert [rejection.rule for rejection in anthropic_rejects({"messages": messages})] == rules


def test_an_answer_says_the_first_reason_and_how_many_more() -> None:
    reasons = (Rejection("orphan-result", "one"), Rejection("unanswered-call", "two"))
    assert str(Answer("OpenAI", reasons)) == "OpenAI rejects (one; 1 more)"
    assert str(Answer("OpenAI", reasons[:1])) == "OpenAI rejects (one)"
    assert str(Answer("OpenAI")) == "OpenAI accepts"
