"""langmem's `summarize_messages`, behind the two hooks that its `SummarizationNode` stands for.

The running summary is kept in the state and the summarised messages are what the model sees; history is
left as it was. Tokens are counted by the harness, so that short histories meet the threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
from langmem.short_term import summarize_messages

from sixfold.harness.candidate import Candidate, Contract, Middleware
from sixfold.harness.environment import Environment


class State(AgentState[Any]):
    running_summary: NotRequired[Any]
    shown: NotRequired[Any]


class LangmemSummarization(AgentMiddleware[Any, Any, Any]):
    state_schema = State

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        result = summarize_messages(
            state["messages"],
            running_summary=state.get("running_summary"),
            model=self._environment.model,
            max_tokens=60,
            max_tokens_before_summary=40,
            max_summary_tokens=20,
            token_counter=self._environment.token_counter,
        )
        return {"running_summary": result.running_summary, "shown": result.messages}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        return handler(request.override(messages=request.state.get("shown") or request.messages))


def build(environment: Environment) -> list[Middleware]:
    return [LangmemSummarization(environment)]


CANDIDATE = Candidate(
    name="langmem-summarization",
    build=build,
    contract=Contract(compacts=True, edits_requests=True),
    source="langmem, installed",
)
