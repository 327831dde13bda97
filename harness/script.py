"""Scripts: the messages that a step makes the user, the model and the tools say.

Everything here is a function of the step and of the place in the session, so the same step gives the
same messages in every candidate and lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, InvalidToolCall
from langchain_core.messages import ToolCall as ToolCallDict

from . import shapes
from .ledger import Utterance
from .steps import Reply, ToolRound, Usage, UserMessage, UserTurn
from .tokens import token_text

_USAGE: dict[Usage, int] = {"low": 1, "high": 100_000, "stale": 100_000}

#: What providers give as the reason of an answer's end.
_FINISH: dict[Reply, str] = {"filtered": "content_filter", "cut": "length"}

#: How much of a reply that was cut by length is missing, in characters.
_CUT = 3

#: What message metadata must name for a model's reported usage to be believed (LangChain's
#: `SummarizationMiddleware` compares it with the model's own `ls_provider`).
PROVIDER = "sixfold"


class Spoken(NamedTuple):
    """A message (or the dict or tuple that stands for one) and the utterance it carries, if any."""

    message: Any
    utterance: Utterance | None


@lru_cache(maxsize=2_048)
def _place_of(token: str) -> tuple[int, int, int]:
    """Return the turn, the number of the calling answer and the index of the call of a tool result."""
    parts = token[1:].split(".")
    if [part.isdigit() for part in parts] != [True] * 3:
        return 0, 0, 0
    turn, number, index = map(int, parts)
    return turn, number, index


def is_result(token: str) -> bool:
    """Tell whether `token` names the result of a scripted tool call."""
    return _place_of(token) != (0, 0, 0)


class CalledTool(NamedTuple):
    """A tool that the script calls, and the arguments with which it asks for the result `token`."""

    name: str
    arguments: Callable[[str], dict[str, Any]]


def _for_lookup(token: str) -> dict[str, Any]:
    return {"token": token}


#: The tool that Sixfold supplies: it says what the script wants it to say.
LOOKUP = CalledTool("lookup", _for_lookup)


@dataclass(frozen=True, slots=True)
class Script:
    """What the model and the tools will say in a turn, from answer number `first` on."""

    turn: int
    rounds: tuple[ToolRound, ...]
    reply_words: int = 2
    reply: Reply = "text"
    usage: Usage = "none"
    chunks: bool = False
    metadata: bool = False
    first: int = 1
    tool: CalledTool = LOOKUP

    def ends_at(self) -> int:
        """Return the number of the last answer."""
        return self.first + len(self.rounds)

    def closes_at(self) -> int:
        """Return the number of the answer that ends the turn: an agent also ends when no call can be run."""
        for index, round_ in enumerate(self.rounds):
            if not round_.runs:
                return self.first + index
        return self.ends_at()

    def answer(self, number: int) -> Spoken:
        """Return the model's answer `number` of the turn, counted from 1."""
        index = number - self.first
        if 0 <= index < len(self.rounds):
            return self._calling(number, self.rounds[index])
        last = self.first == 1 and number == self.ends_at()
        token = f"a{self.turn}" if last else f"a{self.turn}.{number}"
        finish = _FINISH.get(self.reply, "stop")
        if self.reply in ("empty", "filtered"):
            return Spoken(self._ai("", token, number, finish=finish), None)
        text = token_text(token, self.reply_words)
        if self.reply == "cut" and self.reply_words:
            text = text[:-_CUT]
        content = shapes.content_of("blocks", text) if self.reply == "blocks" else text
        return Spoken(self._ai(content, token, number, finish=finish), self._said(token, number, 0, text))

    def _calling(self, number: int, round_: ToolRound) -> Spoken:
        token = f"a{self.turn}.{number}"
        text = token_text(token, 1)
        calls: list[ToolCallDict] = []
        invalid: list[InvalidToolCall] = []
        place = f"{self.turn}.{number}."
        for index, call in enumerate(round_.calls):
            call_id = self.call_id(number, index)
            if call.kind == "invalid":
                invalid.append(shapes.unparsable(call_id, self.tool.name))
            else:
                arguments = self.tool.arguments(f"t{place}{index}")
                calls.append({"name": self.tool.name, "args": arguments, "id": call_id, "type": "tool_call"})
        if round_.view == "calls":
            return Spoken(
                self._ai(text, token, number, calls, invalid, finish="tool_calls"),
                self._said(token, number, 0, text),
            )
        content, kwargs = shapes.as_viewed(round_.view, text, calls)
        if round_.view.endswith("_only"):
            calls, invalid = [], []
        message = self._ai(content, token, number, calls, invalid, finish="tool_calls")
        message.additional_kwargs.update(kwargs)
        return Spoken(message, self._said(token, number, 0, text))

    def call_id(self, number: int, index: int) -> str:
        """Return the id of the call at `index` of the model's answer `number`."""
        calls = self.rounds[number - self.first].calls
        if calls[index].twin:
            index = 0
        return f"again{index}" if calls[index].repeated_id else f"c{self.turn}.{number}.{index}"

    def irregular_calls(self) -> Iterator[str]:
        """Yield the ids of calls that the script itself leaves unanswered."""
        for number, round_ in enumerate(self.rounds, self.first):
            for index, call in enumerate(round_.calls):
                if call.kind == "invalid" or round_.view.endswith("_only"):
                    yield self.call_id(number, index)

    def asks_for(self, token: str) -> bool:
        """Tell whether one of the calls of this script asks for the tool result `token`."""
        turn, number, index = _place_of(token)
        asked = turn == self.turn and self.first <= number < self.ends_at()
        return asked and index < len(self.rounds[number - self.first].calls)

    def result(self, token: str, call_id: str) -> Spoken:
        """Return the result of the tool call that asks for `token`."""
        _, number, index = _place_of(token)
        text = token_text(token, self.rounds[number - self.first].calls[index].words)
        fields = {"additional_kwargs": {"tool": "lookup", "cost": 1}} if self.metadata else {}
        message = shapes.result(text, token, call_id, **fields)
        return Spoken(message, self._said(token, number, 1, text, call=call_id))

    def _ai(
        self,
        content: Any,
        token: str,
        number: int,
        calls: list[ToolCallDict] | None = None,
        invalid: list[InvalidToolCall] | None = None,
        *,
        finish: str,
    ) -> AIMessage:
        if self.reply == "thinking":
            content = shapes.thinking(content)
        message = shapes.answer(
            content, token, chunk=self.chunks, tool_calls=calls or [], invalid_tool_calls=invalid or []
        )
        if self.usage != "none" and (self.usage != "stale" or number == 1):
            total = _USAGE[self.usage]
            message.usage_metadata = {"input_tokens": total, "output_tokens": 0, "total_tokens": total}
            message.response_metadata = {"model_provider": PROVIDER}
        if self.metadata:
            message.additional_kwargs["reasoning_content"] = "First I look, then I answer."
        if self.metadata or finish in _FINISH.values():
            message.response_metadata = {**message.response_metadata, "finish_reason": finish}
        return message

    def _said(self, token: str, number: int, part: int, text: str, *, call: str | None = None) -> Utterance:
        turn = self.turn
        return Utterance(token, turn, (turn, number, part), text, token, 0, call)


