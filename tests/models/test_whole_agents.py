"""Whole agents: what a graph of somebody else does to its history is found, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sixfold.harness.agent import build_agent
from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.differential import is_deterministic, try_out
from sixfold.harness.errors import TargetError
from sixfold.harness.events import Options
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, Happened, Mutated, Requested, TurnEnded
from sixfold.harness.play import play
from sixfold.harness.steps import (
    Configure,
    Continue,
    OtherThread,
    Restart,
    Rewind,
    ToolCall,
    ToolRound,
    UserTurn,
)
from sixfold.harness.whole.model import WholeAgentModel
from sixfold.harness.whole.schemas import value_for
from sixfold.models.resolve import resolve
from sixfold.strategies.scenarios import explore

from ..helpers import SEED, agent_of, assert_never_violates, codes, explored, scenario_of
from . import whole

FILE = Path(whole.__file__)
TWO = ToolRound(calls=(ToolCall(), ToolCall()))
TALK = scenario_of(UserTurn(rounds=(TWO,)), UserTurn(), Restart(), UserTurn(rounds=(TWO, ToolRound())))


def target(name: str) -> Candidate:
    return resolve(f"{FILE}:{name}")


def agent(name: str) -> Any:
    return agent_of(_candidates.setdefault(name, target(name)))


_candidates: dict[str, Candidate] = {}


def records(name: str, *steps: Any) -> list[Any]:
    return play(agent(name), scenario_of(*steps) if steps else TALK).history.records


# -- what is found ---------------------------------------------------------------------------------


def test_a_middleware_shows_the_same_inside_an_agent_and_as_a_stack() -> None:
    inside, alone = agent("with_our_tool"), agent("stack")
    found: list[Counter[tuple[str, str]]] = []
    # Faults that strike a whole agent strike a stack alike; those of hooks are drawn for stacks only.
    scenarios: list[Any] = []
    explore(
        scenarios.append, seed=SEED, count=40, kinds=inside.candidate.contract.suffers, places=inside.places()
    )
    for each in (inside, alone):
        found.append(Counter(key for scenario in scenarios for key in try_out(each, scenario).violated()))
    assert found[0] == found[1]
    assert ("4.question-lost", "SummarizationMiddleware.before_model") in found[0]


def test_a_campaign_confirms_by_having_found_and_compares_no_lanes() -> None:
    campaign = Campaign([target("summarising")], Options(max_histories=20, batch=20, invariants=(4,)))
    result = campaign.run(explore)
    lost = [finding for finding in result.findings if finding.signature.code == "4.question-lost"]
    assert lost
    assert all(finding.confirmed for finding in result.findings)
    assert lost[0].history.lane == "graph"
    control, found = result.candidates
    assert control.remark == ""
    assert "a whole agent" in found.remark
    assert found.remark.endswith("its tool rounds call search")
    assert found.disagreement is None
    assert result.lanes_compared == len(campaign._search.tallies["control"].clean)


def test_a_node_that_cuts_inside_a_turn_is_found_and_named() -> None:
    trial = try_out(agent("cuts_inside_turns"), TALK)
    assert ("4.cut-inside-turn", "trim.node") in trial.violated()


TRIMS = Contract(drops_history=True)


def test_a_node_that_cuts_between_turns_is_clean() -> None:
    correct = Candidate(
        name="cuts between turns",
        build=lambda environment: [whole.cuts_between_turns(environment.model, environment.checkpointer)],
        contract=TRIMS,
    )
    assert_never_violates(correct, histories=100)
    cuts = [
        record
        for scenario in explored(30, candidate=correct)
        for record in play(agent_of(correct), scenario).history.records
        if isinstance(record, Fold) and record.by == "trim.node"
    ]
    assert cuts


def test_a_pre_model_hook_is_found_at_the_node_that_shows_less() -> None:
    found = try_out(agent("react"), TALK).violated()
    assert ("4.question-lost", "agent.node") in found
    assert ("4.orphan-result", "agent.node") in found


def test_a_message_changed_in_place_is_found() -> None:
    changed = [record for record in records("changing") if isinstance(record, Mutated)]
    assert changed[0].by == "Changes.before_model"
    assert codes(target("changing"), TALK) >= {"2.mutated-in-place"}


def test_a_node_that_fails_is_found_and_named() -> None:
    ended = [record for record in records("failing") if isinstance(record, TurnEnded)]
    assert [record.how for record in ended] == ["answered", "aborted", "aborted"]
    assert ended[1].by == "fragile.node"
    assert ended[1].error == "LookupError: the node broke"


# -- what is not held against an agent ---------------------------------------------------------------


def test_who_closes_a_gap_of_an_earlier_turn_says_nothing_late() -> None:
    fails = UserTurn(rounds=(ToolRound(),), faults=(Fault("raise", "tool"),))
    trial = try_out(agent("closing_gaps"), scenario_of(fails, UserTurn()))
    [ended, _] = [r.how for r in trial.history.records if isinstance(r, TurnEnded)]
    folds = [r for r in trial.history.records if isinstance(r, Fold)]
    assert ended == "aborted"
    assert "cancelled" in {view.text for view in folds[-1].state}
    assert not trial.violated()


@pytest.mark.parametrize(
    "name",
    [
        "idle",
        "structured",
        "structured_by_the_provider",
        "structured_at_the_end",
        "nested",
        "only_async",
        "of_the_environment",
    ],
)
def test_an_agent_that_leaves_its_history_alone_is_clean(name: str) -> None:
    assert_never_violates(target(name), histories=30)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["idle", "structured", "structured_at_the_end", "nested", "of_the_environment"]
)
def test_an_agent_that_leaves_its_history_alone_is_clean_for_long(name: str) -> None:
    assert_never_violates(target(name), histories=300, comparing=True)


# -- how it is played --------------------------------------------------------------------------------


def test_the_agents_own_tool_is_called_and_its_results_are_known() -> None:
    played = records("summarising", UserTurn(rounds=(TWO,)))
    results = [record for record in played if isinstance(record, Fold) and record.by == "tools"]
    told = [(view.says, view.text) for view in results[-1].state if view.role == "tool"]
    assert told == [("t1.1.0", "nothing is known of it"), ("t1.1.1", "nothing is known of it")]
    assert not [record for record in played if isinstance(record, Happened)]


def test_results_are_in_the_ledger_under_their_calls() -> None:
    ledger = play(agent("idle"), scenario_of(UserTurn(rounds=(TWO,)))).ledger
    assert {token: said.call for token, said in ledger.utterances.items() if token[0] == "t"} == {
        "t1.1.0": "c1.1.0",
        "t1.1.1": "c1.1.1",
    }
    assert ledger.utterances["t1.1.0"].text == "sunny in ⟦t1.1.0⟧"


def test_an_agent_without_a_tool_that_can_be_called_has_no_tool_rounds() -> None:
    played = records("two_nodes", UserTurn(rounds=(TWO,)))
    assert [record.what for record in played if isinstance(record, Happened)] == ["outside"]
    assert sum(isinstance(record, Requested) for record in played) == 1
    assert [record.how for record in played if isinstance(record, TurnEnded)] == ["answered"]
    assert "no tool rounds" in agent("two_nodes").remark


def test_one_model_answers_in_one_node_and_summarises_in_another() -> None:
    played = records("two_nodes", *(UserTurn() for _ in range(4)))
    summaries = [record for record in played if type(record).__name__ == "Summarised"]
    assert [record.by for record in summaries] == ["condense.node"]
    assert summaries[0].tokens[:3] == ("u1", "a1", "u2")
    assert [record.how for record in played if isinstance(record, TurnEnded)] == ["answered"] * 4


@pytest.mark.parametrize("name", ["summarising", "cuts_inside_turns", "react", "nested", "two_nodes"])
def test_two_plays_are_the_same(name: str) -> None:
    steps = (
        UserTurn(rounds=(TWO,), faults=(Fault("raise", "model", nth=1),)),
        Continue(),
        UserTurn(rounds=(ToolRound(),), stop="after_calls"),
        Continue(),
        OtherThread(rounds=(ToolRound(),)),
        Configure(run_async=True),
        UserTurn(rounds=(ToolRound(),)),
        Rewind(),
        UserTurn(faults=(Fault("crash", "model"),)),
        UserTurn(),
    )
    assert is_deterministic(agent(name), scenario_of(*steps))


def test_faults_of_dependencies_strike_and_those_of_hooks_do_not() -> None:
    faults = (Fault("skip", "before_model"), Fault("raise", "model"))
    played = records("summarising", UserTurn(faults=faults))
    assert [record.kind for record in played if type(record).__name__ == "FaultFired"] == ["raise"]
    assert agent("summarising").candidate.contract.suffers == {"raise", "timeout", "bad_summary", "crash"}
    assert agent("summarising").places().isdisjoint({"before_model", "wrap_model_call"})


def test_a_stop_ends_the_turn_where_it_says_and_a_continuation_goes_on() -> None:
    played = records("cuts_inside_turns", UserTurn(rounds=(TWO,), stop="after_calls"), Continue())
    assert [record.how for record in played if isinstance(record, TurnEnded)] == ["stopped", "answered"]


# -- what cannot be run ------------------------------------------------------------------------------

WRONG = {
    "def make(model, checkpointer): return builder": "not compiled",
    "def make(model, checkpointer): return 5": "returned an int, which is neither",
    "def make(model, checkpointer): pass": "returned nothing, which is neither",
    "def make(model, checkpointer): return [5]": "Return the compiled graph",
    "def make(environment): return 5": "or a list of them in the order of create_agent",
    "def make(model, checkpointer): return graph_of(MessagesState, sleeps).compile()": "of virtual time",
    "def make(model, checkpointer): raise RuntimeError('no key')": "RuntimeError: no key",
    "def make(model, checkpointer, city): return builder.compile()": "cannot supply the argument city",
    "async def make(model, checkpointer): return builder.compile()": "coroutine function",
    "def make(model, checkpointer): return builder.compile()": "did not call the model",
    "make = builder.compile()": "built already",
    "make = builder": "built already",
    "def make(): return builder.compile()": "takes 0 required arguments",
    "def make(model, checkpointer): return elsewhere(model).compile()": "is not in the agent's messages",
    "def make(model, checkpointer): return wordless.compile()": "no key messages",
    "def make(model, checkpointer): return forgetful.compile()": "no reducer",
}

HEAD = """
import time
from typing import TypedDict
from langgraph.graph import START, MessagesState, StateGraph

