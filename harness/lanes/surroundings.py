"""What a node finds around it: the config and runtime that LangGraph's scheduler would give it.

Hooks reach them by `get_config()`, `get_stream_writer()`, `interrupt()` or their `runtime` argument.
Source: `langgraph.pregel._algo.prepare_single_task` and `langgraph.pregel._retry.run_with_retry`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.runnables.config import RunnableConfig
from langgraph._internal._config import ensure_config
from langgraph.pregel._algo import local_read
from langgraph.runtime import Runtime

try:
    from langgraph.runtime import ExecutionInfo
except ImportError:  # LangGraph before 1.1 has none
    ExecutionInfo = None  # type: ignore[assignment,misc]

#: Supersteps a turn may take, in both lanes.
MAX_SUPERSTEPS = 500

#: The names under which LangGraph keeps its own things in a config (`langgraph._internal._constants`).
PULL, PUSH, TASKS = "__pregel_pull", "__pregel_push", "__pregel_tasks"
_RUNTIME, _SEND, _READ = "__pregel_runtime", "__pregel_send", "__pregel_read"
_READ_STATE, _SCRATCHPAD, _TASK = "__pregel_read_state", "__pregel_scratchpad", "__pregel_task_id"

_PARENT_RUN = UUID(int=1)

Writes = list[tuple[str, Any]]


class Task(NamedTuple):
    """One node that runs in a superstep; `given` is its input, None when it reads the state."""

    name: str
    path: tuple[Any, ...]
    given: Any = None

    def order(self) -> tuple[Any, ...]:
        """Return where its writes come among those of the superstep (`task_path_str`)."""
        return self.path[:2]


#: LangGraph's own; it looks at the writes of a task alone, which need not be one of LangGraph's own.
_read: Any = local_read


class _Written(NamedTuple):
    """The part of a task that `local_read` looks at."""

    writes: Writes


class _Counter:
    """Counts from zero, and can be set back."""

    __slots__ = ("next",)

    def __init__(self) -> None:
        self.next = 0

    def __call__(self) -> int:
        self.next += 1
        return self.next - 1


def _no_resume(consume: bool = False) -> None:
    """Say that no answer is waiting that belongs to no task."""


@dataclass(slots=True)
class _Scratchpad:
    """What `interrupt()` counts on (`langgraph._internal._scratchpad.PregelScratchpad`)."""

    step: int = 0
    stop: int = MAX_SUPERSTEPS
    call_counter: _Counter = field(default_factory=_Counter)
    interrupt_counter: _Counter = field(default_factory=_Counter)
    get_null_resume: Callable[..., Any] = _no_resume
    resume: list[Any] = field(default_factory=list)
    subgraph_counter: _Counter = field(default_factory=_Counter)


def _task_id(fork: int, step: int, place: int) -> str:
    return f"{fork:08x}-0000-4000-{place:04x}-{step:012x}"


class Setting(NamedTuple):
    """What all tasks of a thread share: the config of the invocation and the runtime."""

    config: RunnableConfig
    runtime: Runtime[Any]


def setting_of(graph: Any, thread: str, *, run_async: bool) -> Setting:
    """Return the setting of invocations of `graph` in `thread`."""
    config = ensure_config(
        graph.config,
        {
            "configurable": {"thread_id": thread},
            "recursion_limit": MAX_SUPERSTEPS,
            "max_concurrency": 1,
        },
    )
    if not config.get("tags"):
        config.pop("tags", None)  # LangGraph leaves it out when there are none
    manager = AsyncCallbackManager if run_async else CallbackManager
    config["callbacks"] = manager(handlers=[], parent_run_id=_PARENT_RUN)
    runtime: Runtime[Any] = Runtime()
    if ExecutionInfo is not None:
        task = _task_id(0, 0, 0)
        info = ExecutionInfo(checkpoint_id=task, checkpoint_ns=task, task_id=task, thread_id=thread)
        runtime = replace(runtime, execution_info=info)
    return Setting(config, runtime)


class Surroundings:
    """Makes the configs of one history's tasks.

    `fork` counts how often the history went back: task ids are never used twice. `channels` gives the
    channels as they are; `sent` are the writes that the running node made through its config.
    """

    def __init__(self, graph: Any, setting: Setting, channels: Callable[[], dict[str, Any]]) -> None:
        self._graph = graph
        self._channels = channels
        self.sent: Writes = []
        self._base = setting.config
        self.runtime = setting.runtime
        self.fork = 0
        self._scratchpad = _Scratchpad()
        self._configs: dict[str, RunnableConfig] = {}

    def enter(self, name: str, step: int) -> RunnableConfig:
        """Return the config of the node `name`, which runs alone in superstep number `step`.

        The same object is handed out again for the same node: this is the fast path.
        """
        config = self._configs.get(name)
        if config is None:
            config = self._configs[name] = self._config(Task(name, (PULL, name)), self._scratchpad)
            config["configurable"].update({_SEND: self.sent.extend, _READ: self._read})
        task = _task_id(self.fork, step, 0)
        metadata, own = config["metadata"], config["configurable"]
        metadata["langgraph_step"] = step
        metadata["langgraph_checkpoint_ns"] = own["checkpoint_ns"] = f"{name}:{task}"
        own[_TASK] = task
        self._scratchpad.interrupt_counter.next = 0
        return config

    def of_task(
        self,
        task: Task,
        step: int,
        place: int,
        channels: dict[str, Any],
        writes: Writes,
        answers: list[Any],
    ) -> RunnableConfig:
        """Return the config of a task that writes to `writes`; `place` is its number in the superstep.

        `answers` are what `interrupt()` returns in it, one after the other.
        """
        scratchpad = _Scratchpad(step=step, resume=answers)
        config = self._config(task, scratchpad)
        name = _task_id(self.fork, step, place)
        config["metadata"]["langgraph_step"] = step
        config["metadata"]["langgraph_checkpoint_ns"] = f"{task.name}:{name}"
        config["configurable"].update(
            {
                _TASK: name,
                "checkpoint_ns": f"{task.name}:{name}",
                _SEND: writes.extend,
                _READ: partial(_read, scratchpad, channels, {}, _Written(writes)),
                _READ_STATE: None,
            }
        )
        if task.path[0] == PUSH:
            wanted = self._graph.nodes[task.name].channels
            config["configurable"][_READ_STATE] = lambda: {
                key: channels[key].get() for key in wanted if channels[key].is_available()
            }
        return config

    def _read(self, select: Any, fresh: bool = False) -> Any:
        return _read(self._scratchpad, self._channels(), {}, _Written(self.sent), select, fresh)

    def _config(self, task: Task, scratchpad: _Scratchpad) -> RunnableConfig:
        pulled = task.path[0] == PULL
        node = self._graph.nodes[task.name]
        return {
            **self._base,
            "metadata": {
                **self._base["metadata"],
                "langgraph_node": task.name,
                "langgraph_triggers": tuple(sorted(node.triggers)) if pulled else (PUSH,),
                "langgraph_path": task.path,
            },
            "configurable": {
                **self._base["configurable"],
                "checkpoint_id": None,
                "checkpoint_map": {"": _task_id(0, 0, 0)},
                _RUNTIME: self.runtime,
                _SCRATCHPAD: scratchpad,
            },
        }
