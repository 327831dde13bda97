"""Supersteps that are not plain: several tasks at once, tools that middleware wraps, odd results, interrupts.

They run the very nodes and writers that `CompiledStateGraph` attached, one task after the other, as
LangGraph's scheduler does with a concurrency of one. Source: `langgraph.pregel._algo.apply_writes` and
`prepare_next_tasks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from langgraph.constants import END
from langgraph.errors import (
    ErrorCode,
    GraphRecursionError,
    ParentCommand,
    create_error_message,
)
from langgraph.types import Command, Interrupt, Send

from ..reviewer import answer
from .surroundings import MAX_SUPERSTEPS, PULL, PUSH, TASKS, Task, Writes

_BRANCH = "branch:to:"


class Mixed(NamedTuple):
    """What runs next when it is not one node, and not only calls of tools."""

    sends: tuple[Send, ...]
    nodes: tuple[str, ...]


Target = str | list[Send] | Mixed


class Halted(NamedTuple):
    """A superstep in which `interrupt()` was called, by the number of the task in it.

    `written` are the writes of the tasks that came to their end, `answers` what `interrupt()` has
    returned so far, `asked` what it asked last.
    """

    written: dict[int, Writes]
    answers: dict[int, list[Any]]
    asked: dict[int, Interrupt]

    def answered(self) -> Halted:
        """Return it with every question answered."""
        answers = {
            place: [*self.answers.get(place, []), answer(question)] for place, question in self.asked.items()
        }
        return Halted(self.written, {**self.answers, **answers}, {})


FRESH = Halted({}, {}, {})


def targets(target: Target) -> Iterable[str]:
    """Return the names of the nodes that run next."""
    if isinstance(target, str):
        return (target,)
    if isinstance(target, list):
        return ("tools",)
    return (*target.nodes, *(send.node for send in target.sends))


def tasks_of(target: Target) -> list[Task]:
    """Return the tasks of a superstep, in the order in which they run: sent ones first."""
    sends = target.sends if isinstance(target, Mixed) else target if isinstance(target, list) else ()
    nodes = target.nodes if isinstance(target, Mixed) else (target,) if isinstance(target, str) else ()
    pushed = [Task(send.node, (PUSH, place, False), send.arg) for place, send in enumerate(sends)]
    return [*pushed, *(Task(name, (PULL, name)) for name in sorted(nodes))]


async def run_task(graph: Any, task: Task, config: Any, state: dict[str, Any], *, run_async: bool) -> None:
    """Run the node of `task`, and its writers, which write where `config` says. Lets errors escape."""
    node = graph.nodes[task.name]
    given = state if task.path[0] == PULL else task.given
    try:
        if run_async:
            await node.node.ainvoke(given, config)
        else:
            node.node.invoke(given, config)
    except ParentCommand as escaped:
        raise _to_parent(escaped) from None


def write_out(graph: Any, name: str, update: Any, config: Any) -> None:
    """Let the writers of the node `name` write what it has returned. Lets errors escape."""
    try:
        for writer in graph.nodes[name].flat_writers:
            writer.invoke(update, config)
    except ParentCommand as escaped:
        raise _to_parent(escaped) from None


def _to_parent(escaped: ParentCommand) -> ParentCommand:
    """Address a command to the parent of the outermost graph, which has no name."""
    command = escaped.args[0]
    return ParentCommand(replace(command, graph="")) if command.graph == Command.PARENT else escaped


def in_order(tasks: list[Task], written: dict[int, Writes]) -> Writes:
    """Return the writes of a superstep in the order in which they are applied."""
    places = sorted(range(len(tasks)), key=lambda place: tasks[place].order())
    return [write for place in places for write in written[place]]


def following(graph: Any, writes: Writes) -> Target:
    """Return what runs next, from all writes of a superstep."""
    nodes = sorted({name.removeprefix(_BRANCH) for name, _ in writes if name.startswith(_BRANCH)})
    nodes = [name for name in nodes if name in graph.nodes]
    sends = [
        value
        for name, value in writes
        if name == TASKS and isinstance(value, Send) and value.node in graph.nodes
    ]
    if not sends:
        return END if not nodes else nodes[0] if len(nodes) == 1 else Mixed((), tuple(nodes))
    if not nodes and all(send.node == "tools" for send in sends):
        return sends
    return Mixed(tuple(sends), tuple(nodes))


def out_of_steps() -> GraphRecursionError:
    """Return the error of a turn that takes too many supersteps, in LangGraph's words."""
    return GraphRecursionError(
        create_error_message(
            message=f"Recursion limit of {MAX_SUPERSTEPS} reached without hitting a stop condition. You "
            "can increase the limit by setting the `recursion_limit` config key.",
            error_code=ErrorCode.GRAPH_RECURSION_LIMIT,
        )
    )
