"""`sixfold doctor`: each question has a misfit that only it is about, and a fit that passes them all."""

import json
from pathlib import Path

import pytest

from .conftest import Outcome, Sixfold

TARGETS = """
import itertools, os, random, threading
from typing import Any, NotRequired
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import HumanMessage, SystemMessage

class Fits(AgentMiddleware):
    def wrap_model_call(self, request, handler):
        return handler(request.override(system_message=SystemMessage("Be brief.")))
    async def awrap_model_call(self, request, handler):
        return await handler(request.override(system_message=SystemMessage("Be brief.")))

calls = itertools.count()

class Erratic(Fits):
    def before_model(self, state, runtime):
        return {"messages": [HumanMessage(f"call {next(calls)}", id="note")]}

class Mutates(Fits):
    def before_model(self, state, runtime):
        state["messages"][0].additional_kwargs["seen"] = True

class Unstored(Fits):
    class state_schema(AgentState):
        handle: NotRequired[Any]
    def before_agent(self, state, runtime):
        return {"handle": threading.Lock()}

class SyncOnly(AgentMiddleware):
    wrap_model_call = Fits.wrap_model_call

class AsyncOnly(Fits):
    async def abefore_model(self, state, runtime):
        return None

class Sleeps(AgentMiddleware):
    def before_model(self, state, runtime):
        if len(state["messages"]) > 10_000:
            return {"messages": [HumanMessage("much", id="much")]}

class Patches(Fits):
    def before_agent(self, state, runtime):
        random.random = lambda: 0.5

class Exits(Fits):
    def before_agent(self, state, runtime):
        os._exit(3)

class Demands(AgentMiddleware):
    def __init__(self, ledger): ...

fits = Fits()
"""

#: What is the matter with each, and words of the advice.
MISFITS = {
    "Patches": ("does it leave its process alone?", "random.random"),
    "Erratic": ("is it deterministic?", "environment.new_id"),
    "Mutates": ("are the state and its messages left untouched?", "Mutates.before_model changes messages"),
    "Unstored": ("can a checkpoint store what it writes?", "write plain data"),
    "SyncOnly": ("is there a synchronous and an asynchronous form?", "write the asynchronous one"),
    "AsyncOnly": ("is there a synchronous and an asynchronous form?", "write the synchronous one"),
    "Sleeps": ("are its thresholds reached in short histories?", "lower its thresholds"),
}


@pytest.fixture(autouse=True)
def candidates(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TARGETS)


def problems(outcome: Outcome) -> dict[str, str]:
    answers = json.loads(outcome.out)["answers"]
    assert len(answers) == 7
    return {answer["question"]: answer["says"] for answer in answers if answer["state"] == "problem"}


@pytest.mark.parametrize("target", ["mine.py:Fits", "mine.py:fits", "deerflow", "langchain.summarization"])
def test_what_fits_is_ready(sixfold: Sixfold, target: str) -> None:
    outcome = sixfold("doctor", target, "--format", "json")
    assert (outcome.code, problems(outcome)) == (0, {}), outcome.out
    assert json.loads(outcome.out)["ready"] is True


@pytest.mark.parametrize("name", MISFITS)
def test_misfit_is_told_what_to_fix_and_nothing_else(sixfold: Sixfold, name: str) -> None:
    question, advice = MISFITS[name]
    outcome = sixfold("doctor", f"mine.py:{name}", "--format", "json")
    assert outcome.code == 1
    found = problems(outcome)
    assert list(found) == [question], found
    assert advice in found[question]


def test_what_was_never_done_is_unknown(sixfold: Sixfold) -> None:
    answers = json.loads(sixfold("doctor", "mine.py:Sleeps", "--format", "json").out)["answers"]
    assert {answer["question"] for answer in answers if answer["state"] == "unknown"} == {
        "is it deterministic?",
        "can a checkpoint store what it writes?",
    }


def test_end_of_the_process_is_told(sixfold: Sixfold) -> None:
    outcome = sixfold("doctor", "--isolate", "mine.py:Exits", "--format", "json")
    assert outcome.code == 1
    said = problems(outcome)["does it leave its process alone?"]
    assert "Exits.before_agent: process exited: exit code 3" in said


def test_wiring_is_shown(sixfold: Sixfold) -> None:
    outcome = sixfold("doctor", "mine.py:Fits")
    assert outcome.code == 0
    assert "It is constructed as Fits()." in outcome.out
    assert outcome.out.endswith("ready\n")


def test_what_cannot_be_loaded(sixfold: Sixfold) -> None:
    for isolation in ("--isolate", "--no-isolate"):
        outcome = sixfold("doctor", isolation, "mine.py:Demands")
        assert (outcome.code, outcome.out) == (3, "")
        assert "cannot supply the constructor argument ledger of Demands" in outcome.err
    assert sixfold("doctor", "mine.py:Fits", "--format", "yaml").code == 3
