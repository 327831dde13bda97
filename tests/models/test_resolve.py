"""Targets: everything that a target may be becomes a candidate that can be played."""

from pathlib import Path

import pytest
from langchain_core.language_models import BaseChatModel
from langgraph.store.base import BaseStore

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import CONTROL
from sixfold.harness.environment import Environment
from sixfold.harness.errors import TargetError
from sixfold.harness.history import Fold, Requested
from sixfold.harness.plain import PlainTarget
from sixfold.harness.play import play
from sixfold.harness.steps import Restart, UserTurn
from sixfold.harness.supply import BY_ANNOTATION, SUPPLIES, arguments, wiring_of
from sixfold.models.catalogue import CATALOGUE
from sixfold.models.resolve import resolve

from ..flaws.base import Base
from ..helpers import agent_of, scenario_of

SOURCE = """
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
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
def hook(state): return {"llm_input_messages": state["messages"][-1:]}
def hook_with_runtime(state, runtime): return None
def hook_with_config(state, config, *, store=None):
    return {"llm_input_messages": state["messages"][-min(1, config["recursion_limit"]):]}
async def slow_hook(state): return {"messages": [HumanMessage("noted", id=f"n{len(state['messages'])}")]}
def factory_of_a_hook(environment): return hook
as_runnable = RunnableLambda(lambda state: None)
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
    "hook": 1,
    "hook_with_runtime": 1,
    "hook_with_config": 1,
    "slow_hook": 1,
    "factory_of_a_hook": 1,
    "as_runnable": 1,
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


def test_the_model_is_shown_what_a_hook_says_and_history_stays(target_file: Path) -> None:
    agent = build_agent(resolve(f"{target_file}:hook"), direct=True)
    records = play(agent, scenario_of(UserTurn(), UserTurn())).history.records
    last = [record for record in records if isinstance(record, Requested)][-1]
    assert [view.id for view in last.messages] == ["u2"]
    state = [record for record in records if isinstance(record, Fold)][-1].state
    assert [view.id for view in state] == ["u1", "a1", "u2", "a2"]


def test_a_hook_gets_the_config(target_file: Path) -> None:
    agent = build_agent(resolve(f"{target_file}:hook_with_config"), direct=True)
    records = play(agent, scenario_of(UserTurn(), UserTurn())).history.records
    last = [record for record in records if isinstance(record, Requested)][-1]
    assert [view.id for view in last.messages] == ["u2"]


def test_thresholds_are_lowered_and_shown() -> None:
    candidate = resolve("langchain.agents.middleware:ContextEditingMiddleware")
    assert "ClearToolUsesEdit(trigger=40, keep=1)" in candidate.wiring
    limited = resolve("langchain.agents.middleware:ToolCallLimitMiddleware")
    assert limited.wiring == "ToolCallLimitMiddleware(run_limit=2)"


def test_a_size_made_for_long_conversations_is_lowered() -> None:
    def init(self, max_tokens_before_summary=4000, messages_to_keep=20, retries=3): ...  # type: ignore[no-untyped-def]

    cls = type("Sized", (Base,), {"__init__": init})
    assert wiring_of(cls, arguments(cls, "x")) == "Sized(max_tokens_before_summary=40, messages_to_keep=2)"


def test_a_number_is_supplied_where_a_number_is_taken() -> None:
    def init(self, trigger: int, keep: int = 9, max_tokens: float = 1): ...  # type: ignore[no-untyped-def]

    cls = type("Counted", (Base,), {"__init__": init})
    assert wiring_of(cls, arguments(cls, "x")) == "Counted(trigger=5, keep=2)"


def test_what_is_no_number_is_no_size() -> None:
    def init(self, rate_limit_token: str, keep_messages: bool): ...  # type: ignore[no-untyped-def]

    cls = type("Unsized", (Base,), {"__init__": init})
    with pytest.raises(TargetError, match="rate_limit_token, keep_messages"):
        arguments(cls, "x")


def test_a_required_argument_is_supplied_by_its_annotation() -> None:
    def init(self, helper: BaseChatModel, files: "BaseStore"): ...  # type: ignore[no-untyped-def]

    cls = type("Annotated", (Base,), {"__init__": init})
    assert wiring_of(cls, arguments(cls, "x")) == "Annotated(helper=environment.model, files=InMemoryStore())"


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
    assert [argument.name for argument in arguments(cls, "x")] == ["model", "keep", "clock"]


@pytest.mark.parametrize("name", [*SUPPLIES, *BY_ANNOTATION])
def test_every_supply_can_be_taken_from_an_environment(name: str) -> None:
    if name == "BackendProtocol":
        pytest.importorskip("deepagents", reason="only what asks for its backend needs deepagents")
    environment = Environment(model=agent_of(CONTROL).model)
    assert (SUPPLIES | BY_ANNOTATION)[name].make(environment) is not None


def test_what_a_program_without_sixfold_makes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "members.py"
    path.write_text(SOURCE)
    counts = resolve(f"{path}:Inner.Nested").plain
    assert counts == PlainTarget(str(path), "Inner.Nested", ())
    assert resolve(f"{path}:stack").plain == PlainTarget(str(path), "stack")
    target = "langchain.agents.middleware:SummarizationMiddleware"
    summarization = resolve(target).plain
    assert summarization is not None
    assert dict(summarization.arguments or ())["model"] == "environment.model"
    for name in ("factory", "ready", "hook", "as_runnable"):
        assert resolve(f"{path}:{name}").plain is None
