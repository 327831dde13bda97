"""The interposer stands for its member: whatever form a hook's answer has, it is seen and attributed."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
from langgraph.types import Command, Overwrite

from sixfold.harness.candidate import Candidate
from sixfold.harness.history import Fold, Mutated
from sixfold.harness.play import play
from sixfold.harness.steps import UserTurn

from ..helpers import agent_of, scenario_of

NOTE = HumanMessage("hint", id="note")

FORMS: dict[str, Callable[[Any], Any]] = {
    "one message": lambda state: {"messages": NOTE},
    "a list": lambda state: {"messages": [NOTE]},
    "a dict": lambda state: {"messages": [{"role": "user", "content": "hint", "id": "note"}]},
    "overwritten": lambda state: {"messages": Overwrite([*state["messages"], NOTE])},
    "a command": lambda state: Command(update={"messages": [NOTE]}),
}


class Answers(AgentMiddleware[Any, Any, Any]):
    def __init__(self, form: Callable[[Any], Any]) -> None:
        self.form = form

    def before_agent(self, state: Any, runtime: Any) -> Any:
        return self.form(state)


@pytest.mark.parametrize("form", FORMS)
def test_update_is_attributed_to_the_hook(form: str) -> None:
    candidate = Candidate(name=form, build=lambda environment: [Answers(FORMS[form])])
    records = play(agent_of(candidate), scenario_of(UserTurn())).history.records
    [fold] = [r for r in records if isinstance(r, Fold) and r.by == "Answers.before_agent"]
    assert [view.id for view in fold.state] == ["u1", "note"]
    assert "note" in [view.id for view in fold.update]
    assert not any(isinstance(record, Mutated) for record in records)


def test_list_changed_in_place_is_noticed() -> None:
    candidate = Candidate(
        name="pops", build=lambda environment: [Answers(lambda state: state["messages"].clear())]
    )
    records = play(agent_of(candidate), scenario_of(UserTurn())).history.records
    assert any(isinstance(record, Mutated) for record in records)
