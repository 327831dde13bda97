"""Plays the re-created compressor on the same messages, and tells what became of them in the same words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.graph.message import add_messages

from sixfold.harness.chat_model import FakeChatModel
from sixfold.harness.environment import Environment
from sixfold.models.hermes import HermesCompressor, Session
from sixfold.models.hermes_messages import SUMMARY_KEY, calls_of, role_of
from sixfold.models.hermes_summary import Plan, SummaryRules
from sixfold.models.hermes_tail import TailRules

ANSWER = "SCRIPTED SUMMARY"


class Scripted:
    """The auxiliary model: it answers, fails, or answers nothing."""

    def __init__(self, failure: str) -> None:
        self._failure = failure

    def invoke(self, _prompt: str) -> Any:
        if self._failure == "error":
            raise RuntimeError("the model answered with nonsense")
        if self._failure == "network":
            raise ConnectionError("connection refused")
        return SimpleNamespace(text="" if self._failure == "empty" else ANSWER)


class AlwaysDue(HermesCompressor):
    """The compressor as it is called directly: forced, whatever its trigger says."""

    made: Plan | None = None

    def is_due(self, messages: Sequence[BaseMessage], session: Session) -> bool:
        return True

    def planned(
        self, messages: Sequence[BaseMessage], session: Session, *, forced: bool = False
    ) -> tuple[Plan | None, Session]:
        self.made, session = super().planned(messages, session, forced=True)
        return self.made, session


class Ours:
    """One session of the re-created compressor; messages are named by their ids."""

    def __init__(self, options: dict[str, Any], failure: str) -> None:
        environment = Environment(FakeChatModel.create(max_input_tokens=1))
        environment.model = Scripted(failure)  # type: ignore[assignment]
        self._compressor = AlwaysDue(
            environment,
            window=options["config_context_length"],
            tail=TailRules(budget=0, protect_last=options["protect_last_n"]),
            rules=SummaryRules(protect_first=options["protect_first_n"]),
            after_failure="abort" if options["abort_on_summary_failure"] else "fallback",
        )
        self._state: dict[str, Any] = {"messages": []}
        self.plan: Plan | None = None

    def play(self, more: list[BaseMessage], name: str) -> dict[str, Any]:
        messages = [*self._state["messages"], *more]
        before = {message.id: json.dumps(message.content) for message in messages}
        session = self._state.get("hermes", {})
        self._compressor.made = None
        try:
            update = self._compressor.before_model({"messages": messages, "hermes": session}, None) or {}
        except Exception as error:  # noqa: BLE001  whatever the compressor raises is an outcome
            return {"outcome": type(error).__name__, "asked": self._asked(session), "kept": []}
        made = "messages" in update
        if made:
            messages = list(add_messages(messages, update["messages"]))  # type: ignore[arg-type]
        for message in messages:
            if message.id not in before:
                message.id = name
        self._state = {"messages": messages, "hermes": update.get("hermes", session)}
        return {
            "outcome": "compacted" if made else "unchanged",
            "asked": self._asked(session),
            "kept": [_told(message, before) for message in messages],
        }

    def _asked(self, session: Session) -> dict[str, Any] | None:
        self.plan = made = self._compressor.made
        if made is None:
            return None
        return {"turns": [turn.id for turn in made.turns], "previous": bool(made.previous)}


def _told(message: BaseMessage, before: dict[str | None, str]) -> dict[str, Any]:
    content = json.dumps(message.content)
    was = before.get(message.id)
    return {
        "name": message.id,
        "role": role_of(message),
        "marked": bool(message.additional_kwargs.get(SUMMARY_KEY)),
        "content": "new" if was is None else "same" if was == content else "changed",
        "calls": [call["id"] for call in calls_of(message)],
    }


def as_dict(message: BaseMessage) -> dict[str, Any]:
    """Return the message as Hermes stores it, named by its id."""
    data: dict[str, Any] = {"_i": message.id, "role": role_of(message), "content": message.content}
    if isinstance(message, AIMessage) and (calls := calls_of(message)):
        data["tool_calls"] = calls
    if isinstance(message, ToolMessage):
        data["tool_call_id"] = message.tool_call_id
    if reasoning := message.additional_kwargs.get("reasoning_content"):
        data["reasoning_content"] = reasoning
    return data
