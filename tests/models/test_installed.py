"""Adapters: each does what its file says, in both lanes alike; packages that lack are named."""

import re
from collections import Counter
from importlib.metadata import version

import pytest

from sixfold.harness.candidate import Candidate
from sixfold.harness.errors import TargetError
from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, HookRan, Requested, TurnEnded
from sixfold.harness.invariants.reading import Reading
from sixfold.harness.play import Player, play
from sixfold.harness.reachability import observe
from sixfold.harness.steps import ChangeState, Continue, ToolCall, ToolRound, UserMessage, UserTurn
from sixfold.models.catalogue import CATALOGUE, MISSING, sources
from sixfold.models.installed import LANGCHAIN, REAL, Adapter
from sixfold.models.resolve import resolve

from ..helpers import agent_of, codes, graph_agent_of, scenario_of

#: Rounds enough for each limit, texts long enough for each threshold.
LONG = UserTurn(
    messages=(UserMessage(words=30),),
    rounds=(ToolRound(calls=(ToolCall(words=30),) * 3), ToolRound()),
)

#: One of these makes each adapter do what it is for.
STORIES: tuple[tuple[UserTurn | Continue, ...], ...] = (
    (LONG, Continue(), UserTurn()),
    (UserTurn(rounds=(ToolRound(),), stop="after_calls"), UserTurn()),
    (UserTurn(faults=(Fault("raise", "model"),)),),
    (UserTurn(rounds=(ToolRound(),), faults=(Fault("raise", "tool"),)),),
)


def candidate_of(adapter: Adapter) -> Candidate:
    if not adapter.installed:
        pytest.skip(f"{adapter.package} is not installed; the extra `{adapter.extra}` brings it")
    try:
        return adapter()
    except TargetError as error:
        if adapter.extra:
            raise
        pytest.skip(str(error))


def played(name: str, *steps: UserTurn | Continue | ChangeState, lane: str = "reducer") -> Player:
    candidate = candidate_of(next(adapter for adapter in (*LANGCHAIN, *REAL) if adapter.name == name))
    agent = agent_of(candidate) if lane == "reducer" else graph_agent_of(candidate)
    return play(agent, scenario_of(*steps), lane=lane)  # type: ignore[arg-type]


def observed(candidate: Candidate, *steps: UserTurn | Continue) -> Counter[str]:
    player = play(agent_of(candidate), scenario_of(*steps))
    return observe(Reading(player.ledger, player.history))


def state_of(player: Player) -> list[tuple[str, str]]:
    state = [record for record in player.history.records if isinstance(record, Fold)][-1].state
    return [(view.role, view.text) for view in state]


@pytest.mark.parametrize("adapter", [*LANGCHAIN, *REAL], ids=lambda adapter: adapter.name)
def test_adapter_is_named_and_changes_something(adapter: Adapter) -> None:
    candidate = candidate_of(adapter)
    assert (candidate.name, candidate.target) == (adapter.name, adapter.name)
    assert candidate.source == f"{adapter.package} {version(adapter.package)} {adapter.symbol}, installed"
    seen: Counter[str] = Counter()
    for steps in STORIES:
        seen += observed(candidate, *steps)
    assert seen["changed something"]


@pytest.mark.parametrize("adapter", [*LANGCHAIN, *REAL], ids=lambda adapter: adapter.name)
def test_equal_plays_are_equal_in_both_lanes(adapter: Adapter) -> None:
    candidate = candidate_of(adapter)
    for steps in STORIES:
        first = play(agent_of(candidate), scenario_of(*steps)).history.records
        assert play(agent_of(candidate), scenario_of(*steps)).history.records == first
        assert play(graph_agent_of(candidate), scenario_of(*steps), lane="graph").history.records == first


def test_a_package_that_lacks_is_named_with_its_remedy() -> None:
    adapter = Adapter("nothing.here", "langchain_todo", "no-such-package-of-ours", "Nothing", "real")
    assert not adapter.installed
    assert adapter.source == (
        "not installed: pip install 'sixfold[real]', or pip install --upgrade no-such-package-of-ours"
    )
    with pytest.raises(
        TargetError, match="Nothing of the package no-such-package-of-ours, which is not"
    ) as raised:
        adapter()
    assert "sixfold[real]" in raised.value.remedy


def test_a_class_that_langchain_lacks_is_told_before_it_is_imported() -> None:
    adapter = Adapter("langchain.none", "langchain_todo", "langchain", "NoSuchMiddleware")
    assert not adapter.installed
    with pytest.raises(TargetError, match="needs NoSuchMiddleware of the package langchain") as raised:
        adapter()
    assert raised.value.remedy == "pip install --upgrade langchain"


