"""`fold`: the net effect of middleware, and what its assertions tell of it."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, ModelRequest, SummarizationMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from sixfold.harness import TargetError, fold
from sixfold.harness.folded import lineage
from sixfold.harness.loose import loose_environment
from sixfold.models.deerflow import DynamicContextMiddleware

HISTORY = [
    HumanMessage("make me a product intro video", id="m1"),
    AIMessage("", id="a1", tool_calls=[{"name": "look", "args": {}, "id": "c1"}]),
    ToolMessage("seen", id="t1", tool_call_id="c1"),
    AIMessage("done", id="a2"),
    HumanMessage("remove the subtitles", id="m2"),
]


class Writes(AgentMiddleware[Any, Any, Any]):
    def __init__(self, *messages: Any) -> None:
        self.messages = list(messages)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": self.messages}


def test_the_bug_of_the_article_and_its_fix() -> None:
    for first, words, kept in (
        ("first", "make me a product intro video", False),
        ("last", "remove the subtitles", True),
    ):
        folded = fold(DynamicContextMiddleware(loose_environment(), first_injection=first), HISTORY)  # type: ignore[arg-type]
        assert (folded.last_user, folded.order_kept, folded.no_orphans) == (words, kept, True)
        assert not folded.lost


def test_an_update_is_folded_by_the_channels_of_the_schema() -> None:
    update = {"messages": [HumanMessage("louder", id="m1"), HumanMessage("and shorter", id="m3")]}
    folded = fold(Writes(), HISTORY, update=update)
    assert [message.id for message in folded.messages] == ["m1", "a1", "t1", "a2", "m2", "m3"]
    assert folded.request is None
    assert folded.lost == ("make me a product intro video",)


def test_nothing_folded_is_what_was_there() -> None:
    folded = fold(Writes(), HISTORY, update={})
    assert folded.messages == folded.history
    assert folded.order_kept
    assert folded.last_user == "remove the subtitles"


def test_a_cut_inside_a_tool_round_leaves_an_orphan() -> None:
    kept = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *HISTORY[2:]]
    folded = fold(Writes(*kept), HISTORY)
    assert not folded.no_orphans
    assert "c1" in folded.problems[0]
    assert fold(Writes(), HISTORY).no_orphans


def test_orphans_that_were_there_are_not_blamed() -> None:
    assert fold(Writes(), [*HISTORY[:2], HISTORY[-1]]).no_orphans


def test_what_is_lost_and_what_a_summary_keeps() -> None:
    gone = [RemoveMessage(id="m1"), HumanMessage("Recap: make me a product intro video", id="s")]
    folded = fold(Writes(*gone), HISTORY)
    assert folded.lost == ()
    assert folded.last_user == "remove the subtitles"
    assert fold(Writes(RemoveMessage(id="m1")), HISTORY).lost == ("make me a product intro video",)


def test_a_decorated_question_is_still_the_users() -> None:
    folded = fold(Writes(HumanMessage("[12:00] remove the subtitles", id="m2")), HISTORY)
    assert folded.last_user == "remove the subtitles"


def test_a_reminder_in_the_users_role_is_none_of_his_words() -> None:
    folded = fold(Writes(HumanMessage("Today is Monday.", id="r")), HISTORY)
    assert folded.last_user == "remove the subtitles"
    assert folded.texts[-1] == "Today is Monday."


def test_a_copy_at_the_end_breaks_the_order() -> None:
    assert not fold(Writes(HumanMessage("make me a product intro video", id="m9")), HISTORY).order_kept


def test_words_said_twice_are_told_apart_by_their_ids() -> None:
    twice = [HumanMessage("go on", id="m1"), AIMessage("x", id="a1"), HumanMessage("go on", id="m2")]
    assert lineage(twice, twice) == (0, 1, 2)
    assert lineage(twice, twice[2:]) == (2,)
    assert lineage(twice, [HumanMessage("go on", id="n1"), HumanMessage("go on", id="n2")]) == (0, 2)


def test_request_and_state_are_told_apart() -> None:
    class Edits(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
            return handler(request.override(messages=request.messages[-1:]))

    folded = fold(Edits(), HISTORY)
    assert folded.texts == ("remove the subtitles",)
    assert len(folded.messages) == len(HISTORY)
    assert "seen" in folded.lost


def test_middleware_with_asynchronous_hooks_only() -> None:
    class Late(AgentMiddleware[Any, Any, Any]):
        async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"messages": [HumanMessage("hello", id="h")]}

    assert fold(Late(), HISTORY).texts[-1] == "hello"


def test_a_middleware_that_ends_the_run_shows_the_model_nothing() -> None:
    class Ends(AgentMiddleware[Any, Any, Any]):
        @hook_config(can_jump_to=["end"])
        def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"jump_to": "end"}

    folded = fold(Ends(), HISTORY)
    assert folded.request is None
    assert folded.last_user == "remove the subtitles"


def test_the_installed_summarization_keeps_the_question() -> None:
    mine = SummarizationMiddleware(loose_environment().model, trigger=("messages", 4), keep=("messages", 1))
    folded = fold(mine, HISTORY)
    assert folded.last_user == "remove the subtitles"
    assert folded.no_orphans
    assert len(folded.messages) == 2


def test_an_unknown_channel_is_refused() -> None:
    with pytest.raises(TargetError, match="'memory'"):
        fold(Writes(), HISTORY, update={"memory": 1})


def test_pictures_are_harmless_and_end_with_what_matters() -> None:
    hostile = [HumanMessage(f"words \x1b[31m {n}", id=f"m{n}") for n in range(40)]
    folded = fold(Writes(), [*hostile, HumanMessage("remove the subtitles", id="last")])
    assert "\x1b" not in repr(folded) + folded.picture
    assert len(repr(folded)) < 400
    assert repr(folded).endswith('[user id=last "remove the subtitles"])')
    assert folded.picture.count("\n") == 2
