"""Places in somebody else's graph: which node runs, and what findings call it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from langchain_core.runnables.config import var_child_runnable_config

#: LangGraph writes on an error which task raised it (`langgraph.pregel._retry`).
_TASK = re.compile(r"During task with name '(.+?)' and id")


class Place(NamedTuple):
    """Where a model is called: the node (nested ones joined by `|`), and how the model was bound there.

    `form` is `tools` when it was offered tools, `settings` when other things were bound, `plain` when
    nothing was, and `structured` when an object of a schema is wanted.
    """

    node: str
    form: str


def running_node() -> str:
    """Return the path of the node that runs now, empty outside of a graph."""
    config = var_child_runnable_config.get() or {}
    own: dict[str, Any] = config.get("configurable") or {}
    # Some callers put metadata of their own in the place of LangGraph's, but nobody touches this.
    checkpoint = str(own.get("checkpoint_ns", ""))
    return "|".join(part.partition(":")[0] for part in checkpoint.split("|"))


def label(node: str) -> str:
    """Return what findings call a node: hooks of middleware as in a stack, others `<node>.node`."""
    top = node.partition("|")[0]
    return top if "." in top else f"{top}.node"


def failed_node(error: BaseException) -> str:
    """Return the label of the node that raised `error`, empty when no node did."""
    notes = " ".join(getattr(error, "__notes__", ()))
    found = _TASK.findall(notes)
    return label(found[-1]) if found else ""
