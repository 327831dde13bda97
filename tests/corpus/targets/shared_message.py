"""A hook that returns the very same message object in every turn.

LangGraph's `add_messages` stamps an id on the object itself, so the second injection is an update of the
first one, in the past.
"""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage

from sixfold.harness.candidate import Candidate, Middleware
from sixfold.harness.environment import Environment


class SameObject(AgentMiddleware[Any, Any, Any]):
    def __init__(self) -> None:
        self.note = HumanMessage("Be brief.", name="note")

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [self.note]}


def build(environment: Environment) -> list[Middleware]:
    return [SameObject()]


CANDIDATE = Candidate(name="shared-message", build=build, source="langgraph add_messages, installed")
