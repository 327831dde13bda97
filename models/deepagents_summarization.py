"""deepagents' installed `SummarizationMiddleware`, with thresholds that short histories meet.

Source: the installed package `deepagents`, `deepagents.middleware.SummarizationMiddleware`. By its
documentation it condenses history "through a summary event rather than removing raw messages": the state
keeps all messages, and each request is put together from the summary and what came after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from deepagents.backends import StateBackend
from deepagents.middleware import SummarizationMiddleware
from deepagents.middleware.filesystem import FilesystemState

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .installed import source


class FilesInState(Middleware):
    """Gives the state its files, as `FilesystemMiddleware` does, and nothing else: no tools, no prompt."""

    state_schema = FilesystemState


def build(environment: Environment) -> Sequence[Middleware]:
    """Summarise from five messages on and keep two; the files of the agent are kept in its state.

    Tokens are counted as for a model with a window a hundred times as large: the middleware refuses what
    does not fit into it even when summarised, and it is the number of messages that is to trigger it.
    """

    def count(messages: Iterable[Any], **options: Any) -> int:
        return environment.token_counter(messages, **options) // 100

    return [
        FilesInState(),
        SummarizationMiddleware(
            environment.model,
            backend=StateBackend(),
            trigger=("messages", 5),
            keep=("messages", 2),
            token_counter=count,
        ),
    ]


CANDIDATE = Candidate(
    name="deepagents.summarization",
    build=build,
    contract=Contract(edits_requests=True),
    source=source("deepagents", "SummarizationMiddleware"),
    target="deepagents.summarization",
)