def graph_of(schema, node):
    builder = StateGraph(schema)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder

class Words(TypedDict):
    words: str

class Messages(TypedDict):
    messages: list

class More(MessagesState):
    answer: str

def sleeps(state):
    time.sleep(100_000)

builder = graph_of(MessagesState, lambda state: {"messages": [("ai", "of its own")]})
wordless = graph_of(Words, lambda state: {"words": ""})
forgetful = graph_of(Messages, lambda state: {"messages": []})

def elsewhere(model):
    return graph_of(More, lambda state: {"answer": model.invoke(state["messages"]).text})

"""


@pytest.mark.parametrize("source", WRONG)
def test_a_factory_that_cannot_be_run_is_told_why(tmp_path: Path, source: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(HEAD + source + "\n")
    with pytest.raises(TargetError, match=WRONG[source]) as told:
        build_agent(resolve(f"{path}:make"), direct=True)
    assert told.value.place == f"{path}:make"
    assert told.value.remedy


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 1),
        ({"type": "integer", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "minimum": 3, "maximum": 3}, 3),
        ({"type": "integer", "maximum": 0}, 0),
        ({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, 0),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "string", "maxLength": 3}, "tex"),
    ],
)
def test_values_keep_to_the_bounds_of_their_schema(schema: dict[str, Any], value: object) -> None:
    assert value_for(schema, "text") == value


def _search(query: str) -> str:
    """Search."""
    return query


def _reply(text: str) -> str:
    """Reply."""
    return text


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        ("_search", "_search"),
        ({"type": "function", "function": {"name": "_search"}}, "_search"),
        ({"type": "tool", "name": "_search"}, "_search"),
        ("any", "_reply"),
    ],
)
def test_a_choice_that_names_a_tool_forces_that_tool(choice: Any, forced: str) -> None:
    model = WholeAgentModel.create(max_input_tokens=100)
    assert model.bind_tools([_search, _reply], tool_choice=choice).forced.name == forced
