"""The lane of a whole agent: its own graph under LangGraph's scheduler, read through its streams.

There are no interposers in it. Which node wrote what is told by the stream of updates, and what became
of it by the stream of values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langgraph.types import Command

from ..interposer import messages_of
from ..lanes.graph import GraphLane
from ..lanes.stopping import StopPoint
from .places import failed_node, label

if TYPE_CHECKING:
    from .agent import WholeAgent
    from .session import WholeSession


class WholeLane(GraphLane):
    """Drives one history through the graph that the agent's factory compiled."""

    def __init__(self, agent: WholeAgent, session: WholeSession, *, thread: str = "history") -> None:
        super().__init__(agent, session, thread=thread)
        self._whole = agent
        self._heard = session
        self._updates: list[tuple[str, list[BaseMessage]]] = []
        self._before: list[BaseMessage] = []

    def streaming(self, stop: StopPoint | None) -> dict[str, Any]:
        """Return how the graph is streamed, and before or behind which nodes it is interrupted."""
        nodes = self._whole.nodes
        interrupts: dict[str, list[str]] = {}
        match None if stop is None else stop.where:
            case "before_answer":
                interrupts = {"interrupt_before": nodes.model}
            case "after_calls":
                interrupts = {"interrupt_before": nodes.tools}
            case "after_results":
                interrupts = {"interrupt_after": nodes.tools}
        return {"stream_mode": ["updates", "values"], "durability": "sync", **interrupts}

    def _run(self, given: Any, stop: StopPoint | None) -> bool:
        self._updates = []
        try:
            return super()._run(given, stop)
        except BaseException as error:
            self._heard.failed(failed_node(error))
            raise

    def see(self, chunk: Any) -> None:
        """Take in what the graph streams."""
        mode, shown = chunk
        if mode == "updates":
            for node, update in shown.items():
                if not node.startswith("__"):
                    self._wrote(node, list(_written_in(update)))
            return
        self._asked += tuple(shown.get("__interrupt__", ()))
        if "messages" not in shown or self._asked:
            return
        messages, updates = list(shown["messages"]), self._updates
        self._updates = []
        if updates:
            self._superstep(updates, messages)
        else:
            self._heard.folded(messages)
        self._before = messages

    def _wrote(self, node: str, mine: list[BaseMessage]) -> None:
        """Note what a node has written, and whether it changed messages that it did not write."""
        self._updates.append((node, mine))
        known = {id(message) for message in mine}
        others = [message for message in self._before if id(message) not in known]
        self._heard.notice_mutation(label(node), others, others)

    def _superstep(self, updates: list[tuple[str, list[BaseMessage]]], messages: list[BaseMessage]) -> None:
        written = [message for _, mine in updates for message in mine]
        if written:
            writers = dict.fromkeys(node for node, mine in updates if mine)
            self._heard.superstep(list(writers), written, messages)
        else:
            self._heard.nothing_written()


def _written_in(update: Any) -> Iterator[BaseMessage]:
    """Yield the messages that a node's update writes; one that wrote more than once has a list of them."""
    for each in update if isinstance(update, (list, tuple)) else [update]:
        if isinstance(each, (dict, Command)):
            yield from messages_of(each)
