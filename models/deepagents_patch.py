"""deepagents' installed `PatchToolCallsMiddleware`: answers in history what was left without an answer.

Source: the installed package `deepagents`, `deepagents.middleware.PatchToolCallsMiddleware`, by its
documentation "middleware to patch dangling tool calls in the messages history". It does so before the
agent runs and not for each request, so it does not promise what `repairs_tool_calls` stands for.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Patch as it does by default."""
    return [PatchToolCallsMiddleware()]


CANDIDATE = Candidate(
    name="deepagents.patch_tool_calls",
    build=build,
    source=source("deepagents", "PatchToolCallsMiddleware"),
    target="deepagents.patch_tool_calls",
)
