"""Candidates that end or spoil their process: a finding or a warning, never the end of the run."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from sixfold.cli.subjects import subjects
from sixfold.harness.deaths import Limits
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import UserTurn

from .conftest import Sixfold

HOSTILE = """
import os, random, sys, threading, time
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, SystemMessage

def late(state):
    return sum(isinstance(m, HumanMessage) for m in state["messages"]) > 1

class Prompts(AgentMiddleware):
    def wrap_model_call(self, request, handler):
        return handler(request.override(system_message=SystemMessage("Be brief.")))

class Copies(AgentMiddleware):
    def before_agent(self, state, runtime):
        last = state["messages"][-1]
        return {"messages": [HumanMessage(last.content, id=f"{last.id}-copy")]}

class Hangs(AgentMiddleware):
    def before_model(self, state, runtime):
        while late(state):
            pass

class Exits(AgentMiddleware):
    def before_agent(self, state, runtime):
        if late(state):
            os._exit(0)

class Recurses(AgentMiddleware):
    def before_agent(self, state, runtime):
        if late(state):
            sys.setrecursionlimit(10**9)
            def deeper(x):
                return sorted([x], key=deeper)
            deeper(1)

class Eats(AgentMiddleware):
    def after_model(self, state, runtime):
        food = []
        while late(state):
            food.append(bytearray(64_000_000))

class Scribbles(AgentMiddleware):
    def before_agent(self, state, runtime):
        for end in range(3, 64) if late(state) else ():
            try:
                os.write(end, b'{"ok": {}, "printed": 0}\\n')
            except OSError:
                continue

class Leaks(Prompts):
    def before_agent(self, state, runtime):
        threading.Thread(target=threading.Event().wait, daemon=True).start()

class Patches(Prompts):
    def before_agent(self, state, runtime):
        import langgraph.graph.message
        langgraph.graph.message.add_messages = random.random = lambda *_: 0.5
        os.environ["PATCHED"] = "yes"
        print("{}")
        os.write(1, b"raw")

class Once(Prompts):
    def before_agent(self, state, runtime):
        if os.path.exists("again"):
            os.remove("again")
            os._exit(3)
"""
#: Where each shows, and how many findings a run may make of it.
DEADLY = {
    "Hangs": "Hangs.before_model, hang",
    "Exits": "Exits.before_agent, exit",
    "Recurses": "Recurses.before_agent, killed",
    "Eats": "Eats.after_model, memory",
    "Scribbles": "Scribbles.before_agent, garbled",
}
FEW = ("--max-histories", "15", "--timeout", "5", "--report-dir", "runs", "--format", "json")


@pytest.fixture(autouse=True)
def candidates(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HOSTILE)


def findings_of(run: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in finding.items() if key != "held_by"}
        for finding in run["findings"]
        if finding["candidate"] == f"mine.py:{name}"
    ]


_alone: list[dict[str, Any]] = []


def alone(sixfold: Sixfold) -> dict[str, Any]:
    """What a run finds without a hostile candidate beside it; run once."""
    if not _alone:
        _alone.append(json.loads(sixfold("run", "--isolate", "mine.py:Copies", *FEW).out))
    return _alone[0]


@pytest.mark.parametrize(
    "name", [n if n == "Exits" else pytest.param(n, marks=pytest.mark.slow) for n in DEADLY]
)
def test_candidate_that_ends_its_process_is_a_finding(sixfold: Sixfold, name: str, tmp_path: Path) -> None:
    run = json.loads(sixfold("run", "--isolate", f"mine.py:{name}", "mine.py:Copies", *FEW).out)
    [finding] = findings_of(run, name)
    assert (finding["code"], finding["by"]) == ("6.hook-error", DEADLY[name])
    assert finding["confirmed"] is True
    assert [step["kind"] for step in finding["scenario"]["steps"]] == ["user_turn", "user_turn"]
    [result] = [c for c in run["candidates"] if c["name"] == f"mine.py:{name}"]
    assert result["verdicts"]["6"] == "violated"
    assert result["verdicts"]["1"] == "inconclusive"
    assert any("given up after 3 histories" in warning for warning in result["warnings"])

    assert findings_of(run, "Copies") == findings_of(alone(sixfold), "Copies") != []

    scenario = str(next(tmp_path.glob(f"runs/*/scenarios/{finding['id']}.json")))
    again = sixfold("replay", "--isolate", "--timeout", "5", scenario, f"mine.py:{name}", "mine.py:Prompts")
    assert (again.code, again.out.count("6.hook-error violated")) == (1, 1), again.out + again.err
    assert again.out.rstrip().endswith("holds")


def test_traces_are_warnings_and_no_findings(sixfold: Sixfold) -> None:
    few = ("--max-histories", "5", *FEW[2:])
    outcome = sixfold("run", "--isolate", "mine.py:Leaks", "mine.py:Patches", "mine.py:Prompts", *few)
    run = json.loads(outcome.out)
    assert (outcome.code, run["findings"]) == (0, [])
    assert {c["name"]: c["warnings"] for c in run["candidates"]} == {
        "control": [],
        "mine.py:Prompts": [],
        "mine.py:Leaks": ["leaves threads running behind its histories"],
        "mine.py:Patches": [
            f"replaces {what} while it runs; Sixfold put it back"
            for what in ("langgraph.graph.message.add_messages", "os.environ['PATCHED']", "random.random")
        ],
    }
    assert "candidates printed" in outcome.err


def test_death_that_does_not_come_back_is_inconclusive(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "again").touch()
    outcome = sixfold("run", "--isolate", "mine.py:Once", *FEW)
    run = json.loads(outcome.out)
    assert (outcome.code, run["findings"]) == (2, [])
    assert "not in the history when played again" in run["candidates"][1]["warnings"][0]


FICKLE = """
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langgraph.graph import START, MessagesState, StateGraph

