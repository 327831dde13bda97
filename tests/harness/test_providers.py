"""Requests on the wire: what the providers' own serialisers send, against the built-in rules."""

import dataclasses
import importlib.util
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from rich.console import Console

from sixfold.harness import on_wire, providers
from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import CONTROL, Candidate, Contract
from sixfold.harness.differential import try_out
from sixfold.harness.events import Options, RunResult
from sixfold.harness.history import Requested
from sixfold.harness.invariants.tool_calls import tool_problems
from sixfold.harness.on_wire import WIRE_ONLY, provider_answers, rejected_on_wire
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import Arrangement, LoadTurn, ToolCall, ToolRound, UserMessage, UserTurn
from sixfold.harness.views import ViewBook
from sixfold.models.deerflow import DEERFLOW
from sixfold.reports.json_report import render
from sixfold.reports.terminal import print_result

from ..helpers import agent_of, explore, scenario_of
from ..planted import PLANTED

INSTALLED = all(importlib.util.find_spec(provider.package) for provider in providers.PROVIDERS)
needs_serialisers = pytest.mark.skipif(not INSTALLED, reason="the extra `providers` is not installed")

TOOL_CODES = ("4.orphan-result", "4.unanswered-call", "4.duplicate-result")


@pytest.fixture
def serialisers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_wire, "installed", providers.installed)


def on_the_wire(*messages: BaseMessage) -> dict[str, list[str]]:
    answers = providers.answers_of(messages)
    return {answer.provider: [rejection.rule for rejection in answer.rejections] for answer in answers}


def built_in(*messages: BaseMessage) -> list[str]:
    return [code for code, _, _ in tool_problems(ViewBook().views(messages))]


def request_of(scenario: Scenario) -> list[BaseMessage]:
    seen: list[list[BaseMessage]] = []
    play(agent_of(CONTROL), scenario, on_request=lambda _, messages: seen.append(list(messages)))
    return seen[-1]


class Edits(AgentMiddleware[Any, Any, Any]):
    """Edits each request with one function, as its flaw."""

    def __init__(self, edit: Callable[[Sequence[BaseMessage]], list[BaseMessage]]) -> None:
        self.edit = edit

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        return handler(request.override(messages=self.edit(request.messages)))


def editing(name: str, edit: Callable[[Sequence[BaseMessage]], list[BaseMessage]]) -> Candidate:
    return Candidate(name=name, build=lambda _: [Edits(edit)], contract=Contract(edits_requests=True))


