"""LangChain's installed `HumanInTheLoopMiddleware`: someone approves each tool call, or rejects it.

The decisions are scripted: `Continue` takes the first decision that the middleware allows.

Source: the installed package `langchain`, `langchain.agents.middleware.HumanInTheLoopMiddleware`. By its
documentation it pauses the agent before tools run, and a rejected call is answered in place of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents.middleware import HumanInTheLoopMiddleware

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from .installed import source


def approve(environment: Environment) -> Sequence[Middleware]:
    """Ask before each lookup; the answer is yes."""
    return [HumanInTheLoopMiddleware(interrupt_on={"lookup": {"allowed_decisions": ["approve"]}})]


def reject(environment: Environment) -> Sequence[Middleware]:
    """Ask before each lookup; the answer is no."""
    return [HumanInTheLoopMiddleware(interrupt_on={"lookup": {"allowed_decisions": ["reject"]}})]


APPROVES = Candidate(
    name="langchain.human_approves",
    build=approve,
    source=source("langchain", "HumanInTheLoopMiddleware"),
    target="langchain.human_approves",
)

REJECTS = Candidate(
    name="langchain.human_rejects",
    build=reject,
    source=source("langchain", "HumanInTheLoopMiddleware"),
    target="langchain.human_rejects",
)
