"""What LangGraph gives a hook by the names of its parameters, and what members make of tools they wrap."""

import re
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from sixfold.harness.candidate import Candidate
from sixfold.harness.faults import DEPENDENCIES, Fault
from sixfold.harness.history import Fold, HookRan, Requested
from sixfold.harness.play import play
from sixfold.harness.steps import Configure, ToolCall, ToolRound, UserMessage, UserTurn
from sixfold.models.langchain_pii import CANDIDATE as REDACTS

from ..helpers import agent_of, codes, graph_agent_of, scenario_of


class TakesMore(AgentMiddleware[Any, Any, Any]):
    def before_agent(self, state: Any, runtime: Any, config: RunnableConfig) -> Any:
        return {"messages": [HumanMessage(f"limit {config['recursion_limit'] > 0}", id="note")]}

    async def abefore_model(self, state: Any, runtime: Any, config: RunnableConfig, *, store: Any) -> Any:
        note = HumanMessage(f"async {config['recursion_limit'] > 0} {store}", id="anote")
        return {"messages": [note]}


class Shortens(AgentMiddleware[Any, Any, Any]):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        result = handler(request)
        return ToolMessage(result.content[:4], tool_call_id=result.tool_call_id, id=result.id)


class PassesOn(AgentMiddleware[Any, Any, Any]):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)


class GivesUp(AgentMiddleware[Any, Any, Any]):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except Exception:  # noqa: BLE001  this is what it is for
            return ToolMessage("no luck", tool_call_id=request.tool_call["id"])


class NamesAFile(AgentMiddleware[Any, Any, Any]):
    def before_agent(self, state: Any, runtime: Any) -> Any:
        from uuid import uuid4

        path = uuid4().hex
        return {
            "messages": [
                HumanMessage(f"see /files/{path}.md, that is {path}", additional_kwargs={"at": path})
            ]
        }


def of(cls: type[Any]) -> Candidate:
    return Candidate(name=cls.__name__, build=lambda _environment: [cls()])


CANDIDATES = {cls: of(cls) for cls in (TakesMore, Shortens, PassesOn, GivesUp, NamesAFile)}
TURN = UserTurn(rounds=(ToolRound(calls=(ToolCall(),) * 2),))


def records(cls: type[Any], *steps: Any) -> list[Any]:
    candidate, scenario = CANDIDATES[cls], scenario_of(*steps)
    found = play(agent_of(candidate), scenario).history.records
    assert play(graph_agent_of(candidate), scenario, lane="graph").history.records == found
    return found


def texts(found: list[Any]) -> list[str]:
    return [view.text for view in [record for record in found if isinstance(record, Fold)][-1].state]


def test_a_hook_gets_config_and_store() -> None:
    found = texts(records(TakesMore, Configure(run_async=True), UserTurn()))
    assert [text for text in found if "True" in text] == ["limit True", "async True None"]


@pytest.mark.parametrize(("cls", "changes"), [(Shortens, 2), (PassesOn, 0), (GivesUp, 0)])
def test_what_a_member_makes_of_a_tool_result_is_reported(cls: type[Any], changes: int) -> None:
    reported = [r for r in records(cls, TURN) if isinstance(r, HookRan) and r.by.endswith(".wrap_tool_call")]
    changed = [record for record in reported if record.outcome == "update"]
    assert changed == [HookRan(1, f"{cls.__name__}.wrap_tool_call", "update")] * changes


def test_tools_can_fail_a_candidate_that_only_wraps_them() -> None:
    assert agent_of(CANDIDATES[GivesUp]).places() == frozenset(DEPENDENCIES)
    failing = UserTurn(rounds=TURN.rounds, faults=(Fault("raise", "tool"),))
    found = records(GivesUp, failing)
    # Nobody calls the tool again, so the other call of the same answer fails as well.
    assert texts(found)[2:4] == ["no luck", "no luck"]


def test_random_names_in_texts_are_renumbered() -> None:
    found = records(NamesAFile, UserTurn())
    [note] = [text for text in texts(found) if text.startswith("see")]
    assert re.fullmatch(r"see /files/(new\d)\.md, that is \1", note)
    assert found == records(NamesAFile, UserTurn())
    shown = [view for record in found if isinstance(record, Requested) for view in record.messages]
    assert any("new" in view.extra for view in shown)


def test_redaction_is_waived_where_it_is_declared_and_only_where_the_message_stays() -> None:
    scenario = scenario_of(UserTurn(messages=(UserMessage(words=8),)))
    assert codes(REDACTS, scenario) == set()
    undeclared = Candidate(name="undeclared", build=REDACTS.build)
    assert codes(undeclared, scenario) == {"2.content-changed"}
