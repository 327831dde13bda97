"""The graph lane: the real `create_agent` graph under LangGraph's scheduler, with a checkpointer.

Slow (milliseconds a turn) and authoritative: every finding is confirmed here.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.messages import convert_to_messages
from langgraph.types import Command

from ..reviewer import answer
from ..session import Session
from ..steps import Stop, Stored
from ..stored import written
from .stopping import Base, StopPoint
from .storable import loaded
from .surroundings import MAX_SUPERSTEPS

if TYPE_CHECKING:
    from ..agent import Agent

_INTERRUPTS: dict[Stop, dict[str, list[str]]] = {
    "before_answer": {"interrupt_before": ["model"]},
    "after_calls": {"interrupt_before": ["tools"]},
    "after_results": {"interrupt_after": ["tools"]},
}


@contextmanager
def _quiet_executor() -> Iterator[None]:
    """Keep LangGraph's executors quiet about tasks that end, or never start, after another has failed."""
    logger = logging.getLogger("concurrent.futures")
    was, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="coroutine 'arun_with_retry' was never awaited")
            yield
    finally:
        logger.disabled = was


class GraphLane:
    """Drives one history through the compiled graph, one thread per history."""

    def __init__(self, agent: Agent, session: Session, *, thread: str = "history") -> None:
        self._agent = agent
        self._session = session
        self._saver = agent.new_saver()
        self._made: tuple[Any, Any] = (None, None)
        self._name = thread
        self._threads = 0
        self._config = self._thread()
        self._marks: dict[int, tuple[Any, bool]] = {}
        self._resumable = False
        self._asked: tuple[Any, ...] = ()

    @property
    def _graph(self) -> Any:
        """The agent's graph over this lane's checkpointer; a whole agent has another one after a restart."""
        if self._made[0] is not self._agent.graph:
            self._made = self._agent.graph, self._agent.graph.copy(update={"checkpointer": self._saver})
        return self._made[1]

    def streaming(self, stop: StopPoint | None) -> dict[str, Any]:
        """Return how the graph is streamed, and before or behind which nodes it is interrupted."""
        interrupts = {} if stop is None else _INTERRUPTS[stop.where]
        # Each checkpoint is written before the next superstep: what cannot be stored shows where it is.
        return {"stream_mode": "values", "durability": "sync", **interrupts}

    def submit(self, messages: list[Any], stop: StopPoint | None = None) -> bool:
        """Invoke the agent with new messages; lets errors escape. Returns whether it was stopped."""
        return self._run({"messages": messages}, stop)

    @property
    def asks(self) -> bool:
        """Whether the turn was stopped by questions."""
        return bool(self._asked)

    def resume(self) -> bool:
        """Go on from where the turn was stopped or failed, or from the start; return whether it stopped."""
        if not (self._resumable and self._graph.get_state(self._config).next):
            return self._run({"messages": []}, None)
        answers = {asked.id: answer(asked) for asked in self._asked}
        return self._run(Command(resume=answers) if answers else None, None)

    def fail(self, *, resumable: bool) -> None:
        """Remember that a turn was aborted, and whether it may be resumed."""
        self._resumable = resumable

    def update(self, value: Any) -> None:
        """Fold a client's write to `messages` into the checkpointed state."""
        self._resumable = False
        self._graph.update_state(self._config, {"messages": value}, as_node="__start__")
        self._session.folded(self._messages())

    def restart(self, stored: Stored = "now") -> None:
        """Renew the middleware; the state lives in the checkpointer already, in the format `stored`."""
        if stored != "now" and not self._resumable:
            self._store_again(stored)
        self._agent.renew(self._session)

    def _store_again(self, stored: Stored) -> None:
        """Put the messages of the latest checkpoint into the store as an earlier version wrote them."""
        saved = self._saver.get_tuple(self._config)
        if saved is None or "messages" not in saved.checkpoint["channel_values"]:
            return
        thread = saved.config["configurable"]
        version = saved.checkpoint["channel_versions"]["messages"]
        key = (thread["thread_id"], thread["checkpoint_ns"], "messages", version)
        try:
            as_written = written(stored, saved.checkpoint["channel_values"]["messages"])
            loaded(as_written)
        except Exception as error:  # noqa: BLE001  whatever the serialiser raises is data
            self._session.happened("not stored", f"messages: {self._session.describe(error)}")
        else:
            self._saver.blobs[key] = as_written

    def mark(self, turn: int) -> None:
        """Remember the checkpoint before `turn`."""
        stored = self._saver.get_tuple(self._config)
        self._marks[turn] = None if stored is None else stored.config, self._resumable

    def rewind(self, turn: int, *, pending: bool) -> Base:
        """Go back to the checkpoint before `turn`, with what was still to be done there if `pending`."""
        mark, resumable = self._marks[turn]
        self._resumable = pending and resumable
        if mark is None:
            self._config = self._thread()
            return Base([], self._resumable)
        self._graph.update_state(mark, None, as_node="__copy__")
        self._resumable = self._resumable and bool(self._graph.get_state(self._config).next)
        return Base(convert_to_messages(self._messages()), self._resumable)

    def _messages(self) -> list[Any]:
        """Return the messages of the last checkpoint; `get_state` would also apply what failed after it.

        A checkpoint of a `DeltaChannel` holds what was written since the last whole one.
        """
        if self._agent.wiring.keeps_deltas:
            return list(self._graph.get_state(self._config).values.get("messages", []))
        stored = self._saver.get_tuple(self._config)
        return [] if stored is None else list(stored.checkpoint["channel_values"].get("messages", []))

    def _thread(self) -> Any:
        self._threads += 1
        return {
            "configurable": {"thread_id": f"{self._name}-{self._threads}"},
            "recursion_limit": MAX_SUPERSTEPS,
            "max_concurrency": 1,
        }

    def _run(self, given: Any, stop: StopPoint | None) -> bool:
        self._resumable = False
        self._asked = ()
        loop = self._session.loop
        with _quiet_executor():
            if loop is not None:
                return loop.run(self._arun(given, stop))
            while True:
                for chunk in self._graph.stream(given, self._config, **self.streaming(stop)):
                    self.see(chunk)
                if self._finished(stop):
                    return self._resumable
                given = None

    async def _arun(self, given: Any, stop: StopPoint | None) -> bool:
        while True:
            async for chunk in self._graph.astream(given, self._config, **self.streaming(stop)):
                self.see(chunk)
            if self._finished(stop):
                return self._resumable
            given = None

    def _finished(self, stop: StopPoint | None) -> bool:
        """Tell whether the turn is over, was interrupted, or has come to its stop point."""
        if self._asked:
            self._resumable = True
            return True
        if stop is None or not self._graph.get_state(self._config).next:
            return True
        self._resumable = stop.reached(self._session)
        return self._resumable

    def see(self, chunk: Any) -> None:
        """Take in what the graph streams."""
        self._asked += tuple(chunk.get("__interrupt__", ()))
        if "messages" in chunk and not self._asked:
            self._session.folded(chunk["messages"])
