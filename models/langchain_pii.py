"""LangChain's installed `PIIMiddleware`, which redacts a word of the drawn texts wherever it may.

Source: the installed package `langchain`, `langchain.agents.middleware.PIIMiddleware`. By its
documentation it replaces what its detector finds "in both user input and agent output", and in tool
results when it is told to.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents.middleware import PIIMiddleware

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .installed import source

#: Places that the filler of every second text of usual length names.
PLACES = r"\b(harbour|meadow|orchard|river)\b"


def build(environment: Environment) -> Sequence[Middleware]:
    """Redact places in what the user says, the model answers and tools return."""
    return [
        PIIMiddleware(
            "place",
            detector=PLACES,
            strategy="redact",
            apply_to_input=True,
            apply_to_output=True,
            apply_to_tool_results=True,
        )
    ]


CANDIDATE = Candidate(
    name="langchain.pii",
    build=build,
    contract=Contract(redacts=True),
    source=source("langchain", "PIIMiddleware"),
    target="langchain.pii",
)
