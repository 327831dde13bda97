"""deepagents' installed `FilesystemMiddleware`, which evicts long messages to files in the agent's state.

Source: the installed package `deepagents`, `deepagents.middleware.FilesystemMiddleware`. By its
documentation it "automatically evicts large tool results to the file system when they exceed a token
threshold", and shows a preview of long user messages in their place. The limits are lowered so that the
longest drawn texts exceed them.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepagents.backends import StateBackend
from deepagents.middleware import FilesystemMiddleware

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Evict tool results and user messages of more than twenty tokens (eighty characters)."""
    return [
        FilesystemMiddleware(
            backend=StateBackend(),
            tool_token_limit_before_evict=20,
            human_message_token_limit_before_evict=20,
        )
    ]


CANDIDATE = Candidate(
    name="deepagents.filesystem",
    build=build,
    contract=Contract(edits_requests=True, clears_tool_results=True),
    source=source("deepagents", "FilesystemMiddleware"),
    target="deepagents.filesystem",
)
