"""LangChain's installed `TodoListMiddleware`: a tool, and a system prompt that explains it.

Source: the installed package `langchain`, `langchain.agents.middleware.TodoListMiddleware`; by its
documentation it "automatically injects system prompts". The scripted model never calls its tool, so what
is tested is the way that the prompt enters requests.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents.middleware import TodoListMiddleware

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Add the to-do list as it is."""
    return [TodoListMiddleware()]


CANDIDATE = Candidate(
    name="langchain.todo",
    build=build,
    contract=Contract(edits_requests=True),
    source=source("langchain", "TodoListMiddleware"),
    target="langchain.todo",
)
