"""langmem's installed `SummarizationNode` as a `pre_model_hook`, with thresholds that short histories meet.

Source: the installed package `langmem`, `langmem.short_term.SummarizationNode`. By its documentation it
summarises messages "when they exceed a token limit"; with `llm_input_messages` as its output the history
stays, and the model is shown the summary and what came after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from langmem.short_term import SummarizationNode

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.nodes import as_middleware
from .installed import source


def build(environment: Environment) -> Sequence[Middleware]:
    """Summarise from forty tokens on, and show the model at most sixty."""
    node = SummarizationNode(
        model=environment.model,
        max_tokens=60,
        max_tokens_before_summary=40,
        max_summary_tokens=20,
        token_counter=environment.token_counter,
        output_messages_key="llm_input_messages",
    )
    return [as_middleware(node)]


CANDIDATE = Candidate(
    name="langmem.summarization",
    build=build,
    contract=Contract(edits_requests=True),
    source=source("langmem", "SummarizationNode"),
    target="langmem.summarization",
)
