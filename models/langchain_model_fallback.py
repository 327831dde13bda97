"""LangChain's installed `ModelFallbackMiddleware`, which asks a second model when the first one fails.

Both models speak the same script.

Source: the installed package `langchain`, `langchain.agents.middleware.ModelFallbackMiddleware`.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents.middleware import ModelFallbackMiddleware

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Fall back on a second model."""
    return [ModelFallbackMiddleware(environment.model)]


CANDIDATE = Candidate(
    name="langchain.model_fallback",
    build=build,
    source=source("langchain", "ModelFallbackMiddleware"),
    target="langchain.model_fallback",
)
