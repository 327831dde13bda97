"""langchain-core's installed `trim_messages` as a `pre_model_hook`: the model sees the newest messages only.

Source: the installed package `langchain-core`, `langchain_core.messages.trim_messages`, with the options
that LangGraph's documentation of short-term memory gives it in a `pre_model_hook`. By its documentation
it keeps the last messages that fit, from a user message on; what is older is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import trim_messages

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.nodes import as_middleware
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Show the model the newest eighty tokens, from a user message on."""

    def trim(state: Any) -> dict[str, Any]:
        kept = trim_messages(
            state["messages"],
            strategy="last",
            token_counter=environment.token_counter,
            max_tokens=80,
            start_on="human",
            end_on=("human", "tool"),
            include_system=True,
        )
        return {"llm_input_messages": kept}

    return [as_middleware(trim)]


CANDIDATE = Candidate(
    name="langchain_core.trim_messages",
    build=build,
    contract=Contract(edits_requests=True, drops_history=True),
    source=source("langchain-core", "trim_messages"),
    target="langchain_core.trim_messages",
)
