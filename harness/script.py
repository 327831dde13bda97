"""Scripts: the messages that a step makes the user, the model and the tools say.

Everything here is a function of the step and of the place in the session, so the same step gives the
same messages in every candidate and lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, InvalidToolCall, ToolMessage
from langchain_core.messages import ToolCall as ToolCallDict
from langchain_core.messages.tool import invalid_tool_call, tool_call

from .ledger import Utterance
from .steps import IdStyle, LoadTurn, Shape, ToolCall, ToolRound, UserMessage, UserTurn
from .tokens import token_text

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_USAGE = {"low": 1, "high": 100_000}

#: What message metadata must name for a model's reported usage to be believed (LangChain's
#: `SummarizationMiddleware` compares it with the model's own `ls_provider`).
PROVIDER = "sixfold"


class Spoken(NamedTuple):
    """A message (or the dict or tuple that stands for one) and the utterance it carries, if any."""

    message: Any
    utterance: Utterance | None


@lru_cache(maxsize=16_384)
def _place_of(token: str) -> tuple[int, int, int]:
    """Return the turn, the number of the calling answer and the index of the call of a tool result."""
    parts = token[1:].split(".")
    if [part.isdigit() for part in parts] != [True] * 3:
        return 0, 0, 0
    turn, number, index = map(int, parts)
    return turn, number, index


@dataclass(frozen=True, slots=True)
class Script:
    """What the model and the tools will say in a turn, from answer number `first` on."""

    turn: int
    rounds: tuple[ToolRound, ...]
    reply_words: int = 2
    reply: str = "text"
    usage: str = "none"
    first: int = 1

    def ends_at(self) -> int:
        """Return the number of the last answer."""
        return self.first + len(self.rounds)

    def closes_at(self) -> int:
        """Return the number of the answer that ends the turn: an agent also ends when no call can be run."""
        for index, round_ in enumerate(self.rounds):
            if all(call.kind == "invalid" for call in round_.calls):
                return self.first + index
        return self.ends_at()

    def answer(self, number: int) -> Spoken:
        """Return the model's answer `number` of the turn, counted from 1."""
        index = number - self.first
        if 0 <= index < len(self.rounds):
            return self._calling(number, self.rounds[index])
        last = self.first == 1 and number == self.ends_at()
        token = f"a{self.turn}" if last else f"a{self.turn}.{number}"
        text = token_text(token, self.reply_words)
        if self.reply == "empty":
            return Spoken(self._ai("", token), None)
        content: Any = [{"type": "text", "text": text}] if self.reply == "blocks" else text
        return Spoken(self._ai(content, token), self._said(token, number, 0, text))

    def _calling(self, number: int, round_: ToolRound) -> Spoken:
        token = f"a{self.turn}.{number}"
        text = token_text(token, 1)
        calls: list[ToolCallDict] = []
        invalid: list[InvalidToolCall] = []
        for index, call in enumerate(round_.calls):
            result = f"t{self.turn}.{number}.{index}"
            call_id = f"again{index}" if call.repeated_id else f"c{result[1:]}"
            if call.kind == "invalid":
                invalid.append(_unparsable(call_id))
            else:
                calls.append(tool_call(name="lookup", args={"token": result}, id=call_id))
        message = self._ai(text, token, calls, invalid)
        return Spoken(message, self._said(token, number, 0, text))

    def asks_for(self, token: str) -> bool:
        """Tell whether one of the calls of this script asks for the tool result `token`."""
        turn, number, index = _place_of(token)
        asked = turn == self.turn and self.first <= number < self.ends_at()
        return asked and index < len(self.rounds[number - self.first].calls)

    def result(self, token: str, call_id: str) -> Spoken:
        """Return the result of the tool call that asks for `token`."""
        _, number, index = _place_of(token)
        text = token_text(token, self.rounds[number - self.first].calls[index].words)
        message = _filled(_TOOL, content=text, id=token, tool_call_id=call_id)
        return Spoken(message, self._said(token, number, 1, text, call=call_id))

    def _ai(
        self,
        content: Any,
        token: str,
        calls: Sequence[ToolCallDict] = (),
        invalid: Sequence[InvalidToolCall] = (),
    ) -> AIMessage:
        message = _filled(
            _AI, content=content, id=token, tool_calls=list(calls), invalid_tool_calls=list(invalid)
        )
        if self.usage != "none":
            total = _USAGE[self.usage]
            message.usage_metadata = {"input_tokens": total, "output_tokens": 0, "total_tokens": total}
            message.response_metadata = {"model_provider": PROVIDER}
        return message

    def _said(self, token: str, number: int, part: int, text: str, *, call: str | None = None) -> Utterance:
        return Utterance(token, self.turn, (self.turn, number, part), text, token, 0, call)


def of_turn(step: UserTurn, turn: int) -> Script:
    """Return the script of a user turn."""
    return Script(turn, step.rounds, step.reply_words, step.reply, step.usage)


