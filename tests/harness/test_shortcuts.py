"""What is left out where it has no effect: the result is the same as with it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from sixfold.harness.agent import Agent, build_agent
from sixfold.harness.candidate import CONTROL, Candidate
from sixfold.harness.history import Fold, History, Requested
from sixfold.harness.invariants import registry
from sixfold.harness.invariants.reading import Reading
from sixfold.harness.invariants.tool_calls import CallScan, in_order
from sixfold.harness.lanes.wiring import Wiring
from sixfold.harness.ledger import Ledger
from sixfold.harness.play import Player, play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import ToolCall, ToolRound, UserTurn
from sixfold.harness.views import ViewBook
from sixfold.models.catalogue import CATALOGUE

from ..helpers import explored
from ..planted import PLANTED

FEW = 20
UNWRAPPED = [CONTROL, CATALOGUE["deerflow"]()]
UNPARSABLE = Scenario(
    (UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall(kind="invalid"))), ToolRound())), UserTurn())
)


def through_the_node(agent: Agent) -> Agent:
    """Return the agent with LangChain's own model node always called."""
    return replace(agent, wiring=Wiring(agent.graph))


@pytest.mark.parametrize("candidate", UNWRAPPED, ids=lambda candidate: candidate.name)
def test_a_model_that_nothing_wraps_is_called_as_its_node_would(candidate: Candidate) -> None:
    agent = build_agent(candidate, direct=True)
    assert agent.wiring.plain_model is not None
    slow = through_the_node(agent)
    for scenario in (UNPARSABLE, *explored(FEW, candidate=candidate)):
        assert play(agent, scenario).history.records == play(slow, scenario).history.records, scenario


def test_calls_that_cannot_be_parsed_go_through_the_node() -> None:
    agent = build_agent(CONTROL, direct=True)
    plain = agent.wiring.plain_model
    assert plain is not None
    player = play(agent, UNPARSABLE)
    last = [record for record in player.history.records if isinstance(record, Requested)][-1]
    messages = [player._session.book.message(view) for view in last.messages if view.id]
    agent.attach(player._session)
    assert plain.writes(messages, player._session) is None
    assert plain.writes(messages[:1], player._session) is not None


def test_a_wrapped_model_is_called_through_its_node() -> None:
    assert build_agent(CATALOGUE["langchain.context_editing"](), direct=True).wiring.plain_model is None


def players() -> Iterator[tuple[Candidate, Player]]:
    for item in PLANTED.values():
        agent = build_agent(item.flawed, direct=True)
        for scenario in explored(FEW, candidate=item.flawed):
            yield item.flawed, play(agent, scenario)


def test_checks_that_are_not_asked_would_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = 0
    for candidate, player in players():
        reading = Reading(player.ledger, player.history)
        for since in (0, len(player.history.records) // 2):
            found = registry.judge(reading, candidate.contract, since=since)
            with monkeypatch.context() as patch:
                patch.setattr(registry, "worth_asking", lambda _evidence: registry.CHECKS)
                assert registry.judge(reading, candidate.contract, since=since) == found
            asked = registry.worth_asking(reading.evidence_since(since))
            skipped += len(registry.CHECKS) - len(asked)
    assert skipped


def test_a_request_that_goes_on_from_another_is_read_on() -> None:
    read_on = 0
    for _, player in players():
        reading = Reading(player.ledger, player.history)
        rejected = {id(sight): problems for sight, problems in reading.rejected_since(0)}
        for sight in reading.sights:
            messages, previous = sight.request.messages, sight.previous
            assert rejected.get(id(sight), []) == CallScan().read(messages).problems(), messages
            read_on += previous is not None and id(previous) in rejected and sight.extends
    assert read_on


def test_a_result_that_one_request_had_added_answers_no_call_in_the_next() -> None:
    calls: list[Any] = [{"name": "lookup", "args": {}, "id": c, "type": "tool_call"} for c in ("c1", "c2")]
    said = [HumanMessage("?", id="u1"), AIMessage("!", id="a1", tool_calls=calls)]
    said.append(ToolMessage("one", tool_call_id="c1", id="t1"))
    book = ViewBook()
    state, next_question = book.views(said), book.views([HumanMessage("??", id="u2")])
    patched = (*state, *book.views([ToolMessage("made up", tool_call_id="c2", id="t2")]))
    later = (*state, *next_question)
    history = History(
        "patches once",
        "reducer",
        [
            Fold(1, "tools", state, state),
            Requested(1, 1, "", patched, "Patches.wrap_model_call"),
            Fold(2, "user", next_question, later),
            Requested(2, 1, "", later, ""),
        ],
    )
    [(sight, problems)] = Reading(Ledger(), history).rejected_since(0)
    assert sight.request.messages == later
    assert problems == CallScan().read(later).problems()


@pytest.mark.parametrize("metadata", [{1: "mixed", "b": 2}, {"tool_calls": 3}, {"tool_calls": {"id": "c"}}])
def test_metadata_that_no_provider_sent_makes_no_calls(metadata: dict[Any, Any]) -> None:
    views = ViewBook().views([AIMessage("!", id="a1", additional_kwargs=metadata)])
    assert in_order(views)
    assert CallScan().read(views).problems() == []
