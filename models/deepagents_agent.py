"""deepagents' installed `create_deep_agent`: a whole agent, with its own prompt, tools and middleware.

Its to-do list, files, sub-agents, summarisation and repair of tool calls are those that it comes with.

Source: the installed package `deepagents`, `deepagents.create_deep_agent`.
"""

from __future__ import annotations

from typing import Any

from deepagents import create_deep_agent

from ..harness.candidate import Candidate, Contract
from ..harness.environment import Environment
from .installed import source


def build(environment: Environment) -> list[Any]:
    """Compile it with the scripted model and the one tool of ours that the script can call."""
    return [
        create_deep_agent(
            model=environment.model,
            tools=list(environment.tools),
            checkpointer=environment.checkpointer,
        )
    ]


CANDIDATE = Candidate(
    name="deepagents.create_deep_agent",
    build=build,
    contract=Contract(edits_requests=True),
    source=source("deepagents", "create_deep_agent"),
    target="deepagents.create_deep_agent",
)
