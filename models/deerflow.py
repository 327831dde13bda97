"""deer-flow's dynamic-context middleware, re-created from its public behaviour.

Before each turn a hidden reminder with the current date (and, once, a memory block) takes the id of
a user message, and the user's words are emitted again under `{id}__user`. LangGraph's reducer
replaces by id and appends what is new; the technique is sound on the latest user message only.

Source: bytedance/deer-flow, `DynamicContextMiddleware`, at f1f4af99b (2026-08-22). Before pull
request #4667 the first injection attached to the first user message instead of the last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from ..harness.candidate import Candidate, Contract
from ..harness.environment import Environment

REMINDER_KEY = "dynamic_context_reminder"
DATE_KEY = "reminder_date"
USER_SUFFIX = "__user"
MEMORY_SUFFIX = "__memory"

_DATE_TAG = re.compile(r"<current_date>(.*?)</current_date>")


def is_reminder(message: BaseMessage) -> bool:
    """Tell whether the message is a reminder or memory block of this middleware."""
    return bool(message.additional_kwargs.get(REMINDER_KEY))


def is_target(message: BaseMessage) -> bool:
    """Tell whether a reminder may attach here: a real user message, not yet swapped (rule D1)."""
    return (
        isinstance(message, HumanMessage)
        and not is_reminder(message)
        and message.name != "summary"
        and not (message.id or "").endswith(USER_SUFFIX)
    )


def last_injected_date(messages: Sequence[BaseMessage]) -> str | None:
    """Return the newest injected date, scanning from the tail (rule D2).

    A reminder without a date is skipped. Only old system-role reminders are read from their text.
    """
    for message in reversed(messages):
        if not is_reminder(message):
            continue
        date = message.additional_kwargs.get(DATE_KEY)
        if date is None and isinstance(message, SystemMessage):
            found = _DATE_TAG.search(str(message.content))
            date = found.group(1) if found else None
        if date is not None:
            return str(date)
    return None


class DynamicContextMiddleware(AgentMiddleware[Any, Any, Any]):
    """Injects the date, and at the first injection the memory, by ID-swap (rules D1 to D7).

    `first_injection` is where the first injection attaches: `last` (correct) or `first` (the public
    bug #4667).
    """

    def __init__(
        self, environment: Environment, *, first_injection: Literal["last", "first"] = "last"
    ) -> None:
        self._environment = environment
        self._first_injection = first_injection

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Inject at the start of a turn, if the date is not in history yet or has changed."""
        messages: list[BaseMessage] = state["messages"]
        today = self._environment.clock.now().date().isoformat()
        injected = last_injected_date(messages)
        if injected == today:
            return None
        targets = [message for message in messages if is_target(message)]
        if not targets:
            return None
        if injected is not None:
            return {"messages": self._swap(targets[-1], today, memory=None)}
        try:
            memory = self._environment.state.read()
        except TimeoutError:
            return None
        target = targets[0] if self._first_injection == "first" else targets[-1]
        return {"messages": self._swap(target, today, memory=memory)}

    def _swap(self, target: BaseMessage, today: str, *, memory: str | None) -> list[BaseMessage]:
        taken = target.id or self._environment.new_id("user")
        reminder = SystemMessage(
            f"<system-reminder>\n<current_date>{today}</current_date>\n</system-reminder>",
            id=taken,
            additional_kwargs={REMINDER_KEY: True, DATE_KEY: today, "hide_from_ui": True},
        )
        block = HumanMessage(
            f"<memory>\n{memory}\n</memory>",
            id=taken + MEMORY_SUFFIX,
            additional_kwargs={REMINDER_KEY: True, "hide_from_ui": True},
        )
        words = HumanMessage(
            target.content,
            id=taken + USER_SUFFIX,
            name=target.name,
            additional_kwargs=dict(target.additional_kwargs),
        )
        return [reminder, words] if memory is None else [reminder, block, words]


_CONTRACT = Contract(
    injects_into_history=True, freezes_state=True, id_swap=True, outside=frozenset({"continue", "load_turn"})
)
_SOURCE = "bytedance/deer-flow DynamicContextMiddleware at f1f4af99b, re-created"

DEERFLOW = Candidate(
    name="deerflow",
    build=lambda environment: [DynamicContextMiddleware(environment)],
    contract=_CONTRACT,
    source=_SOURCE,
    target="deerflow",
)

DEERFLOW_4667 = Candidate(
    name="deerflow-4667",
    build=lambda environment: [DynamicContextMiddleware(environment, first_injection="first")],
    contract=_CONTRACT,
    source=f"{_SOURCE}; first injection as before pull request #4667",
    target="deerflow-4667",
)
