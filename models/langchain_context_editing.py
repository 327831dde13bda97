"""LangChain's installed `ContextEditingMiddleware`, with a trigger that short histories meet.

Source: the installed package `langchain`, `langchain.agents.middleware.ContextEditingMiddleware`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.plain import PlainTarget


def build(environment: Environment) -> Sequence[Middleware]:
    """Clear all but the newest tool result from forty tokens on."""
    return [ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=40, keep=1)])]


CANDIDATE = Candidate(
    name="langchain.context_editing",
    build=build,
    contract=Contract(edits_requests=True, clears_tool_results=True),
    source=f"langchain {version('langchain')} ContextEditingMiddleware, installed",
    target="langchain.context_editing",
    plain=PlainTarget(
        "langchain.agents.middleware",
        "ContextEditingMiddleware",
        (("edits", "[ClearToolUsesEdit(trigger=40, keep=1)]"),),
    ),
)
