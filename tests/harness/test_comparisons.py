"""The comparisons: what they take for the same session, and that they hold in both lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage

from sixfold.harness.attach_point import attached, idle_turn, of_itself
from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import CONTROL, Candidate, Contract
from sixfold.harness.comparisons import COMPARED, compare
from sixfold.harness.differential import compare_lanes, try_out
from sixfold.harness.events import Options
from sixfold.harness.history import HookRan
from sixfold.harness.lanes import wiring
from sixfold.harness.play import play
from sixfold.harness.steps import (
    AdvanceClock,
    Configure,
    Continue,
    DeleteTurn,
    EditMessage,
    LoadTurn,
    Rewind,
    ToolRound,
    UserTurn,
)
from sixfold.models.resolve import resolve

from ..correct import CORRECT
from ..helpers import agent_of, codes, explore, explored, graph_agent_of, scenario_of
from ..planted import ALSO_PLANTED, PLANTED, Planted

BOTH_LANES: list[Planted] = [*(PLANTED[code] for code in sorted(COMPARED)), *ALSO_PLANTED.values()]
IN_DELTAS = [
    CONTROL,
    CORRECT["note-before-the-question"],
    CORRECT["fold-afterwards"],
    PLANTED["6.reducers"].flawed,
]


def candidate_of(*members: Callable[[], AgentMiddleware[Any, Any, Any]]) -> Candidate:
    return Candidate(name="mine", build=lambda _environment: [member() for member in members])


@pytest.mark.parametrize("item", BOTH_LANES, ids=lambda item: item.flawed.name)
def test_a_comparison_finds_its_flaw_in_the_real_graph_too(item: Planted) -> None:
    for candidate, expected in ((item.flawed, {item.code}), (item.correct, set())):
        found = compare(graph_agent_of(candidate), item.minimum, lane="graph")
        assert {violation.code for violation in found} == expected


@pytest.mark.parametrize("item", BOTH_LANES, ids=lambda item: item.flawed.name)
def test_a_campaign_reports_it_confirmed(item: Planted) -> None:
    result = Campaign([item.flawed], Options(max_histories=20)).run(explore)
    findings = [finding for finding in result.findings if finding.signature.code == item.code]
    assert [finding.confirmed for finding in findings] == [True]
    assert "control" in findings[0].held_by


# ---------------------------------------------------------------- reducers


@pytest.mark.parametrize("candidate", IN_DELTAS, ids=lambda candidate: candidate.name)
def test_lanes_agree_when_messages_are_kept_as_deltas(candidate: Candidate) -> None:
    agent, graph_agent = (
        agent_of(candidate).with_delta_channel(),
        graph_agent_of(candidate).with_delta_channel(),
    )
    assert agent is not None
    assert graph_agent is not None
    for scenario in explored(8, candidate=candidate):
        reducer = play(agent, scenario).history
        assert compare_lanes(reducer, play(graph_agent, scenario, lane="graph").history) is None, scenario


def test_a_langgraph_without_deltas_has_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    item = PLANTED["6.reducers"]
    monkeypatch.setattr("sixfold.harness.agent.DELTAS", None)
    assert codes(item.flawed, item.minimum, comparing=True) == set()


def test_this_langgraph_has_deltas() -> None:
    assert wiring.DELTAS is not None


# ---------------------------------------------------------------- reloading


class Marks(AgentMiddleware[Any, Any, Any]):
    """Marks its note with bytes."""

    kind: type = bytes

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        if any(message.id == "note" for message in state["messages"]):
            return None
        extra = {"mark": self.kind(b"late")}
        return {"messages": [HumanMessage("Be brief.", id="note", name="note", additional_kwargs=extra)]}


class MarksThatChange(Marks):
    """The same with what the checkpoint gives back as something else."""

    kind = bytearray


@pytest.mark.parametrize(("cls", "expected"), [(Marks, set()), (MarksThatChange, {"5.replay-differs"})])
def test_what_a_checkpoint_gives_back_is_compared(cls: type[Marks], expected: set[str]) -> None:
    assert codes(candidate_of(cls), scenario_of(UserTurn(), UserTurn()), comparing=True) == expected


def test_a_run_reports_what_a_checkpoint_gives_back_otherwise() -> None:
    result = Campaign([candidate_of(MarksThatChange)], Options(max_histories=20)).run(explore)
    assert [(f.signature.code, f.confirmed) for f in result.findings] == [("5.replay-differs", True)]


def test_an_id_given_by_the_next_fold_is_no_change_in_place() -> None:
    flawed = ALSO_PLANTED["5.replay-differs"].flawed
    scenario = scenario_of(UserTurn(), UserTurn(rounds=(ToolRound(),)))
    reducer = try_out(agent_of(flawed), scenario)
    assert reducer.violated() == {}
    assert (
        compare_lanes(reducer.history, play(graph_agent_of(flawed), scenario, lane="graph").history) is None
    )


# ---------------------------------------------------------------- attach points


def test_no_hook_of_a_stack_runs_in_an_idle_turn() -> None:
    candidate = CORRECT["summarise-and-decorate"]
    agent = agent_of(candidate)
    history = play(agent, scenario_of(idle_turn(len(agent.interposers)))).history
    ran = [record for record in history.records if isinstance(record, HookRan)]
    assert len({record.by for record in ran}) == len(agent.interposers)
    assert {record.outcome for record in ran} == {"skipped"}


def test_a_stack_that_attaches_by_date_is_not_blamed() -> None:
    stack = resolve("deerflow.stack")
    scenario = scenario_of(Configure(system_in_state=True), AdvanceClock(minutes=-1440), UserTurn())
    assert codes(stack, scenario, comparing=True) == set()


def test_steps_that_reach_behind_the_beginning_are_left_out() -> None:
    kept = (UserTurn(), EditMessage(turns_ago=1), LoadTurn(), Rewind(turns_ago=2), UserTurn(), Continue())
    steps = (
        Continue(),
        *kept[:2],
        DeleteTurn(turns_ago=2),
        kept[2],
        Rewind(turns_ago=3),
        kept[3],
        EditMessage(turns_ago=1),
        *kept[4:],
    )
    assert tuple(of_itself(steps)) == kept


def test_a_candidate_whose_hooks_are_never_skipped_has_no_idle_turns() -> None:
    item = PLANTED["3.head-dependent"]
    never = replace(item.flawed, name="never-skipped", contract=Contract(suffers=frozenset()))
    assert codes(never, item.minimum, comparing=True) == set()


def test_words_that_moved_to_another_id_make_room_for_what_is_attached() -> None:
    swap = PLANTED["6.fold-incoherent"].correct
    where = attached(play(agent_of(swap), scenario_of(UserTurn())).history, 0)
    assert where is not None
    assert where.places == (2,)


def test_a_result_that_is_cleared_under_its_id_is_nothing_attached() -> None:
    clears = CORRECT["clear-old-results"]
    scenario = scenario_of(UserTurn(rounds=(ToolRound(),)), UserTurn())
    assert attached(play(agent_of(clears), scenario).history, 0) is None
