"""Targets: everything that a target may be becomes a candidate that can be played."""

from pathlib import Path

import pytest

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import CONTROL
from sixfold.harness.environment import Environment
from sixfold.harness.play import play
from sixfold.harness.steps import Restart, UserTurn
from sixfold.models.catalogue import CATALOGUE
from sixfold.models.resolve import resolve
from sixfold.models.supply import SUPPLIES, arguments

from ..flaws.base import Base
from ..helpers import agent_of, scenario_of

SOURCE = """
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import HumanMessage
from sixfold.harness.candidate import Candidate

class Counts(AgentMiddleware):
    def __init__(self, limit=3):
        self.limit, self.seen = limit, []
    def before_agent(self, state, runtime):
        self.seen.append(1)
        return {"messages": [HumanMessage(f"turn {len(self.seen)}", id=f"n{len(state['messages'])}")]}

class Other(AgentMiddleware):
    def before_model(self, state, runtime): return None

class Inner:
    Nested = Counts

instance = Counts()
stack = [Counts(), Other()]
pair = (Other(), Counts())
def factory(environment): return Counts()
def factory_of_many(environment): return [Counts(), Other()]
def optional(environment, extra=None): return Counts(extra)
ready = Candidate(name="ready", build=lambda environment: [Counts()])
def summarising(environment):
    return SummarizationMiddleware(environment.model, trigger=("messages", 3), keep=("messages", 1))
"""

MEMBERS = {
    "Counts": 1,
    "Inner.Nested": 1,
    "instance": 1,
    "stack": 2,
    "pair": 2,
    "factory": 1,
    "factory_of_many": 2,
    "optional": 1,
    "ready": 1,
    "summarising": 1,
}


@pytest.fixture
def target_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("name", MEMBERS)
def test_target_becomes_a_candidate(target_file: Path, name: str) -> None:
    agent = build_agent(resolve(f"{target_file}:{name}"), direct=True)
    assert len(agent.interposers) == MEMBERS[name]
    history = play(agent, scenario_of(UserTurn(), Restart(), UserTurn())).history
    assert [record.how for record in history.records if hasattr(record, "how")] == ["answered", "answered"]


def test_histories_do_not_share_an_instance(target_file: Path) -> None:
    agent = build_agent(resolve(f"{target_file}:instance"), direct=True)
    first = play(agent, scenario_of(UserTurn())).history
    assert play(agent, scenario_of(UserTurn())).history.records == first.records


def test_module_target() -> None:
    candidate = resolve("langchain.agents.middleware:SummarizationMiddleware")
    assert candidate.name == candidate.target == "langchain.agents.middleware:SummarizationMiddleware"
    assert build_agent(candidate, direct=True).interposers


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue_name_is_the_name_and_the_target(name: str) -> None:
    candidate = resolve(name)
    assert (candidate.name, candidate.target) == (name, name)
    assert candidate.source
    assert agent_of(candidate).interposers or candidate is CONTROL


def test_known_arguments_are_supplied_and_defaults_left_alone() -> None:
    def init(self, model, keep, *, clock, mood="good", **more): ...  # type: ignore[no-untyped-def]

    cls = type("Many", (Base,), {"__init__": init})
    assert list(arguments(cls, "x")) == ["model", "keep", "clock"]


def test_every_supply_can_be_taken_from_an_environment() -> None:
    environment = Environment(model=agent_of(CONTROL).model)
    assert all(supply(environment) is not None for supply in SUPPLIES.values())