class One(AgentMiddleware):
    def before_model(self, state, runtime): pass

class Other(One): pass

def built(bot, checkpointer):
    return StateGraph(MessagesState).add_node("bot", bot).add_edge(START, "bot").compile(checkpointer)

calls = []

def other(environment):
    calls.append(1)
    return One() if len(calls) < 6 else Other()

def raising(environment):
    calls.append(1)
    return One() if len(calls) < 6 else 1 / 0

def graph(model, checkpointer):
    calls.append(1)
    return create_agent(model, checkpointer=checkpointer) if len(calls) < 12 else One()

def late(model, checkpointer):
    def bot(state):
        while len(state["messages"]) > 1: pass
        return {"messages": [model.invoke(state["messages"])]}
    return built(bot, checkpointer)

def never(model, checkpointer):
    def bot(state):
        while True: pass
    return built(bot, checkpointer)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("other", "the factory does not return the same middleware every time"),
        pytest.param("raising", "building the middleware raised ZeroDivisionError", marks=pytest.mark.slow),
        pytest.param(
            "graph", "the factory does not return a compiled graph every time", marks=pytest.mark.slow
        ),
    ],
)
def test_factory_that_changes_its_mind_is_inconclusive(
    sixfold: Sixfold, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "fickle.py").write_text(FICKLE)
    run = json.loads(sixfold("run", "--isolate", f"fickle.py:{name}", "mine.py:Copies", *FEW).out)
    [result] = [c for c in run["candidates"] if c["name"] == f"fickle.py:{name}"]
    assert set(result["verdicts"].values()) == {"inconclusive"}
    [warning] = result["warnings"]
    assert warning.startswith(said)
    assert findings_of(run, "Copies") == findings_of(alone(sixfold), "Copies") != []


@pytest.mark.slow
def test_agent_that_hangs_is_told_by_its_history(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "fickle.py").write_text(FICKLE)
    few = ("--max-histories", "2", "--timeout", "1.5", "--report-dir", "runs", "--format", "json")
    run = json.loads(sixfold("run", "--isolate", "fickle.py:late", *few).out)
    [finding] = run["findings"]
    assert (finding["code"], finding["by"]) == ("6.hook-error", "agent, hang")
    again = sixfold(
        "replay",
        "--isolate",
        str(next(tmp_path.glob("runs/*/scenarios/SF-*.json"))),
        "fickle.py:late",
        *few[2:4],
    )
    assert again.out.index("model call 1 sees: ") < again.out.index("turn 2: aborted: process hung")


