"""LangChain's installed call limits, low enough to be met within a turn.

Source: the installed package `langchain`, `langchain.agents.middleware.ToolCallLimitMiddleware` and
`ModelCallLimitMiddleware`. By their documentation the first answers calls over its limit with an error,
and lets the others run; the second ends the turn with a message that says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from .installed import source


def limit_tools(environment: Environment) -> Sequence[Middleware]:
    """Let two tool calls run in a turn."""
    return [ToolCallLimitMiddleware(run_limit=2)]


def limit_models(environment: Environment) -> Sequence[Middleware]:
    """Let the model be called twice in a turn."""
    return [ModelCallLimitMiddleware(run_limit=2)]


TOOL_CALLS = Candidate(
    name="langchain.tool_call_limit",
    build=limit_tools,
    source=source("langchain", "ToolCallLimitMiddleware"),
    target="langchain.tool_call_limit",
)

MODEL_CALLS = Candidate(
    name="langchain.model_call_limit",
    build=limit_models,
    source=source("langchain", "ModelCallLimitMiddleware"),
    target="langchain.model_call_limit",
)
