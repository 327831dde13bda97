"""deer-flow's dynamic-context middleware, re-created from its public behaviour.

Before each turn a hidden reminder with the current date (and, once, a memory block) takes the id of
a user message, and the user's words are emitted again under `{id}__user`. LangGraph's reducer
replaces by id and appends what is new; the technique is sound on the latest user message only.

Source: bytedance/deer-flow, `DynamicContextMiddleware`, at f1f4af99b (2026-08-22). Before pull
request #4667 the first injection attached to the first user message instead of the last.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from .flaws import Flaw

REMINDER_KEY = "dynamic_context_reminder"
DATE_KEY = "reminder_date"
USER_SUFFIX = "__user"
MEMORY_SUFFIX = "__memory"

#: Seconds that an asynchronous injection may take (rule D6).
INJECTION_CAP = 5

_DATE_TAG = re.compile(r"<current_date>(.*?)</current_date>")


def is_reminder(message: BaseMessage) -> bool:
    """Tell whether the message is a reminder or memory block of this middleware."""
    return bool(message.additional_kwargs.get(REMINDER_KEY))


def date_of(message: BaseMessage) -> str | None:
    """Return the date that a reminder injects. Only old system-role reminders are read from their text."""
    date = message.additional_kwargs.get(DATE_KEY)
    if date is None and isinstance(message, SystemMessage):
        found = _DATE_TAG.search(str(message.content))
        date = found.group(1) if found else None
    return None if date is None else str(date)


class DynamicContextMiddleware(Middleware):
    """Injects the date, and at the first injection the memory, by ID-swap (rules D1 to D7).

    `first_injection` is where the first injection attaches: `last` (correct) or `first` (the public
    bug #4667).
    """

    def __init__(
        self, environment: Environment, *, first_injection: Literal["last", "first"] = "last"
    ) -> None:
        self._environment = environment
        self._first_injection = first_injection

    def is_target(self, message: BaseMessage) -> bool:
        """Tell whether a reminder may attach here: a real user message, not yet swapped (rule D1)."""
        return (
            isinstance(message, HumanMessage)
            and not is_reminder(message)
            and message.name != "summary"
            and not (message.id or "").endswith(USER_SUFFIX)
        )

    def last_injected_date(self, messages: Sequence[BaseMessage]) -> str | None:
        """Return the newest injected date, scanning from the tail; a reminder without one is skipped (D2)."""
        dates = (date_of(message) for message in reversed(messages) if is_reminder(message))
        return next((date for date in dates if date is not None), None)

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Inject in a thread; when that takes too long the turn goes on without (rule D6)."""
        injection = asyncio.to_thread(self.before_agent, state, runtime)
        try:
            return await asyncio.wait_for(injection, INJECTION_CAP)
        except (TimeoutError, asyncio.TimeoutError):
            return None

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Inject at the start of a turn, if the date is not in history yet or has changed."""
        messages: list[BaseMessage] = state["messages"]
        today = self._environment.clock.now().date().isoformat()
        injected = self.last_injected_date(messages)
        if injected == today:
            return None
        targets = [message for message in messages if self.is_target(message)]
        if not targets:
            return None
        if injected is not None:
            return {"messages": self._swap(targets[-1], today, memory=None)}
        try:
            memory = self._environment.state.read()
        except (TimeoutError, asyncio.TimeoutError):
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
        return [reminder, block, words] if memory else [reminder, words]


class DatelessReminderHidesTheDate(DynamicContextMiddleware):
    """The public bug #3685: the scan ends at the memory block, which has no date.

    Every turn looks like the first one. As at that time, the first injection attaches to the first user
    message, and words that have been swapped before count as one.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment, first_injection="first")

    def is_target(self, message: BaseMessage) -> bool:
        """Tell whether this is a user message, swapped before or not."""
        return isinstance(message, HumanMessage) and not is_reminder(message) and message.name != "summary"

    def last_injected_date(self, messages: Sequence[BaseMessage]) -> str | None:
        """Return the date of the newest reminder, None when it has none."""
        newest = next((message for message in reversed(messages) if is_reminder(message)), None)
        return None if newest is None else date_of(newest)


class SummaryTakenForTheUser(DynamicContextMiddleware):
    """The public bug #2823: a summary message may be a target, and the first message mostly is one."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment, first_injection="first")

    def is_target(self, message: BaseMessage) -> bool:
        """Tell whether this is a human message, a summary included."""
        return (
            isinstance(message, HumanMessage)
            and not is_reminder(message)
            and not (message.id or "").endswith(USER_SUFFIX)
        )


CONTRACT = Contract(
    injects_into_history=True,
    freezes_state=True,
    id_swap=True,
    system_anywhere=True,
    outside=frozenset({"continue", "load_turn", "suffixed_ids", "empty_ids"}),
    stands=frozenset({"twice"}),
)
SOURCE = "bytedance/deer-flow DynamicContextMiddleware at f1f4af99b, re-created"

DEERFLOW = Candidate(
    name="deerflow",
    build=lambda environment: [DynamicContextMiddleware(environment)],
    contract=CONTRACT,
    source=SOURCE,
    target="deerflow",
)

DEERFLOW_4667 = Candidate(
    name="deerflow-4667",
    build=lambda environment: [DynamicContextMiddleware(environment, first_injection="first")],
    contract=CONTRACT,
    source=f"{SOURCE}; first injection as before pull request #4667",
    target="deerflow-4667",
)

DEERFLOW_3685 = Candidate(
    name="deerflow-3685",
    build=lambda environment: [DatelessReminderHidesTheDate(environment)],
    contract=CONTRACT,
    source=f"{SOURCE}; scan for the date as before pull request #3685",
    target="deerflow-3685",
)

DEERFLOW_2823 = Candidate(
    name="deerflow-2823",
    build=lambda environment: [SummaryTakenForTheUser(environment)],
    contract=CONTRACT,
    source=f"{SOURCE}; targets as before pull request #2823",
    target="deerflow-2823",
)

FLAWS = (
    Flaw(
        candidate=DEERFLOW_4667,
        correct=DEERFLOW,
        codes=("2.reorder", "3.stale-question", "6.fold-incoherent"),
        origin="bytedance/deer-flow #4667: the first injection attaches to the first user message",
    ),
    Flaw(
        candidate=DEERFLOW_3685,
        correct=DEERFLOW,
        codes=("3.attach-not-latest", "5.prefix-broken"),
        origin="bytedance/deer-flow #3685: a reminder without a date hides the dated one",
    ),
    Flaw(
        candidate=DEERFLOW_2823,
        correct=DEERFLOW,
        codes=("2.id-rewrite", "2.reorder"),
        origin="bytedance/deer-flow #2823: a summary is taken for a message of the user",
    ),
)
