"""Exit codes: 0 nothing found, 1 findings, 2 inconclusive, 3 usage, 4 the harness is broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from sixfold.harness.lanes.reducer import ReducerLane
from sixfold.harness.scenario import Scenario, load, to_json

from .conftest import Sixfold

PLANTED_FILE = """
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, SystemMessage
import itertools, sys, threading

class Copies(AgentMiddleware):
    def before_agent(self, state, runtime):
        last = state["messages"][-1]
        return {"messages": [HumanMessage(last.content, id=f"{last.id}-copy")]}

class Prompts(AgentMiddleware):
    def wrap_model_call(self, request, handler):
        return handler(request.override(system_message=SystemMessage("Be brief.")))

calls = itertools.count()

class Erratic(AgentMiddleware):
    def wrap_model_call(self, request, handler):
        return handler(request.override(system_message=SystemMessage(f"call {next(calls)}")))

class Fails(AgentMiddleware):
    def before_model(self, state, runtime):
        raise KeyError("no such thing")

class Returns(AgentMiddleware):
    def before_agent(self, state, runtime):
        return 5

class Exits(AgentMiddleware):
    def before_agent(self, state, runtime):
        sys.exit(0)

locked = Prompts()
locked.lock = threading.Lock()
"""
FEW = ("--max-histories", "30", "--report-dir", "runs")


@pytest.fixture(autouse=True)
def candidates(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLANTED_FILE)


def test_nothing_found(sixfold: Sixfold) -> None:
    assert sixfold("run", "mine.py:Prompts", *FEW).code == 0


def test_findings(sixfold: Sixfold) -> None:
    outcome = sixfold("run", "mine.py:Copies", *FEW)
    assert outcome.code == 1
    assert "2.duplicate" in outcome.out


def test_inconclusive(sixfold: Sixfold) -> None:
    assert sixfold("run", "mine.py:Erratic", *FEW).code == 2


def test_usage(sixfold: Sixfold) -> None:
    assert sixfold("run", "mine.py:Nothing", *FEW).code == 3


def test_instance_that_cannot_be_copied_is_named(sixfold: Sixfold) -> None:
    outcome = sixfold("run", "mine.py:locked", *FEW)
    assert outcome.code == 3
    assert "a middleware instance cannot be copied for each history: TypeError" in outcome.err


def _break(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Any]], list[Any]]) -> None:
    """Make the reducer lane fold other lists of messages than were written."""
    commit = ReducerLane._commit

    def broken(self: ReducerLane, writes: list[tuple[str, Any]], node: str | None = None) -> Any:
        return commit(self, [(n, change(v) if isinstance(v, list) else v) for n, v in writes], node)

    monkeypatch.setattr(ReducerLane, "_commit", broken)


def _stamped(messages: list[Any]) -> list[Any]:
    return [
        m.model_copy(update={"additional_kwargs": {"lane": 1}}) if isinstance(m, AIMessage) else m
        for m in messages
    ]


def _without_copies(messages: list[Any]) -> list[Any]:
    return [m for m in messages if not str(getattr(m, "id", "")).endswith("-copy")]


def test_broken_harness_leaves_the_scenario(
    sixfold: Sixfold, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _break(monkeypatch, _stamped)
    outcome = sixfold("run", "mine.py:Copies", *FEW)
    assert outcome.code == 4
    assert "6.lanes" in outcome.err
    assert "Traceback" not in outcome.err
    assert load(tmp_path / "runs/latest/broken/scenario.json").steps
    why = json.loads((tmp_path / "runs/latest/broken/why.json").read_text())
    assert why["candidate"] == "control"


def test_candidate_on_which_the_lanes_disagree_is_inconclusive(
    sixfold: Sixfold, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _break(monkeypatch, _without_copies)
    outcome = sixfold("run", "mine.py:Copies", *FEW)
    assert outcome.code == 2
    assert "inconclusive, 6.lanes: the two lanes disagree" in outcome.out
    verdicts = json.loads((tmp_path / "runs/latest/verdicts.json").read_text())
    [doubt] = [c["disagreement"] for c in verdicts["candidates"] if c["name"] == "mine.py:Copies"]
    assert doubt["reason"].startswith("6.lanes")
    assert load(tmp_path / "runs/latest" / doubt["scenario"]).steps


def test_error_of_the_candidate_is_a_finding(sixfold: Sixfold) -> None:
    outcome = sixfold("run", "mine.py:Fails", *FEW)
    assert outcome.code == 1
    assert "6.hook-error" in outcome.out


def test_update_that_is_no_update_is_a_finding(sixfold: Sixfold) -> None:
    outcome = sixfold("run", "mine.py:Returns", *FEW)
    assert (outcome.code, "6.hook-error" in outcome.out) == (1, True), outcome.err


def test_candidate_cannot_end_the_run(sixfold: Sixfold) -> None:
    outcome = sixfold("run", "mine.py:Exits", *FEW)
    assert (outcome.code, "6.hook-error" in outcome.out) == (1, True), outcome.err


def test_json_says_the_same(sixfold: Sixfold) -> None:
    outcome = sixfold("run", "mine.py:Copies", *FEW, "--format", "json")
    assert outcome.code == 1
    assert {finding["code"] for finding in json.loads(outcome.out)["findings"]} >= {"2.duplicate"}


def test_replay_finds_it_again(sixfold: Sixfold, tmp_path: Path) -> None:
    sixfold("run", "mine.py:Copies", *FEW)
    [path, *_] = (tmp_path / "runs/latest/scenarios").iterdir()
    for lane in ("reducer", "graph"):
        assert sixfold("replay", str(path), "mine.py:Copies", "--lane", lane).code == 1
        assert sixfold("replay", str(path), "mine.py:Prompts", "--lane", lane).code == 0
    assert sixfold("replay", str(path)).code == 0


def test_replay_plays_an_empty_scenario(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text(to_json(Scenario()))
    assert sixfold("replay", "empty.json").code == 0


def test_replay_plays_a_hand_written_file(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"sixfold_scenario": 1, "steps": [{"kind": "user_turn"}]}')
    assert sixfold("replay", "one.json", "mine.py:Copies").code == 1


def test_accepted_findings_do_not_fail_a_run_until_they_expire(sixfold: Sixfold, tmp_path: Path) -> None:
    accepted = tmp_path / "accepted.toml"
    run = ("run", "deerflow-4667", "--max-histories", "12", "--invariant", "3", "--baseline", str(accepted))
    missing = sixfold(*run)
    assert missing.code == 3
    assert "Make it with --update-baseline" in missing.err
    written = sixfold(*run, "--update-baseline")
    assert written.code == 0, written.err
    assert "baseline: 1 known, 0 new, 0 expired, 0 unobserved" in written.err
    text = accepted.read_text().replace('owner = ""', 'owner = "context team"\nexpires = 2020-01-01', 1)
    gone = '[[accepted]]\nid = "SF-00000000"\ncandidate = "deerflow-4667"\ncode = "3.stale-question"\n'
    accepted.write_text(f'{text}\n{gone}reason = "waits for a release"\n')
    late = sixfold(*run, "--update-baseline")
    assert late.code == 1
    assert "expired: SF-" in late.err
    assert "unobserved: SF-00000000" in late.err
    assert "waits for a release" in accepted.read_text()
    assert "context team" in accepted.read_text()
