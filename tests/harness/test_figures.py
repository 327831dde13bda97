"""Figures: worked out by hand on short histories."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite

from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.differential import try_out
from sixfold.harness.figures import Figures, figures
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import Continue, ToolRound, UserTurn
from sixfold.models.catalogue import CATALOGUE

from ..helpers import agent_of, explored, scenario_of

TWO_TURNS = scenario_of(UserTurn(), UserTurn())


class Rewrites(AgentMiddleware[Any, Any, Any]):
    """Writes the whole history anew in one of three ways."""

    def __init__(self, how: str) -> None:
        self.how = how

    def before_agent(self, state: Any, runtime: Any) -> Any:
        messages = list(state["messages"])
        if self.how == "overwrite":
            return {"messages": Overwrite(messages)}
        if self.how == "note":
            messages.append(HumanMessage("Be brief.", id=f"note{len(messages)}", name="note"))
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *messages]}


class Extends(AgentMiddleware[Any, Any, Any]):
    """Changes the system prompt in every request."""

    calls = 0

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.calls += 1
        return handler(request.override(system_prompt=f"request {self.calls}"))


def _measured(candidate: Candidate, scenario: Scenario) -> Figures:
    return figures(try_out(agent_of(candidate), scenario).reading)


def _candidate(name: str, cls: Any, *arguments: Any) -> Candidate:
    return Candidate(name=name, build=lambda _environment: [cls(*arguments)])


def test_control_reuses_all_but_what_is_new() -> None:
    one = _measured(CONTROL, scenario_of(UserTurn()))
    two = _measured(CONTROL, TWO_TURNS)
    assert (one.turns, one.requests, one.sent, one.prefix_reuse) == (1, 1, 0, None)
    assert (two.turns, two.requests, two.stored, two.growth_per_turn) == (2, 2, 4, 2)
    new = len("⟦a1⟧ say: lantern meadow") + len("⟦u2⟧ ask: meadow copper")
    assert two.sent - two.resent == new
    assert two.prefix_reuse == pytest.approx(two.resent / two.sent)


def test_changed_prompt_reuses_nothing() -> None:
    assert _measured(_candidate("changing-prompt", Extends), TWO_TURNS).prefix_reuse == 0


def test_round_of_tools_costs_a_request_more() -> None:
    plain = _measured(CONTROL, scenario_of(UserTurn()))
    tools = _measured(CONTROL, scenario_of(UserTurn(rounds=(ToolRound(),))))
    assert tools.requests == plain.requests + 1
    assert (tools.tokens_per_turn or 0) > 2 * (plain.tokens_per_turn or 0)


@pytest.mark.parametrize("how", ["remove_all", "overwrite"])
def test_rewrite_that_changes_nothing_is_counted(how: str) -> None:
    measured = _measured(_candidate(f"rewrites-{how}", Rewrites, how), TWO_TURNS)
    assert (measured.needless_rewrites, measured.rewrites_per_turn) == (1, 0.5)


def test_rewrite_with_a_reason_is_not_counted() -> None:
    assert _measured(_candidate("rewrites-note", Rewrites, "note"), TWO_TURNS).needless_rewrites == 0


def test_summariser_calls_and_grown_ids_are_counted() -> None:
    summarising = CATALOGUE["langchain.summarization"]()
    long = scenario_of(*[UserTurn(rounds=(ToolRound(),))] * 4)
    assert _measured(summarising, long).summaries > 0
    assert _measured(CONTROL, long).summaries == 0
    swapped = _measured(CATALOGUE["deerflow"](), TWO_TURNS)
    assert swapped.id_growth == len("__user")
    assert _measured(CONTROL, TWO_TURNS).id_growth == 0


def test_figures_add_up() -> None:
    several = [_measured(CONTROL, scenario) for scenario in explored(10)]
    total = sum(several, Figures())
    assert total.histories == len(several)
    assert total.sent == sum(each.sent for each in several)
    assert total.id_growth == max(each.id_growth for each in several)
    assert sum(reversed(several), Figures()) == total


def test_history_without_a_turn_has_no_rates() -> None:
    measured = _measured(CONTROL, scenario_of(Continue()))
    assert (measured.turns, measured.tokens_per_turn, measured.prefix_reuse) == (0, None, None)
