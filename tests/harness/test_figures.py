"""Figures: what is measured beside the verdicts, on histories whose figures can be counted by hand."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.differential import try_out
from sixfold.harness.figures import Figures, figures
from sixfold.harness.history import Fold
from sixfold.harness.steps import LoadTurn, ToolRound, UserTurn
from sixfold.models.catalogue import CATALOGUE

from ..helpers import agent_of, scenario_of


class WritesItAllAgain(AgentMiddleware[Any, Any, Any]):
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *state["messages"]]}


AGAIN = Candidate(name="writes it all again", build=lambda _environment: [WritesItAllAgain()])
STORY = scenario_of(UserTurn(rounds=(ToolRound(),)), UserTurn())


def of(candidate: Candidate) -> Figures:
    return figures(try_out(agent_of(candidate), STORY).reading)


def test_a_history_that_only_grows_reuses_all_of_each_previous_request() -> None:
    measured = of(CONTROL)
    assert (measured.turns, measured.requests, measured.stored) == (2, 3, 6)
    reading = try_out(agent_of(CONTROL), STORY).reading
    sizes = [
        len(s.request.system) + sum(len(view.text) for view in s.request.messages) for s in reading.sights
    ]
    assert measured.sent == sizes[1] + sizes[2]
    assert measured.resent == sizes[0] + sizes[1]
    assert measured.growth_per_turn == 3


def test_an_update_that_writes_everything_again_and_changes_nothing_is_counted() -> None:
    assert of(CONTROL).needless_rewrites == 0
    assert of(AGAIN).needless_rewrites == 1


def test_an_id_that_grew_is_measured() -> None:
    assert of(CONTROL).id_growth == 0
    assert of(CATALOGUE["deerflow"]()).id_growth == len("__user")


def test_figures_of_two_histories_add_up() -> None:
    one = of(CONTROL)
    both = one + one
    assert both.histories == 2
    assert both.tokens == 2 * one.tokens
    assert both.tokens_per_turn == one.tokens_per_turn
    assert Figures().prefix_reuse is None


def test_ids_that_a_client_made_longer_are_not_the_candidates() -> None:
    twice = scenario_of(LoadTurn(calls=1, arrangement="result_twice"), UserTurn())
    trial = try_out(agent_of(CONTROL), twice)
    last = [record for record in trial.history.records if isinstance(record, Fold)][-1]
    assert "t1.1.0.twice" in [view.id for view in last.state]
    assert figures(trial.reading).id_growth == 0