def blank_old_words(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Blank what the user said in earlier turns."""
    last = max(i for i, m in enumerate(messages) if isinstance(m, HumanMessage))
    return [
        HumanMessage("", id=message.id) if isinstance(message, HumanMessage) and i < last else message
        for i, message in enumerate(messages)
    ]


BLANK = editing("blank-old-questions", blank_old_words)


# ---------------------------------------------------------------- what needs no serialiser


def test_observer_sees_the_messages_of_every_request_record() -> None:
    seen: list[tuple[int, list[str | None]]] = []
    story = scenario_of(UserTurn(rounds=(ToolRound(),)), UserTurn())
    player = play(
        agent_of(CONTROL),
        story,
        on_request=lambda record, messages: seen.append((record, [m.id for m in messages[1:]])),
    )
    expected = [
        (at, [view.id for view in record.messages])
        for at, record in enumerate(player.history.records)
        if isinstance(record, Requested)
    ]
    assert seen == expected
    assert len(seen) == 3


def test_without_serialisers_nothing_is_said() -> None:
    planted = PLANTED["4.orphan-result"]
    assert provider_answers(agent_of(planted.flawed), planted.minimum, "4.orphan-result", 0) == ()
    assert rejected_on_wire(agent_of(BLANK), scenario_of(UserTurn(), UserTurn()), play) is None


def test_calls_that_only_the_raw_message_names_are_calls() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    asking = AIMessage("", id="a", additional_kwargs={"tool_calls": [call]})
    stripped = asking.model_copy(update={"tool_calls": []})
    assert built_in(HumanMessage("look"), stripped, HumanMessage("and?")) == ["4.unanswered-call"]
    assert built_in(HumanMessage("look"), stripped, ToolMessage("x", tool_call_id="c1")) == []


# ---------------------------------------------------------------- built-in rules against the wire


@needs_serialisers
@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize("arrangement", get_args(Arrangement))
def test_built_in_rules_and_providers_agree_on_every_arrangement(
    arrangement: Arrangement, calls: int
) -> None:
    messages = request_of(scenario_of(LoadTurn(calls=calls, arrangement=arrangement), UserTurn()))
    rejected = bool(built_in(*messages))
    assert {name: bool(rules) for name, rules in on_the_wire(*messages).items()} == {
        "OpenAI": rejected,
        "Anthropic": rejected,
    }


@needs_serialisers
@pytest.mark.usefixtures("serialisers")
@pytest.mark.parametrize("code", TOOL_CODES)
def test_both_providers_reject_what_a_planted_flaw_sends(code: str) -> None:
    planted = PLANTED[code]
    agent = agent_of(planted.flawed)
    record = next(
        v.violation.record for (c, _), v in try_out(agent, planted.minimum).violated().items() if c == code
    )
    answers = provider_answers(agent, planted.minimum, code, record)
    assert [answer.provider for answer in answers] == ["OpenAI", "Anthropic"]
    assert all(answer.rejections for answer in answers)


@needs_serialisers
@pytest.mark.usefixtures("serialisers")
@pytest.mark.parametrize("code", TOOL_CODES)
def test_the_siblings_of_planted_flaws_send_nothing_that_is_rejected(code: str) -> None:
    assert rejected_on_wire(agent_of(PLANTED[code].correct), PLANTED[code].minimum, play) is None


ASKED = AIMessage("", id="a", tool_calls=[{"name": "lookup", "args": {}, "id": "c1"}])
ANSWER = ToolMessage("found", tool_call_id="c1")
USE = {"type": "tool_use", "id": "c2", "name": "lookup", "input": {}}

#: What the built-in rules and the providers see differently: messages, built-in codes, rules on the wire.
DIFFERENT: dict[str, tuple[list[BaseMessage], list[str], dict[str, list[str]]]] = {
    "a call that stands in a content block only": (
        [HumanMessage("look"), AIMessage([USE]), HumanMessage("and?")],
        [],
        {"OpenAI": [], "Anthropic": ["unanswered-call"]},
    ),
    "one id twice in a message": (
        [
            HumanMessage("look"),
            AIMessage("", tool_calls=[ASKED.tool_calls[0], ASKED.tool_calls[0]]),
            ANSWER,
        ],
        [],
        {"OpenAI": ["unanswered-call", "duplicate-call"], "Anthropic": ["duplicate-call", "unanswered-call"]},
    ),
    "empty words of the user": (
        [HumanMessage(""), AIMessage("well"), HumanMessage("and?")],
        [],
        {"OpenAI": [], "Anthropic": ["empty-content"]},
    ),
    "a system message between call and result": (
        [HumanMessage("look"), ASKED, SystemMessage("be brief"), ANSWER],
        ["4.unanswered-call", "4.orphan-result"],
        {"OpenAI": ["unanswered-call", "orphan-result"], "Anthropic": []},
    ),
    "an empty answer between call and result": (
        [HumanMessage("look"), ASKED, AIMessage(""), ANSWER],
        ["4.unanswered-call", "4.orphan-result"],
        {"OpenAI": ["unanswered-call", "orphan-result"], "Anthropic": []},
    ),
    "a system message that does not lead": (
        [SystemMessage("be careful"), HumanMessage("look"), AIMessage("well"), SystemMessage("be brief")],
        [],
        {"OpenAI": [], "Anthropic": ["not-serialisable"]},
    ),
    "a name with a space": (
        [HumanMessage("so far", name="my summary"), HumanMessage("look")],
        [],
        {"OpenAI": ["bad-name"], "Anthropic": []},
    ),
}


@needs_serialisers
@pytest.mark.parametrize("case", DIFFERENT)
def test_what_only_one_side_sees(case: str) -> None:
    messages, codes, rules = DIFFERENT[case]
    assert (built_in(*messages), on_the_wire(*messages)) == (codes, rules)


# ---------------------------------------------------------------- histories and findings


@needs_serialisers
@pytest.mark.usefixtures("serialisers")
def test_a_candidate_is_not_blamed_for_what_control_sends_too() -> None:
    again = ToolRound(calls=(ToolCall(repeated_id=True),))
    empty = UserTurn(messages=(UserMessage(shape="empty"),))
    untouched = editing("untouched", list)
    for story in (scenario_of(UserTurn(rounds=(again,)), UserTurn(rounds=(again,))), scenario_of(empty)):
        assert any(on_the_wire(*request_of(story)).values())
        assert rejected_on_wire(agent_of(untouched), story, play) is None
    assert rejected_on_wire(agent_of(BLANK), scenario_of(empty, UserTurn()), play) is None


@needs_serialisers
@pytest.mark.usefixtures("serialisers")
def test_a_request_without_messages_is_rejected_though_the_next_one_goes_on_from_it() -> None:
    def only_the_summary(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        rest = list(messages[1:]) if len(messages) > 2 else []
        return [SystemMessage("so far", id="summary"), *rest]

    wrong = rejected_on_wire(
        agent_of(editing("empty", only_the_summary)), scenario_of(UserTurn(), UserTurn()), play
    )
    assert wrong is not None
    assert "request 1 of turn 1: Anthropic rejects (there are no messages)" in wrong.detail


@needs_serialisers
@pytest.mark.usefixtures("serialisers")
def test_misplaced_system_messages_are_waived_where_they_are_gathered_later() -> None:
    story = scenario_of(UserTurn(messages=(UserMessage(), UserMessage())))
    rulings = {
        j.ruling
        for j in try_out(agent_of(DEERFLOW), story, comparing=True).judged
        if j.violation.code == WIRE_ONLY
    }
    assert rulings == {"waived"}
    bare = dataclasses.replace(
        DEERFLOW, contract=dataclasses.replace(DEERFLOW.contract, system_anywhere=False)
    )
    assert (WIRE_ONLY, "wire") in try_out(agent_of(bare), story, comparing=True).violated()


@pytest.fixture(scope="module")
def run() -> RunResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_wire, "installed", providers.installed)
        candidates = [BLANK, PLANTED["4.orphan-result"].flawed]
        return Campaign(candidates, Options(invariants=(4,), max_histories=20)).run(explore)


@needs_serialisers
def test_what_only_the_wire_shows_is_found_shrunk_and_confirmed(run: RunResult) -> None:
    [finding] = [f for f in run.findings if f.signature.code == WIRE_ONLY]
    assert finding.signature.candidate == BLANK.name
    assert finding.scenario == scenario_of(UserTurn(), UserTurn())
    assert finding.confirmed
    assert finding.held_by[0] == "control"
    assert list(map(str, finding.providers)) == [
        "OpenAI accepts",
        "Anthropic rejects (messages.0 of the user has no content)",
    ]


@needs_serialisers
def test_reports_say_what_providers_make_of_the_request(run: RunResult) -> None:
    told = [finding for finding in run.findings if finding.signature.code in TOOL_CODES]
    assert told
    assert all(finding.providers for finding in told)
    assert all(answer.rejections for finding in told for answer in finding.providers)
    entries = {entry["id"]: entry["providers"] for entry in json.loads(render(run))["findings"]}
    for finding in run.findings:
        assert [entry["name"] for entry in entries[finding.id]] == [a.provider for a in finding.providers]
        assert [bool(entry["rejects"]) for entry in entries[finding.id]] == [
            bool(a.rejections) for a in finding.providers
        ]
    console = Console(file=io.StringIO(), width=200)
    print_result(console, run, replay="sixfold replay x")
    assert isinstance(console.file, io.StringIO)
    assert "providers: OpenAI accepts, Anthropic rejects (messages.0 of the user has no content)" in (
        console.file.getvalue()
    )


@needs_serialisers
@pytest.mark.usefixtures("serialisers")
def test_control_is_not_spared_what_is_outside_for_a_candidate() -> None:
    # Behind the loaded turn, which only control would play, the empty message is joined with a tool's result.
    story = scenario_of(
        UserTurn(),
        LoadTurn(calls=1, arrangement="results_last"),
        UserTurn(messages=(UserMessage(shape="empty"),)),
    )
    untouched = editing("untouched", list)
    outside = replace(untouched.contract, outside=frozenset({"load_turn"}))
    assert rejected_on_wire(agent_of(untouched), story, play) is None
    assert rejected_on_wire(agent_of(replace(untouched, contract=outside)), story, play) is None
    assert rejected_on_wire(agent_of(DEERFLOW), story, play) is None
