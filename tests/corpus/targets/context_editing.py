"""langchain's `ContextEditingMiddleware`, any version: clear all but the newest result."""

from __future__ import annotations

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

from sixfold.harness.candidate import Candidate, Contract, Middleware
from sixfold.harness.environment import Environment


def build(environment: Environment) -> list[Middleware]:
    """From ten tokens on, keep one result."""
    return [ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=10, keep=1)])]


CANDIDATE = Candidate(
    name="context-editing",
    build=build,
    contract=Contract(edits_requests=True, clears_tool_results=True),
    source="langchain, installed",
)
