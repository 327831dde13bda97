"""The graph lane: the real `create_agent` graph under LangGraph's scheduler, with a checkpointer.

Slow (milliseconds a turn) and authoritative: every finding is confirmed here.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ..agent import Agent
from ..session import Session


class GraphLane:
    """Drives one history through the compiled graph, one thread per history."""

    def __init__(self, agent: Agent, session: Session) -> None:
        self._agent = agent
        self._session = session
        self._graph = agent.graph.copy(update={"checkpointer": InMemorySaver()})
        self._config: Any = {"configurable": {"thread_id": "history"}, "recursion_limit": 500}

    def submit(self, messages: list[HumanMessage]) -> None:
        """Invoke the agent with new user messages; lets errors of the agent escape."""
        chunks = self._graph.stream({"messages": messages}, self._config, stream_mode="values")
        for chunk in chunks:
            self._session.folded(chunk["messages"])

    def edit(self, message: HumanMessage) -> None:
        """Fold an edited message into the checkpointed state."""
        self._graph.update_state(self._config, {"messages": [message]}, as_node="model")
        self._session.folded(self._graph.get_state(self._config).values["messages"])

    def restart(self) -> None:
        """Renew the middleware; the state lives in the checkpointer already."""
        self._agent.renew(self._session)
