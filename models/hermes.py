"""Hermes Agent's context compressor, re-created on LangGraph's reducer (rules H1 to H10).

Before a model call that would fill the window, the middle of the history becomes one summary, between a
head and a tail that stay word for word. Outside of that no byte of the history changes (H10). When it runs
is in this file; where it cuts in `hermes_tail`, how the summary is made and placed in `hermes_summary`, what
needs no model in `hermes_prepass`, micro compaction in `hermes_micro`.

Source: hermes-agent 0.19.0 (PyPI), `agent/context_compressor.py`, `ContextCompressor`. Hermes keeps one
compressor a session; here one instance serves all threads, so what it remembers is in the state.
docs/hermes.md says what is left out, and how far this agrees with the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict

from langchain.agents.middleware import AgentState
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import NotRequired

from ..harness.candidate import Middleware
from ..harness.environment import Environment
from .hermes_messages import is_summary, size_of, with_content, with_text
from .hermes_micro import next_exchange, spliced
from .hermes_summary import Plan, SummaryRules, assembled, fallback, is_fatal, plan
from .hermes_tail import TailRules

Update = dict[str, Any]

#: Windows below `SMALL_WINDOW` tokens are filled to this share at least; no threshold is below
#: `LEAST_THRESHOLD`, and where a window leaves no room for that, to `TINY_SHARE` (rule H1).
SMALL_WINDOW = 512_000
SMALL_SHARE = 0.75
LEAST_THRESHOLD = 64_000
TINY_SHARE = 0.85

#: Seconds that nothing is tried after a summary failed (rule H1).
COOLDOWN = 600

#: Compactions in a row without relief, or without a model, after which nothing is tried (rule H1).
IN_VAIN = 2


class Session(TypedDict, total=False):
    """What Hermes remembers of a session beside its messages.

    `compactions` counts those that were made, `ineffective` and `fallbacks` those in a row that brought
    nothing or had no model; `unproven` is a compaction whose effect no model call has shown yet.
    """

    compactions: int
    ineffective: int
    fallbacks: int
    paused_until: float
    previous: str
    unproven: bool


class HermesState(AgentState[Any]):
    """The state with what the compressor remembers."""

    hermes: NotRequired[Session]


def threshold_of(window: int, share: float = 0.5, output: int = 0) -> int:
    """Return the tokens from which on a history in a window of `window` is compacted (rule H1).

    `output` tokens of the window are reserved for the answer.
    """
    usable = window - output if window > output else window
    least = max(share, SMALL_SHARE) if window < SMALL_WINDOW else share
    tokens = max(int(usable * least), LEAST_THRESHOLD)
    if tokens < usable:
        return tokens
    return max(1, min(int(usable * TINY_SHARE), usable - 1))


class HermesCompressor(Middleware):
    """Compacts before a model call (rules H1 to H8); the defaults are Hermes's.

    `window` is the model's, `share` how much of it may be filled, `target` the tail's share of that.
    `after_failure` says what stands in for a summary that failed: Hermes's fallback, nothing (its
    configuration `abort_on_summary_failure`), or the error's text. `remembers` is where the session is
    kept, `quotes_length` rewrites the stored summary at each model call: both are mistakes but for `state`
    and False.
    """

    state_schema = HermesState

    def __init__(
        self,
        environment: Environment,
        *,
        window: int = 200_000,
        share: float = 0.5,
        output: int = 0,
        target: float = 0.2,
        tail: TailRules | None = None,
        rules: SummaryRules | None = None,
        after_failure: Literal["fallback", "abort", "error_text"] = "fallback",
        remembers: Literal["state", "instance"] = "state",
        quotes_length: bool = False,
    ) -> None:
        self._environment = environment
        self.threshold = threshold_of(window, share, output)
        budget = int(self.threshold * min(max(target, 0.1), 0.8))
        self.tail = replace(tail or TailRules(budget=0), budget=budget)
        self._rules = rules or SummaryRules()
        self._after_failure = after_failure
        self._own: Session | None = Session() if remembers == "instance" else None
        self._quotes_length = quotes_length

    # -- when (rule H1) --------------------------------------------------------------------------

    def session_of(self, state: Any) -> Session:
        """Return what is remembered of the session."""
        return state.get("hermes") or Session() if self._own is None else self._own

    def _remember(self, session: Session, **news: Any) -> Update:
        merged: Any = {**session, **news}
        if self._own is not None:
            self._own = merged
            return {}
        return {"hermes": merged}

    def is_due(self, messages: Sequence[BaseMessage], session: Session) -> bool:
        """Tell whether the window is full enough, and nothing speaks against another compaction."""
        if self._tokens(messages) < self.threshold:
            return False
        if self._now() < session.get("paused_until", 0):
            return False
        return session.get("ineffective", 0) < IN_VAIN and session.get("fallbacks", 0) < IN_VAIN

    def _now(self) -> float:
        return self._environment.clock.now().timestamp()

    def _tokens(self, messages: Sequence[BaseMessage]) -> int:
        """Return what the newest answer reports of its prompt; an estimate when it reports nothing."""
        newest = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
        usage = newest.usage_metadata if newest is not None else None
        return usage["input_tokens"] if usage else sum(map(size_of, messages))

    def after_model(self, state: Any, runtime: Any) -> Update | None:
        """Judge the last compaction by the prompt of the answer: did it get under the threshold?"""
        session = self.session_of(state)
        if self._tokens(state["messages"]) < self.threshold:
            news: Update = {"ineffective": 0, "unproven": False}
        elif session.get("unproven"):
            news = {"ineffective": session.get("ineffective", 0) + 1, "unproven": False}
        else:
            return None
        changed = any(session.get(key, 0) != value for key, value in news.items())
        return (self._remember(session, **news) or None) if changed else None

    # -- what (rules H2 to H8) -------------------------------------------------------------------

    def before_model(self, state: Any, runtime: Any) -> Update | None:
        """Compact when it is due."""
        made = self._planned(state)
        if not isinstance(made, Plan):
            return made
        try:
            answer = self._environment.model.invoke(made.prompt())
        except Exception as error:  # noqa: BLE001  a summary may fail in any way; the turn goes on
            return self._failed(state, made, error)
        return self._answered(state, made, str(answer.text))

    async def abefore_model(self, state: Any, runtime: Any) -> Update | None:
        """Compact when it is due."""
        made = self._planned(state)
        if not isinstance(made, Plan):
            return made
        try:
            answer = await self._environment.model.ainvoke(made.prompt())
        except Exception as error:  # noqa: BLE001  a summary may fail in any way; the turn goes on
            return self._failed(state, made, error)
        return self._answered(state, made, str(answer.text))

    def planned(
        self, messages: Sequence[BaseMessage], session: Session, *, forced: bool = False
    ) -> tuple[Plan | None, Session]:
        """Return the compaction to make and the session; a `forced` one clears the cooldown (rule H1)."""
        if forced:
            session = {**session, "paused_until": 0}
        protect_first = (
            0 if session.get("compactions") or session.get("previous") else self._rules.protect_first
        )
        return plan(messages, self.tail, self._rules, session.get("previous", ""), protect_first), session

    def _planned(self, state: Any) -> Plan | Update | None:
        messages: list[BaseMessage] = state["messages"]
        session = self.session_of(state)
        if not self.is_due(messages, session):
            return self._touched(messages)
        made, session = self.planned(messages, session)
        if made is None:
            return self._remember(session, ineffective=session.get("ineffective", 0) + 1) or None
        return made

    def _touched(self, messages: Sequence[BaseMessage]) -> Update | None:
        if not self._quotes_length:
            return None
        stored = next((m for m in messages if is_summary(m)), None)
        if stored is None:
            return None
        content = with_text(stored.content, f"\n({len(messages)} messages now)")
        return {"messages": [with_content(stored, content)]}

    def _answered(self, state: Any, made: Plan, summary: str) -> Update | None:
        if not summary.strip():
            return self._failed(state, made, ValueError("the summary is empty"))
        news = {"previous": summary.strip(), "paused_until": 0, "fallbacks": 0}
        return self._committed(state, made, summary.strip(), **news)

    def _failed(self, state: Any, made: Plan, error: Exception) -> Update | None:
        """Pause; leave the history as it is, or compact without a model (rule H7)."""
        session = self.session_of(state)
        news: Update = {"paused_until": self._now() + COOLDOWN}
        if self._after_failure == "error_text":
            return self._committed(state, made, f"Error generating summary: {error}", **news)
        if self._after_failure == "abort" or is_fatal(error):
            return self._remember(session, **news) or None
        news["fallbacks"] = session.get("fallbacks", 0) + 1
        return self._committed(state, made, fallback(made), **news)

    def _committed(self, state: Any, made: Plan, summary: str, **news: Any) -> Update:
        session = self.session_of(state)
        messages = assembled(made, summary, self._environment.new_id("summary"), self._rules)
        news = {"previous": made.previous, **news, "compactions": session.get("compactions", 0) + 1}
        return {
            "messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *messages],
            **self._remember(session, **news, unproven=True),
        }


class HermesMicroCompaction(Middleware):
    """Folds one old exchange into the rolling summary after each turn (rule H9); off in Hermes by default.

    `drops_batch` takes the marker of a batch compaction for one's own, and drops it with what it holds.
    """

    state_schema = HermesState

    def __init__(
        self,
        environment: Environment,
        *,
        tail: TailRules,
        protect_first: int = 3,
        drops_batch: bool = False,
    ) -> None:
        self._environment = environment
        self._tail = tail
        self._protect_first = protect_first
        self._drops_batch = drops_batch

    def after_agent(self, state: Any, runtime: Any) -> Update | None:
        """Fold the oldest exchange; when that fails, the next turn tries again."""
        session: Session = state.get("hermes") or Session()
        protect_first = 0 if session.get("compactions") else self._protect_first
        exchange = next_exchange(state["messages"], self._tail, protect_first)
        if exchange is None:
            return None
        try:
            summary = str(self._environment.model.invoke(exchange.prompt()).text).strip()
        except Exception:  # noqa: BLE001  a summary may fail in any way; the turn is over already
            return None
        if not summary:
            return None
        new_id = self._environment.new_id("micro")
        messages = spliced(exchange, summary, new_id, drops_batch=self._drops_batch)
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *messages]}