def user_words(message: UserMessage, turn: int, number: int) -> Spoken:
    """Return the user's message `number` (from 0) of `turn`, in the shape and form the step asks for."""
    token = f"u{turn}" if number == 0 else f"u{turn}.{number + 1}"
    text = token_text(token, message.words)
    message_id = token if message.id == "chosen" else _odd_id(message.id, token, turn, number)
    if message.shape == "reminder_like":
        text = f"{text} <system-reminder>2026-01-01 is the current date</system-reminder>"
    content: Any = text if message.shape in ("text", "reminder_like") else _odd_content(message.shape, text)
    said = None
    if message.shape != "empty":
        question = message.name != "summary"
        order = (turn, 0, number)
        said = Utterance(token, turn if question else 0, order, text, message_id, 0, None, question)
    extra: dict[str, Any] = {"hide_from_ui": True} if message.hidden else {}
    if message.form == "message":
        sent = _filled(_HUMAN, content=content, id=message_id, name=message.name, additional_kwargs=extra)
        return Spoken(sent, said)
    if message.form == "tuple":
        return Spoken(("user", content), said)
    data: dict[str, Any] = {"role": "user", "content": content}
    if message_id is not None:
        data["id"] = message_id
    if message.name is not None:
        data["name"] = message.name
    if extra:
        data["additional_kwargs"] = extra
    return Spoken(data, said)


def _odd_id(style: IdStyle, token: str, turn: int, number: int) -> str | None:
    return {"none": None, "suffixed": f"{token}__user", "numeric": f"{turn}{number}"}[style]


def _odd_content(shape: Shape, text: str) -> Any:
    contents: dict[str, Any] = {
        "blocks": [{"type": "text", "text": text}],
        "strings": [text, "please"],
        "image": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": _PIXEL}}],
        "empty": "",
    }
    return contents[shape]


def loaded(step: LoadTurn, turn: int) -> list[Spoken]:
    """Return the messages of a loaded turn, in the arrangement the step asks for.

    The arrangement is how it came to be, so it is also the order in which it was said.
    """
    spoken = _arranged(step, turn)
    return [
        Spoken(message, said and said._replace(order=(turn, place, 0)))
        for place, (message, said) in enumerate(spoken)
    ]


def _arranged(step: LoadTurn, turn: int) -> list[Spoken]:
    script = Script(turn, (ToolRound(calls=(ToolCall(),) * step.calls),) if step.calls else ())
    words = user_words(UserMessage(), turn, 0)
    if not step.calls:
        return [words, script.answer(1)]
    if step.arrangement == "consecutive_calls":
        return [words, *_consecutive(turn, step.calls)]
    asking, last = script.answer(1), script.answer(2)
    results = [script.result(f"t{turn}.1.{i}", f"c{turn}.1.{i}") for i in range(step.calls)]
    match step.arrangement:
        case "results_reversed":
            return [words, asking, *reversed(results), last]
        case "human_between":
            aside = user_words(UserMessage(hidden=True), turn, 1)
            return [words, asking, aside, *results, last]
        case "result_missing":
            return [words, asking, *results[:-1], last]
        case "result_twice":
            again = Spoken(_copy_of(results[0].message, f"{results[0].message.id}.twice"), None)
            return [words, asking, *results, again, last]
        case "results_last":
            return [words, asking, last, *results]
        case _:
            return [words, asking, *results, last]


def _consecutive(turn: int, calls: int) -> list[Spoken]:
    """Return one answer per call, all before the results (parallel branches write like this)."""
    rounds = (ToolRound(),) * calls
    spread = Script(turn, rounds)
    asking = [spread.answer(number + 1) for number in range(calls)]
    results = [spread.result(f"t{turn}.{n + 1}.0", f"c{turn}.{n + 1}.0") for n in range(calls)]
    return [*asking, *results, spread.answer(calls + 1)]


def _copy_of(message: BaseMessage, message_id: str) -> BaseMessage:
    return message.model_copy(update={"id": message_id})


def _unparsable(call_id: str) -> InvalidToolCall:
    return invalid_tool_call(name="lookup", args="{broken", id=call_id, error="no JSON")


#: Validating a message costs more than all that the harness does with it: what is sent are copies of these.
_AI = AIMessage("", id="", tool_calls=[], invalid_tool_calls=[])
_HUMAN = HumanMessage("", id="", name=None, additional_kwargs={})
_TOOL = ToolMessage("", id="", name="lookup", tool_call_id="")

M = TypeVar("M", bound=BaseMessage)


def _filled(prototype: M, **values: Any) -> M:
    """Return a copy of `prototype` with `values`, which shares nothing that a candidate could change."""
    message = prototype.__class__.__new__(prototype.__class__)
    own: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}
    set_attribute = object.__setattr__
    set_attribute(message, "__dict__", {**prototype.__dict__, **own, **values})
    set_attribute(message, "__pydantic_fields_set__", prototype.__pydantic_fields_set__.copy())
    set_attribute(message, "__pydantic_extra__", {})
    set_attribute(message, "__pydantic_private__", None)
    return message
