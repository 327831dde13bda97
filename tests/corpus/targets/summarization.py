"""langchain's `SummarizationMiddleware`, any version, with thresholds that short histories meet.

Before 1.1 the thresholds are called `max_tokens_before_summary` and `messages_to_keep`, and the first
counts tokens; here a message counts as one token, so both mean messages.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware

from sixfold.harness.candidate import Candidate, Contract, Middleware
from sixfold.harness.environment import Environment


def count_messages(messages: Iterable[Any], **_options: Any) -> int:
    return len(list(messages))


def make(model: Any, *, trigger: int, keep: int) -> Middleware:
    if "keep" in inspect.signature(SummarizationMiddleware).parameters:
        return SummarizationMiddleware(model, trigger=("messages", trigger), keep=("messages", keep))
    return SummarizationMiddleware(
        model, max_tokens_before_summary=trigger, messages_to_keep=keep, token_counter=count_messages
    )


def keeps_two(environment: Environment) -> list[Middleware]:
    """Summarise from five messages on and keep two."""
    return [make(environment.model, trigger=5, keep=2)]


class RunsAsync(AgentMiddleware):  # type: ignore[type-arg]
    """Has an asynchronous hook only, so that every session is run asynchronously."""

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        return None


def async_model(environment: Environment) -> list[Middleware]:
    """The same in an asynchronous session, with a summary model that only does async."""
    model = environment.model.model_copy(update={"only_async": True})
    return [RunsAsync(), make(model, trigger=5, keep=2)]


def keeps_reported_usage(environment: Environment) -> list[Middleware]:
    """Summarise when the reported usage says so, and keep about three messages, by tokens."""
    return [
        SummarizationMiddleware(
            environment.model,
            trigger=("tokens", 1000),
            keep=("tokens", 24),
            token_counter=environment.token_counter,
        )
    ]


def _candidate(name: str, build: Any) -> Candidate:
    return Candidate(name=name, build=build, contract=Contract(compacts=True), source="langchain, installed")


KEEPS_TWO = _candidate("summarization", keeps_two)
ASYNC_MODEL = _candidate("summarization-async-model", async_model)
KEEPS_REPORTED_USAGE = _candidate("summarization-usage", keeps_reported_usage)