def of_turn(step: UserTurn, turn: int) -> Script:
    """Return the script of a user turn."""
    return Script(turn, step.rounds, step.reply_words, step.reply, step.usage, step.chunks, step.metadata)


def user_words(message: UserMessage, turn: int, number: int) -> Spoken:
    """Return the user's message `number` (from 0) of `turn`, in the shape and form the step asks for."""
    token = shapes.user_token(turn, number)
    text = token_text(token, message.words)
    message_id = token if message.id == "chosen" else shapes.id_of(message.id, turn, number)
    if message.shape == "reminder_like":
        text = f"{text} <system-reminder>2026-01-01 is the current date</system-reminder>"
    content = text if message.shape == "text" else shapes.content_of(message.shape, text)
    said = None
    if message.shape not in ("empty", "none"):
        question = message.name != "summary"
        order = (turn, 0, number)
        said = Utterance(token, turn if question else 0, order, text, message_id, 0, None, question)
    extra: dict[str, Any] = {"hide_from_ui": True} if message.hidden else {}
    if message.form != "dict" and content is not None:
        if message.form != "tuple":
            chunk = message.form == "chunk"
            sent = shapes.words(content, message_id, chunk=chunk, name=message.name, additional_kwargs=extra)
            return Spoken(sent, said)
        return Spoken(("user", content), said)
    data: dict[str, Any] = {"role": "user", "content": content}
    if message_id is not None:
        data["id"] = message_id
    if message.name is not None:
        data["name"] = message.name
    if extra:
        data["additional_kwargs"] = extra
    return Spoken(data, said)
