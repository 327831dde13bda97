"""deepagents' `PatchToolCallsMiddleware`, any version."""

from __future__ import annotations

from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware

from sixfold.harness.candidate import Candidate, Contract, Middleware
from sixfold.harness.environment import Environment


def build(environment: Environment) -> list[Middleware]:
    return [PatchToolCallsMiddleware()]


CANDIDATE = Candidate(
    name="patch-tool-calls", build=build, contract=Contract(), source="deepagents, installed"
)