def test_sources_are_listed_without_importing_a_package() -> None:
    listed = dict(sources())
    assert set(listed) == {*CATALOGUE, *MISSING}
    assert {adapter.name for adapter in (*LANGCHAIN, *REAL)} <= set(listed)
    for adapter in REAL:
        assert listed[adapter.name] == adapter.source


def test_a_missing_package_is_no_unknown_target(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = Adapter("lacking.one", "langchain_todo", "no-such-package-of-ours", "Nothing", "real")
    monkeypatch.setitem(MISSING, "lacking.one", lacking)
    with pytest.raises(TargetError, match="no-such-package-of-ours"):
        resolve("lacking.one")
    assert dict(sources())["lacking.one"] == lacking.source


def test_pii_is_redacted_for_the_model_and_in_history() -> None:
    player = played("langchain.pii", UserTurn(messages=(UserMessage(words=8),), rounds=(ToolRound(),)))
    texts = [text for _, text in state_of(player)]
    assert not any(re.search(r"harbour|meadow|orchard|river", text) for text in texts)
    assert "[REDACTED_PLACE]" in texts[0]
    assert texts[0].startswith("⟦u1⟧ ask:")


def test_someone_decides_on_what_a_tool_may_do() -> None:
    turn = UserTurn(rounds=(ToolRound(calls=(ToolCall(),) * 3),))
    begins = {
        "approves": ["⟦t1.1.0⟧", "⟦t1.1.1⟧", "⟦t1.1.2⟧"],
        "edits": ["Note: a human"] * 3,
        "rejects": ["User rejected"] * 3,
        "decides": ["User rejected", "⟦t1.1.1⟧", "Note: a human"],
    }
    for name, expected in begins.items():
        said = [text for role, text in state_of(played(f"langchain.human_{name}", turn)) if role == "tool"]
        assert [any(map(text.startswith, expected)) for text in said] == [True] * 3, name
        assert sorted(text[:8] for text in said) == sorted(text[:8] for text in expected), name


@pytest.mark.parametrize(("for_good", "answers"), [(False, ["⟦t1.1.0⟧"]), (True, ["Tool 'lookup' failed"])])
def test_a_failing_tool_is_tried_again(for_good: bool, answers: list[str]) -> None:
    turn = UserTurn(rounds=(ToolRound(),), faults=(Fault("raise", "tool", for_good=for_good),))
    player = played("langchain.tool_retry", turn)
    tools = [text for role, text in state_of(player) if role == "tool"]
    assert [text.startswith(start) for text, start in zip(tools, answers, strict=True)] == [True]
    assert HookRan(1, "ToolRetryMiddleware.wrap_tool_call", "update") in player.history.records


@pytest.mark.parametrize("name", ["langchain.model_fallback", "langchain.model_retry"])
def test_a_model_that_fails_once_does_not_end_the_turn(name: str) -> None:
    player = played(name, UserTurn(faults=(Fault("raise", "model"),)))
    assert [r.how for r in player.history.records if isinstance(r, TurnEnded)] == ["answered"]
    assert len([r for r in player.history.records if isinstance(r, Requested)]) == 2


def test_memory_is_loaded_once_in_a_thread_and_marked() -> None:
    records = played("deepagents.memory", UserTurn(), ChangeState(), UserTurn()).history.records
    prompts = [record.system for record in records if isinstance(record, Requested)]
    assert ["⟦s1⟧" in prompt for prompt in prompts] == [True, True]
    assert "outdated" in prompts[0]


def test_deepagents_summarises_in_requests_and_leaves_history() -> None:
    player = played("deepagents.summarization", UserTurn(), UserTurn(rounds=(ToolRound(),)))
    assert [text[:4] for _, text in state_of(player)] == ["⟦u1⟧", "⟦a1⟧", "⟦u2⟧", "⟦a2.", "⟦t2.", "⟦a2⟧"]
    last = [record for record in player.history.records if isinstance(record, Requested)][-1]
    assert [view.role for view in last.messages] == ["human", "ai", "tool"]
    assert "/conversation_history/session_new" in last.messages[0].text


def test_trimming_to_nothing_shows_everything() -> None:
    turn = UserTurn(messages=(UserMessage(words=30), UserMessage(words=30)), rounds=(ToolRound(),))
    wide = UserTurn(rounds=(ToolRound(calls=(ToolCall(words=30),) * 3),))
    records = played("langchain_core.trim_messages", turn, wide).history.records
    shown = [len(record.messages) for record in records if isinstance(record, Requested)]
    assert shown[-1] > shown[-2]
    assert "5.prefix-broken" in codes(resolve("langchain_core.trim_messages"), scenario_of(turn, wide))
