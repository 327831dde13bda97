"""LangChain's installed `HumanInTheLoopMiddleware`: someone decides on each tool call.

The decisions are scripted (`harness.reviewer`): a reviewer who may take several of them takes one after the
other. A turn is answered until it is over, unless it is to stop.

Source: the installed package `langchain`, `langchain.agents.middleware.HumanInTheLoopMiddleware`. By its
documentation it pauses the agent before tools run; an edited call is run in place of the model's, and a
rejected one is answered in place of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import HumanInTheLoopMiddleware

from ..harness.candidate import Candidate, Middleware
from ..harness.environment import Environment
from .installed import source


def _deciding(name: str, *decisions: str) -> Candidate:
    """Return the candidate that asks before each lookup, and lets the reviewer take these decisions."""

    def build(_environment: Environment) -> Sequence[Middleware]:
        on: Any = {"lookup": {"allowed_decisions": list(decisions)}}
        return [HumanInTheLoopMiddleware(interrupt_on=on)]

    return Candidate(
        name=name, build=build, source=source("langchain", "HumanInTheLoopMiddleware"), target=name
    )


APPROVES = _deciding("langchain.human_approves", "approve")
EDITS = _deciding("langchain.human_edits", "edit")
REJECTS = _deciding("langchain.human_rejects", "reject")
DECIDES = _deciding("langchain.human_decides", "approve", "edit", "reject")
