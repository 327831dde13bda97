"""langchain's `ToolCallLimitMiddleware`, any version: one call a run, then the end."""

from __future__ import annotations

from langchain.agents.middleware import ToolCallLimitMiddleware

from sixfold.harness.candidate import Candidate, Middleware
from sixfold.harness.environment import Environment


def build(environment: Environment) -> list[Middleware]:
    return [ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")]


CANDIDATE = Candidate(name="tool-call-limit", build=build, source="langchain, installed")
