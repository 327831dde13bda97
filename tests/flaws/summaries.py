"""Flaws of middleware that fold old turns into a recap, or have a model summarise them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from .base import Base, Update, is_own, last_human, parted, recap, turn_start


class Fold(Base):
    """Folds finished turns into one recap, without a model."""

    def text(self, folded: Sequence[BaseMessage]) -> str:
        return recap(folded)

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        cut = turn_start(messages)
        kept, old = parted(messages, cut)
        if all(map(is_own, old)):
            return None
        summary = HumanMessage(self.text(old), id=self.environment.new_id("recap"), name="summary")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, summary, *messages[cut:]]}


class FoldWithoutResults(Fold):
    """Folds finished turns into one recap. Flaw: it leaves out what tools returned."""

    def text(self, folded: Sequence[BaseMessage]) -> str:
        return recap([m for m in folded if not (self.flawed and isinstance(m, ToolMessage))])


class PolishRecap(Fold):
    """Folds finished turns into one recap. Flaw: rewords a stored recap before each model call."""

    def before_model(self, state: Any, runtime: Any) -> Update:
        stored = [message for message in state["messages"] if is_own(message)]
        if not self.flawed or not stored:
            return None
        return {"messages": [stored[0].model_copy(update={"content": f"{stored[0].content}\n(read)"})]}


class Summarise(Base):
    """Summarises finished turns with the model before a model call; a failure changes nothing."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        return turn_start(messages)

    def worth_it(self, old: Sequence[BaseMessage]) -> bool:
        return not all(map(is_own, old))

    def failed(self) -> str | None:
        return None

    def summary_of(self, messages: Sequence[BaseMessage]) -> str | None:
        try:
            text = self.environment.model.invoke([HumanMessage(recap(messages))]).text
        except Exception:  # noqa: BLE001  whatever the summariser raises, the history stays as it is
            return self.failed()
        return text if text.strip() else self.failed()

    def before_model(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        cut = self.cut(messages)
        kept, old = parted(messages, cut)
        if not old or not self.worth_it(old):
            return None
        summary = self.summary_of(old)
        if summary is None:
            return None
        message = HumanMessage(summary, id=self.environment.new_id("summary"), name="summary")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, message, *messages[cut:]]}


class SummariseQuestion(Summarise):
    """Summarises finished turns. Flaw: off by one, the latest user message is summarised too."""

    def cut(self, messages: Sequence[BaseMessage]) -> int:
        start = turn_start(messages)
        at = last_human(messages)
        return at + 1 if self.flawed and start > 0 and at is not None else start


class SummariseAnyway(Summarise):
    """Summarises finished turns. Flaw: when the summariser fails, an apology replaces the history."""

    def failed(self) -> str | None:
        return "The earlier conversation is not available." if self.flawed else None


class SummariseSummaries(Summarise):
    """Summarises finished turns. Flaw: a stored summary too, before every model call."""

    def worth_it(self, old: Sequence[BaseMessage]) -> bool:
        return self.flawed or super().worth_it(old)


class SummariseInVain(Summarise):
    """Summarises finished turns. Flaw: summarises everything at every turn, and removes nothing."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        if not self.flawed:
            return None
        summary = self.summary_of(state["messages"])
        if summary is None:
            return None
        return {"messages": [HumanMessage(summary, id=self.environment.new_id("summary"), name="summary")]}

    def before_model(self, state: Any, runtime: Any) -> Update:
        return None if self.flawed else super().before_model(state, runtime)
