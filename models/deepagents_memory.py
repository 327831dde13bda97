"""deepagents' installed `MemoryMiddleware`, which reads its memory file from the source of dynamic state.

Source: the installed package `deepagents`, `deepagents.middleware.MemoryMiddleware`. By its documentation
it "loads memory content from configured sources and injects into the system prompt", "only if not already
present in state": memory is read once in a thread, and its prompt says that it may be outdated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepagents.backends.protocol import BackendProtocol, FileDownloadResponse
from deepagents.middleware import MemoryMiddleware

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .installed import source


class StateAsFiles(BackendProtocol):  # type: ignore[misc]
    """A backend in which every file holds the dynamic state of the environment."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def download_files(self, paths: list[str]) -> list[Any]:
        """Read the state for each path; fails as the source fails."""
        return [
            FileDownloadResponse(path=path, content=self._environment.state.read().encode()) for path in paths
        ]


def build(environment: Environment) -> Sequence[Middleware]:
    """Load one memory file."""
    return [MemoryMiddleware(backend=StateAsFiles(environment), sources=["/AGENTS.md"])]


CANDIDATE = Candidate(
    name="deepagents.memory",
    build=build,
    contract=Contract(edits_requests=True, freezes_state=True),
    source=source("deepagents", "MemoryMiddleware"),
    target="deepagents.memory",
)
