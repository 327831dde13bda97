"""deer-flow's summarization, re-created from its public behaviour, and the stack of its context middleware.

The summary is kept beside the messages, in `summary_text`, and shown to the model for each request; it
is never a message of the history. An error or a blank summary leaves everything as it was.

Source: bytedance/deer-flow, `DeerFlowSummarizationMiddleware`, at f1f4af99b (2026-08-22), rule D8. It derives
from LangChain's, and so does the cut: by count, moved to the calling message where it would part a call from
its results. Thresholds are counted in messages here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.faults import DEFAULT_WORLD
from .deerflow import CONTRACT as DYNAMIC_CONTEXT
from .deerflow import DynamicContextMiddleware, is_reminder
from .deerflow_durable import DELEGATING, DurableContext, DurableState
from .deerflow_repair import DanglingCallRepair, RepairFlaw, SystemCoalescing, calls_of
from .flaws import Flaw

#: Where a cut may land: on a message that parts no call from its results, or wherever the count says.
Cut = Literal["pair", "count"]


def beside_no_result(messages: Sequence[BaseMessage], cutoff: int) -> int:
    """Return the cut that parts no call from its results, as LangChain finds it.

    A cut before results moves back to the nearest message that made one of their calls, and forward past
    them when there is none.
    """
    end = cutoff
    answered = set()
    while end < len(messages) and isinstance(message := messages[end], ToolMessage):
        answered.add(message.tool_call_id)
        end += 1
    calling = (i for i in reversed(range(cutoff)) if answered & set(calls_of(messages[i])))
    return next(calling, end) if answered else cutoff


class Summarization(Middleware):
    """Summarises old messages into `summary_text` (rule D8).

    From `trigger` messages on, all but about `keep` are summarised; `cut` says where the cut may land.
    Without `keep_request` the user's request is lost when it lies before the cut (the public bug #4882);
    with `commit_failures` an error's text becomes the summary (the public bug #3887).
    """

    state_schema = DurableState

    def __init__(
        self,
        environment: Environment,
        *,
        trigger: int = 5,
        keep: int = 2,
        cut: Cut = "pair",
        keep_request: bool = True,
        commit_failures: bool = False,
    ) -> None:
        self._model = environment.model
        self._trigger = trigger
        self._keep = keep
        self._cut = cut
        self._keep_request = keep_request
        self._commit_failures = commit_failures

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact when there are too many messages."""
        parts = self._partition(state["messages"])
        if parts is None:
            return None
        try:
            summary = str(self._model.invoke(self._prompt(state, parts[0])).text)
        except Exception as error:  # noqa: BLE001  a summary may fail in any way; the turn goes on
            summary = self._failed(error)
        return self._update(summary, parts[1])

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Compact when there are too many messages."""
        parts = self._partition(state["messages"])
        if parts is None:
            return None
        try:
            summary = str((await self._model.ainvoke(self._prompt(state, parts[0]))).text)
        except Exception as error:  # noqa: BLE001  a summary may fail in any way; the turn goes on
            summary = self._failed(error)
        return self._update(summary, parts[1])

    def _failed(self, error: Exception) -> str:
        return f"Error generating summary: {error}" if self._commit_failures else ""

    def _partition(self, messages: list[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]] | None:
        """Return what to summarise and what to keep, None when there is nothing to do."""
        cutoff = self._cutoff(messages) if len(messages) >= self._trigger else 0
        request = self._request(messages)
        rescued = [
            message
            for message in messages[:cutoff]
            if is_reminder(message) or isinstance(message, SystemMessage) or message is request
        ]
        spared = set(map(id, rescued))
        old = [message for message in messages[:cutoff] if id(message) not in spared]
        return (old, [*rescued, *messages[cutoff:]]) if old else None

    def _cutoff(self, messages: Sequence[BaseMessage]) -> int:
        cutoff = max(0, len(messages) - self._keep)
        return cutoff if self._cut == "count" else beside_no_result(messages, cutoff)

    def _request(self, messages: Sequence[BaseMessage]) -> BaseMessage | None:
        """Return the latest real user request, which is kept wherever it stands."""
        if not self._keep_request:
            return None
        real = (m for m in reversed(messages) if isinstance(m, HumanMessage) and not is_reminder(m))
        return next((m for m in real if m.name != "summary"), None)

    def _prompt(self, state: Any, old: Sequence[BaseMessage]) -> str:
        previous = state.get("summary_text") or "(none)"
        lines = "\n".join(f"{message.type}: {message.text}" for message in old)
        return f"Bring the summary up to date.\n\nSummary so far:\n{previous}\n\nNew messages:\n{lines}"

    def _update(self, summary: str, kept: list[BaseMessage]) -> dict[str, Any] | None:
        if not summary.strip():
            return None
        return {
            "summary_text": summary.strip(),
            "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept],
        }


# No fault is a wrap that did not run: no request is made without it.
_WORLD = DEFAULT_WORLD - {"skip"}
_CONTRACT = Contract(compacts=True, edits_requests=True, suffers=_WORLD)
_SOURCE = "bytedance/deer-flow summarization and durable context at f1f4af99b, re-created"


_REPAIRED = replace(_CONTRACT, repairs_tool_calls=True)


def _candidate(name: str, what: str = "", **options: Any) -> Candidate:
    return Candidate(
        name=name,
        build=lambda environment: [DurableContext(), Summarization(environment, **options)],
        contract=_CONTRACT,
        source=_SOURCE + what,
        target=name,
    )


def _cut_by_count(name: str, what: str, flaw: RepairFlaw | None) -> Candidate:
    """Return a repair in front of a summarization that leaves results without their calls."""
    return Candidate(
        name=name,
        build=lambda environment: [
            DanglingCallRepair(flaw=flaw),
            DurableContext(),
            Summarization(environment, cut="count"),
        ],
        contract=_REPAIRED,
        source=f"{_SOURCE}, over a cut by count{what}",
        target=name,
    )


def _stack(name: str, what: str, delegating: frozenset[str]) -> Candidate:
    return Candidate(
        name=name,
        build=lambda environment: [
            DanglingCallRepair(),
            DynamicContextMiddleware(environment),
            DurableContext(delegating=delegating),
            Summarization(environment),
            SystemCoalescing(),
        ],
        contract=replace(
            _REPAIRED,
            injects_into_history=True,
            freezes_state=True,
            id_swap=True,
            # The same world as that of the dynamic context alone, which takes `__user` for its own suffix.
            outside=DYNAMIC_CONTEXT.outside,
        ),
        source=f"bytedance/deer-flow's five context middleware at f1f4af99b, re-created in their order{what}",
        target=name,
    )


DEERFLOW_SUMMARIZATION = _candidate("deerflow.summarization")
DEERFLOW_3887 = _candidate(
    "deerflow-3887", "; failures as before pull request #3887", trigger=3, keep=1, commit_failures=True
)
DEERFLOW_4882 = _candidate("deerflow-4882", "; the request as before pull request #4882", keep_request=False)
DEERFLOW_4080 = _cut_by_count("deerflow-4080", "; orphan results as before pull request #4080", "4080")
DEERFLOW_STACK = _stack("deerflow.stack", "", DELEGATING)
DEERFLOW_DELEGATING = _stack(
    "deerflow.delegating", ", where each tool call delegates work", DELEGATING | {"lookup"}
)

FLAWS = (
    Flaw(
        candidate=DEERFLOW_4080,
        correct=_cut_by_count("deerflow.count-cut", "", None),
        codes=("4.orphan-result",),
        origin="bytedance/deer-flow #4080: results without a call stay in the request",
    ),
    Flaw(
        candidate=DEERFLOW_3887,
        correct=_candidate("deerflow.early-summarization", trigger=3, keep=1),
        codes=("5.failed-summary-committed",),
        origin="bytedance/deer-flow #3887: the text of an error becomes the summary",
    ),
    Flaw(
        candidate=DEERFLOW_4882,
        correct=DEERFLOW_SUMMARIZATION,
        codes=("3.stale-question",),
        origin="bytedance/deer-flow #4882: the current request is summarised away",
    ),
)