def test_agent_that_hangs_when_it_is_tried_is_said_to_hang(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "fickle.py").write_text(FICKLE)
    outcome = sixfold("run", "--isolate", "fickle.py:never", "--timeout", "1.5")
    assert (outcome.code, outcome.out) == (3, "")
    assert "its first turns ended its process: it did not come back within 1.5 s" in outcome.err
    assert "--timeout" in outcome.err


def test_well_behaved_candidate_gives_the_same_bytes(sixfold: Sixfold, tmp_path: Path) -> None:
    saved = []
    for how in ("--isolate", "--no-isolate"):
        # The serialisers of providers are switched off in the process of the tests only.
        options = ("--max-histories", "60", "--invariant", "2", "--invariant", "5", "--report-dir", how[2:])
        assert sixfold("run", how, "mine.py:Copies", *options).code == 1
        files = sorted(path for path in (tmp_path / how[2:] / "latest").rglob("*.json"))
        saved.append({path.name: path.read_bytes() for path in files})
    assert saved[0] == saved[1]
    assert len(saved[0]) > 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os; os._exit(0)", "loading the target ended its process: exit code 0"),
        pytest.param(
            "import os; os.kill(os.getpid(), 11)",
            "loading the target ended its process: signal SIGSEGV",
            marks=pytest.mark.slow,
        ),
        ("raise RuntimeError('no licence')", "importing the target raised RuntimeError: no licence"),
    ],
)
def test_target_that_cannot_be_loaded(sixfold: Sixfold, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    outcome = sixfold("run", "--isolate", "bad.py:X")
    assert (outcome.code, outcome.out) == (3, "")
    assert f"error: {said}" in outcome.err


@pytest.mark.parametrize("how", ["--isolate", "--no-isolate"])
def test_target_that_interrupts_its_import_ends_the_run_as_an_interrupt(
    sixfold: Sixfold, tmp_path: Path, how: str
) -> None:
    (tmp_path / "bad.py").write_text("raise KeyboardInterrupt('enough')")
    outcome = sixfold("run", how, "bad.py:X")
    assert (outcome.code, outcome.out) == (130, "")
    assert "error: importing the target raised KeyboardInterrupt: enough" in outcome.err
    assert "bad.py:1" in outcome.err


def test_a_hook_that_raises_ctrl_c_has_failed_in_a_worker_too(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from langchain.agents.middleware import AgentMiddleware\n"
        "class X(AgentMiddleware):\n"
        "    def before_agent(self, state, runtime): raise KeyboardInterrupt\n"
    )
    run = json.loads(sixfold("run", "--isolate", "bad.py:X", *FEW).out)
    assert [(f["code"], f["by"]) for f in run["findings"]] == [("6.hook-error", "X.before_agent")]
    assert run["candidates"][1]["warnings"] == []


def test_wiring_is_shown_without_loading_it_here(sixfold: Sixfold, tmp_path: Path) -> None:
    (tmp_path / "who.py").write_text(HOSTILE + "open('loaded', 'a').write(f'{os.getpid()} ')\n")
    outcome = sixfold("run", "--isolate", "--show-wiring", "who.py:Prompts")
    assert (outcome.code, outcome.out) == (0, "who.py:Prompts: Prompts()\n")
    assert str(os.getpid()) not in (tmp_path / "loaded").read_text().split()


def test_worker_that_is_not_asked_for_long_lives_on(tmp_path: Path) -> None:
    limits, scenario = Limits(history=0.5), Scenario((UserTurn(),))
    with subjects([f"{tmp_path}/mine.py:Prompts"], isolated=True, limits=limits) as [subject]:
        for pause in (0.0, 4.0):
            time.sleep(pause)
            assert not subject.look(scenario, invariants=(), comparing=False).lost
        assert not subject.unsteady
        assert subject.warnings() == ()
