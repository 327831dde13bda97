"""A middleware like deer-flow's dynamic context, and a stack with it, without a word of Sixfold.

`BEFORE_4667` attaches the first reminder to the first user message, `AFTER_4667` to the last; the rule is
that of `models/deerflow.py`, with the date of the computer.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult

REMINDER = "dynamic_context_reminder"


class DynamicContext(AgentMiddleware[Any, Any, Any]):
    """Injects the date: a hidden reminder takes the id of a user message, whose words follow it."""

    def __init__(self, first: Literal["first", "last"]) -> None:
        self.first = first

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages: list[BaseMessage] = state["messages"]
        today = date.today().isoformat()
        injected = [m.additional_kwargs[REMINDER] for m in messages if REMINDER in m.additional_kwargs]
        targets = [m for m in messages if isinstance(m, HumanMessage) and not str(m.id).endswith("__user")]
        targets = [m for m in targets if m.additional_kwargs.get("lc_source") != "summarization"]
        if not targets or (injected and injected[-1] == today):
            return None
        target = targets[0] if self.first == "first" and not injected else targets[-1]
        reminder = SystemMessage(
            f"<system-reminder>Today is {today}.</system-reminder>",
            id=target.id,
            additional_kwargs={REMINDER: today, "hide_from_ui": True},
        )
        return {"messages": [reminder, target.model_copy(update={"id": f"{target.id}__user"})]}


class Recap(BaseChatModel):
    """A summariser that repeats the beginning of what it is shown last."""

    @property
    def _llm_type(self) -> str:
        return "recap"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = f"Recap: {str(messages[-1].content)[:200]}"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


BEFORE_4667 = DynamicContext("first")
AFTER_4667 = DynamicContext("last")

STACK = [
    AFTER_4667,
    SummarizationMiddleware(Recap(), trigger=("messages", 6), keep=("messages", 2)),
]
