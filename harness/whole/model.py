"""The chat model that a whole agent is given: it knows which tools it was offered, and who calls it.

A model that was offered tools is the agent's own and speaks the script. Where nothing was bound, one
model may answer the user in one node and summarise in another: which is which was learned before (`Learned`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from ..chat_model import FakeChatModel
from ..tokens import bare, mentions, unescaped
from ..views import text_of
from .places import Place, label, running_node
from .schemas import value_for
from .tools import Offered, offered

#: The part of its window that a model reports as used when it reports much: above where agents compact, and
#: not so much that what is counted in proportion to it no longer fits.
_MUCH = 0.87


@dataclass(slots=True)
class Learned:
    """Where the model was called when the agent was tried, and in which of these places for the user."""

    speaks: frozenset[Place] = frozenset()
    others: frozenset[Place] = frozenset()

    def is_the_agents(self, place: Place) -> bool:
        """Tell whether what the model says at `place` is what the agent says."""
        if place.form == "tools" or place in self.speaks:
            return True
        if place in self.others or place.node in {known.node for known in self.speaks}:
            return False
        return place.form == "settings" or not self.speaks


@dataclass(slots=True)
class Trial:
    """What happens at the model while an agent is tried: each answer has a mark of its own.

    `ask` is a call that the model makes once, when it is offered that tool.
    """

    ask: tuple[str, dict[str, Any]] | None = None
    answers: list[tuple[Place, str]] = field(default_factory=list)
    tools: dict[str, Offered] = field(default_factory=dict)
    asked: bool = False

    def answer(self, place: Place, tools: Sequence[Offered]) -> AIMessage:
        """Answer a call at `place`."""
        mark = f"trial-{len(self.answers) + 1}"
        self.answers.append((place, mark))
        self.tools.update((tool.name, tool) for tool in tools)
        if self.ask is not None and not self.asked and self.ask[0] in {tool.name for tool in tools}:
            self.asked = True
            call: Any = {"name": self.ask[0], "args": self.ask[1], "id": "c0", "type": "tool_call"}
            return AIMessage(mark, id=mark, tool_calls=[call])
        return AIMessage(mark, id=mark)


class WholeAgentModel(FakeChatModel):
    """The fake chat model of a whole agent. Bound forms are copies that know the model they come from."""

    origin: Any = Field(default=None, exclude=True, repr=False)
    form: str = Field(default="plain", exclude=True, repr=False)
    tools: Any = Field(default=(), exclude=True, repr=False)
    #: The tool that must be called, a schema for text that must be JSON.
    forced: Any = Field(default=None, exclude=True, repr=False)
    as_json: Any = Field(default=None, exclude=True, repr=False)
    # The following are set on the model they all come from.
    learned: Any = Field(default=None, exclude=True, repr=False)
    trial: Any = Field(default=None, exclude=True, repr=False)
    lookup: Any = Field(default=None, exclude=True, repr=False)

    @classmethod
    def create(cls, *, max_input_tokens: int) -> WholeAgentModel:
        """Return a model whose bound forms tell what was bound."""
        profile: Any = {"max_input_tokens": max_input_tokens, "tool_calling": True}
        return cls(profile=profile, learned=Learned())

    def window(self) -> int:
        """Return the context window that is announced, in tokens."""
        size: int = (self.profile or {})["max_input_tokens"]
        return size

    def announce(self, window: int) -> None:
        """Announce another context window, in tokens."""
        profile: Any = {**(self.profile or {}), "max_input_tokens": window}
        self.profile = profile

    def _root(self) -> WholeAgentModel:
        root: WholeAgentModel = self.origin or self
        return root

    def _bound(self, **changes: Any) -> WholeAgentModel:
        same = {"form": self.form, "tools": self.tools, "forced": self.forced, "as_json": self.as_json}
        return WholeAgentModel(profile=self.profile, origin=self._root(), **{**same, **changes})

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> WholeAgentModel:
        """Return the model that is offered these tools."""
        known = offered(tools, self._root().lookup)
        choice = kwargs.get("tool_choice")
        forced = None
        if known and choice not in (None, "auto", "none", False):
            forced = {tool.name: tool for tool in known}.get(_named_in(choice), known[-1])
        form = "structured" if "ls_structured_output_format" in kwargs else "tools" if known else "settings"
        return self._bound(form=form, tools=known, forced=forced, as_json=_schema_in(kwargs))

    def bind(self, **kwargs: Any) -> WholeAgentModel:  # type: ignore[override]
        """Return the model with settings, or with the tools among them."""
        if kwargs.get("tools"):
            return self.bind_tools(**kwargs)
        form = "settings" if self.form == "plain" else self.form
        return self._bound(form=form, as_json=_schema_in(kwargs) or self.as_json)

    def _answer(self, messages: Sequence[BaseMessage], *, synchronous: bool = True) -> AIMessage:
        root, node = self._root(), running_node()
        place = Place(node, self.form)
        if root.trial is not None:
            return self._given_form(root.trial.answer(place, self.tools), "trial")
        session = root.session
        if session is None:
            raise RuntimeError("the chat model of a whole agent was called outside of a session")
        if self.form == "structured":
            found = mentions(unescaped("\n".join(text_of(message.content) for message in messages)))
            told = "Recap: " + " ".join(map(bare, found.utterances))
            return self._given_form(AIMessage(""), told)
        if not root.learned.is_the_agents(place):
            outer = session.enter(label(node))
            try:
                return AIMessage(session.summarise(messages))
            finally:
                session.leave(outer)
        session.about_to_ask(node, messages, frozenset(tool.name for tool in self.tools))
        answer = session.model_called(messages)
        self._report_what_fits(answer)
        return self._given_form(answer, text_of(answer.content), session)

    def _report_what_fits(self, answer: AIMessage) -> None:
        """Let the usage that the answer reports be much of the window, where it is more than that."""
        most = int(self._root().window() * _MUCH)
        if answer.usage_metadata is not None and answer.usage_metadata["total_tokens"] > most:
            answer.usage_metadata = {"input_tokens": most, "output_tokens": 0, "total_tokens": most}

    def _given_form(self, answer: AIMessage, text: str, session: Any = None) -> AIMessage:
        """Return the answer in the form that was asked for: the call of a tool, or JSON."""
        if self.forced is not None and not answer.tool_calls and not answer.invalid_tool_calls:
            call = f"o{answer.id}" if answer.id else "object"
            if session is not None:
                session.calls_back(call)
            arguments = value_for(self.forced.schema, text)
            made: Any = {"name": self.forced.name, "args": arguments, "id": call, "type": "tool_call"}
            answer.tool_calls = [made]
        elif self.as_json is not None and not answer.tool_calls:
            answer.content = json.dumps(value_for(self.as_json, text), ensure_ascii=False)
        return answer


def _named_in(choice: Any) -> str:
    """Return the tool that a `tool_choice` names, as text or as OpenAI or Anthropic write it; or nothing."""
    if isinstance(choice, dict):
        function = choice.get("function")
        choice = (function if isinstance(function, dict) else choice).get("name")
    return choice if isinstance(choice, str) else ""


def _schema_in(kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema that an answer must keep to: a class, or OpenAI's `response_format`."""
    wanted = kwargs.get("response_format")
    if wanted is None:
        return None
    if isinstance(wanted, dict) and "json_schema" in wanted:
        schema: dict[str, Any] = wanted["json_schema"].get("schema", {})
        return schema
    if isinstance(wanted, dict) and "type" in wanted and "properties" not in wanted:
        return {"type": "object"}
    function: dict[str, Any] = convert_to_openai_tool(wanted)["function"].get("parameters", {})
    return function
