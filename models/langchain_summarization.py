"""LangChain's installed `SummarizationMiddleware`, with thresholds that short histories meet.

Source: the installed package `langchain`, `langchain.agents.middleware.SummarizationMiddleware`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from langchain.agents.middleware import SummarizationMiddleware

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.plain import PlainTarget


def build(environment: Environment) -> Sequence[Middleware]:
    """Summarise from five messages on and keep two."""
    return [SummarizationMiddleware(environment.model, trigger=("messages", 5), keep=("messages", 2))]


CANDIDATE = Candidate(
    name="langchain.summarization",
    build=build,
    contract=Contract(compacts=True),
    source=f"langchain {version('langchain')} SummarizationMiddleware, installed",
    target="langchain.summarization",
    plain=PlainTarget(
        "langchain.agents.middleware",
        "SummarizationMiddleware",
        (("", "environment.model"), ("trigger", "('messages', 5)"), ("keep", "('messages', 2)")),
    ),
)
