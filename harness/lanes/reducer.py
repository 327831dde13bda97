"""The reducer lane: the agent's own nodes, edges and channels, without LangGraph's scheduler.

Node functions, routing functions and channels are the very objects that `create_agent` built, so
hook order, wrapping and folding are the library's; only the loop around them is ours, and the call of
a model that nothing wraps. It is written once, as coroutines that never suspend in a synchronous run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from langchain_core.messages import convert_to_messages
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.constants import END, START
from langgraph.errors import GraphInterrupt
from langgraph.types import Send

from ..agent import Agent
from ..loop import run_sync
from ..reviewer import question_of
from ..session import Session
from ..steps import Stored
from .channel_state import ChannelState
from .plain import calls_of, is_scripted, plain_writes
from .stopping import Base, StopPoint
from .supersteps import (
    FRESH,
    Halted,
    Target,
    following,
    in_order,
    out_of_steps,
    run_task,
    targets,
    tasks_of,
    write_out,
)
from .surroundings import MAX_SUPERSTEPS, PULL, Surroundings, Task, Writes

#: The number of the last superstep before a thread has begun.
_NOT_BEGUN = -2

#: The node that calls the model.
MODEL = "model"


class _Mark(NamedTuple):
    """The state before a turn: channels, the last superstep's number, and what was still to be done.

    LangGraph copies a checkpoint to go back to it, without what was written after it: a superstep that was
    interrupted begins anew there, and asks again.
    """

    channels: dict[str, Any]
    step: int
    pending: Target | None


class ReducerLane:
    """Drives one history by calling nodes and folding their writes, superstep by superstep."""

    def __init__(self, agent: Agent, session: Session, *, thread: str = "history") -> None:
        self._agent = agent
        self._session = session
        self._wiring = agent.wiring
        self._state = ChannelState(self._wiring, self._not_stored)
        self._pending: Target | None = None
        self._halted: Halted | None = None
        self._resumable = False
        self._marks: dict[int, _Mark] = {}
        self._step = _NOT_BEGUN
        self._name = thread
        self._threads = 0
        self._forks = 0
        self._around: dict[bool, Surroundings] = {}
        self._new_thread()
        self._here = self._surroundings()

    def submit(self, messages: list[Any], stop: StopPoint | None = None) -> bool:
        """Run the agent on new messages; lets errors escape. Returns whether it was stopped."""
        self._begin_anew()
        self._state.part_messages(self._session.handed.parted)
        self._step += 1
        return self._run(self._commit([("messages", list(messages))], START), stop)

    @property
    def asks(self) -> bool:
        """Whether the turn was stopped by questions."""
        return self._halted is not None

    def resume(self) -> bool:
        """Go on from where the turn was stopped or failed, or from the start; return whether it stopped."""
        if self._resumable and self._pending is not None:
            target, halted = self._pending, self._halted
            self._begin_anew()
            self._halted = None if halted is None else halted.answered()
            return self._run(target, None)
        return self.submit([])

    def fail(self, *, resumable: bool) -> None:
        """Remember that a turn was aborted, and whether it may be resumed."""
        self._resumable = resumable

    def update(self, value: Any) -> None:
        """Fold a client's write to `messages` into state."""
        self._begin_anew()
        self._step = max(self._step, _NOT_BEGUN + 1)
        self._commit([("messages", value)])

    def restart(self, stored: Stored = "now") -> None:
        """Renew the middleware and send every channel through the checkpoint serialiser."""
        self._state.reload("now" if self._resumable else stored, self._session.lines)
        self._agent.renew(self._session)

    def mark(self, turn: int) -> None:
        """Remember the state before `turn`."""
        to_do = self._pending if self._resumable else None
        self._marks[turn] = _Mark(self._state.copied(), self._step, to_do)

    def rewind(self, turn: int, *, pending: bool) -> Base:
        """Go back to the state before `turn`, with what was still to be done there if `pending`."""
        mark = self._marks[turn]
        self._step = mark.step
        self._forks += 1
        self._state.go_back(mark.channels)
        if self._step == _NOT_BEGUN:
            self._new_thread()
        else:
            self._step += 1
        self._begin_anew()
        if pending and mark.pending is not None:
            self._pending, self._resumable = mark.pending, True
        return Base(convert_to_messages(self._state.values["messages"]), self._resumable)

    def _new_thread(self) -> None:
        self._threads += 1
        self._around.clear()

    def _not_stored(self, name: str, error: Exception) -> None:
        self._session.happened("not stored", f"{name}: {self._session.describe(error)}")

    def _begin_anew(self) -> None:
        """Forget what the last invocation left unfinished, and read the state from storage."""
        self._pending = None
        self._halted = None
        self._resumable = False
        self._state.begin_anew()

    def _surroundings(self) -> Surroundings:
        run_async = self._session.loop is not None
        if run_async not in self._around:
            setting = self._wiring.setting(f"{self._name}-{self._threads}", run_async=run_async)
            self._around[run_async] = Surroundings(self._agent.graph, setting, lambda: self._state.channels)
        self._around[run_async].fork = self._forks
        return self._around[run_async]

    def _run(self, current: Target, stop: StopPoint | None) -> bool:
        self._here, loop = self._surroundings(), self._session.loop
        if loop is None or not self._agent.interposers:
            outside = var_child_runnable_config.set(None)
            try:
                return run_sync(self._walk(current, stop))
            finally:
                var_child_runnable_config.reset(outside)
        return loop.run(self._walk(current, stop))

    async def _walk(self, current: Target, stop: StopPoint | None) -> bool:
        was_tools = False
        for _ in range(MAX_SUPERSTEPS):
            if stop is not None and self._stops(current, was_tools, stop):
                self._pending = current
                self._resumable = True
                return True
            if current == END:
                self._pending = None
                return False
            self._pending = current
            was_tools = current != MODEL and "tools" in targets(current)
            try:
                current = await self._superstep(current)
            except GraphInterrupt as asked:
                self._halted = self._halted or Halted({}, {}, {0: question_of(asked)})
                self._resumable = True
                return True
        raise out_of_steps()

    def _stops(self, current: Target, was_tools: bool, stop: StopPoint) -> bool:
        here = {
            "before_answer": MODEL in targets(current),
            "after_calls": "tools" in targets(current),
            "after_results": was_tools and current != END,
        }
        if not here[stop.where]:
            return False
        if stop.reached(self._session):
            return True
        self._state.begin_anew()  # the agent is interrupted here each time, and goes on at once
        return False

    async def _superstep(self, current: Target) -> Target:
        if self._halted is not None:
            return await self._scheduled(current)
        if isinstance(current, list):
            calls = [call for send in current for call in calls_of(send)]
            if self._wiring.wraps_tools or not all(map(is_scripted, calls)):
                return await self._scheduled(current)
            results = [self._session.tool_result(call["args"]["token"], call["id"]) for call in calls]
            if self._wiring.folds_together:
                return self._commit([("messages", results)], "tools")
            return self._commit([("messages", [result]) for result in results], "tools")
        values = self._state.values
        plain = self._wiring.plain_model
        if plain is not None and current == MODEL:
            writes = plain.writes(values["messages"], self._session)
            if writes is not None:
                return self._commit(writes, MODEL)
        node = self._wiring.nodes.get(current) if isinstance(current, str) else None
        if node is None:
            return await self._scheduled(current)
        here = self._here
        here.sent.clear()
        config = here.enter(node.name, self._step + 1)
        var_child_runnable_config.set(config)
        state = {name: values[name] for name in node.fields if name in values}
        if "runtime" in node.wanted and len(node.wanted) == 1:
            supplied = {"runtime": here.runtime}
        else:
            given: dict[str, Any] = {"runtime": here.runtime, "config": config, "store": None}
            supplied = {name: given[name] for name in node.wanted}
        if self._session.loop is not None and node.afunc is not None:
            update = await node.afunc(state, **supplied)
        elif node.func is not None:
            update = node.func(state, **supplied)
        else:
            update = node.runnable.invoke(state, config)
        writes = plain_writes(update, self._state.channels)
        if writes is None:
            return self._odd(node.name, update)
        if here.sent:
            known_writes = [write for write in here.sent if write[0] in self._state.channels]
            return self._commit([*known_writes, *writes], node.name)
        return self._commit(writes, node.name)

    def _odd(self, name: str, update: Any) -> Target:
        """Let the node's own writers say what a result that is not plain writes, and what follows."""
        writes: Writes = list(self._here.sent)
        config = self._here.of_task(
            Task(name, (PULL, name)), self._step + 1, 0, self._state.channels, writes, []
        )
        write_out(self._agent.graph, name, update, config)
        return self._commit_all(writes)

    async def _scheduled(self, current: Target) -> Target:
        """Run a superstep task by task, on the event loop when there is one."""
        loop, work = self._session.loop, self._mixed(current)
        return await work if loop is None or loop.is_running() else loop.run(work)

    async def _mixed(self, current: Target) -> Target:
        """Run a superstep as LangGraph's scheduler does, task by task; one that is halted goes on."""
        halted, self._halted = self._halted or FRESH, None
        run_async = self._session.loop is not None
        graph, state, tasks = self._agent.graph, dict(self._state.values), tasks_of(current)
        written, asked = dict(halted.written), {}
        for place, task in enumerate(tasks):
            if place in written:
                continue
            writes: Writes = []
            answers = list(halted.answers.get(place, ()))
            config = self._here.of_task(task, self._step + 1, place, self._state.channels, writes, answers)
            try:
                await run_task(graph, task, config, state, run_async=run_async)
            except GraphInterrupt as stop:
                asked[place] = question_of(stop)
            else:
                written[place] = writes
        if asked:
            self._halted = Halted(written, halted.answers, asked)
            raise GraphInterrupt
        return self._commit_all(in_order(tasks, written))

    def _commit_all(self, writes: Writes) -> Target:
        """Fold the writes of a superstep that is not plain; return what follows from them."""
        self._commit([write for write in writes if write[0] in self._state.channels], "")
        return following(self._agent.graph, writes)

    def _commit(self, writes: Writes, node: str | None = None) -> Target:
        """Fold writes and return what follows `node`, if it has a name; after an error, nothing stays.

        Without a node the writes are the client's.
        """
        state = self._state
        before = state.values
        try:
            state.fold(writes)
            if node not in self._wiring.trusted:
                state.check_storable(writes)
            target = self._after(node) if node else END
        except BaseException:
            state.undo(before)
            raise
        self._step += 1
        for name, _ in writes:
            if name in self._wiring.outputs:
                self._session.folded(state.values["messages"])
                break
        return target

    def _after(self, node: str) -> Target:
        branch = self._wiring.branches.get(node)
        if branch is None:
            return self._wiring.next[node]
        path, ends = branch
        chosen: Any = path(self._state.values)
        if isinstance(chosen, list) and chosen and isinstance(chosen[0], Send):
            return chosen
        if isinstance(chosen, list):
            chosen = chosen[0]
        target: str = ends[chosen] if ends else chosen
        return target
