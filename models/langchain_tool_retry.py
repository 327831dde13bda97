"""LangChain's installed `ToolRetryMiddleware`: calls a failing tool again, and at last answers for it.

The delays between the attempts pass in virtual time; chance is left out of them.

Source: the installed package `langchain`, `langchain.agents.middleware.ToolRetryMiddleware`.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents.middleware import ToolRetryMiddleware

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Try three times, as it does by default."""
    return [ToolRetryMiddleware(jitter=False)]


CANDIDATE = Candidate(
    name="langchain.tool_retry",
    build=build,
    source=source("langchain", "ToolRetryMiddleware"),
    target="langchain.tool_retry",
)
