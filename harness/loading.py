"""Loading: the messages of a turn that a client brings in from an earlier conversation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from . import shapes
from .script import Script, Spoken, user_words
from .steps import LoadTurn, Naming, ToolCall, ToolRound, UserMessage

#: The call ids that views show for calls that have none of their own.
NAMED_BADLY: dict[Naming, str] = {"empty_id": "", "no_id": "None"}


def loaded(step: LoadTurn, turn: int) -> list[Spoken]:
    """Return the messages of a loaded turn, in the arrangement the step asks for.

    The arrangement is how it came to be, so it is also the order in which it was said: as in a turn that was
    played, whatever follows an answer is counted from it, and the next answer comes after all of that.
    """
    if step.naming == "no_id":
        step = replace(step, arrangement="in_order")  # without results there is nothing to arrange
    spoken = [_named(step.naming, item) for item in _arranged(step, turn)]
    if step.naming == "no_id":
        spoken = [item for item in spoken if not isinstance(item.message, ToolMessage)]
    if step.form == "dict":
        spoken = list(map(_as_dict, spoken))
    answers = behind = 0
    ordered = []
    for message, said in spoken:
        answers, behind = (answers + 1, 0) if is_answer(message) else (answers, behind + 1)
        ordered.append(Spoken(message, said and said._replace(order=(turn, answers, behind))))
    return ordered


def is_answer(message: Any) -> bool:
    """Tell whether a message, or the dict that stands for one, is of the model."""
    return bool(message["role"] == "assistant" if isinstance(message, dict) else message.type == "ai")


def _named(naming: Naming, spoken: Spoken) -> Spoken:
    """Return the message with its calls, or the call that it answers, named as the step asks for."""
    message, said = spoken
    if naming == "usual":
        return spoken
    if isinstance(message, AIMessage):
        changed: dict[str, Any] = {"no_name": {"name": ""}, "empty_id": {"id": ""}, "no_id": {"id": None}}
        message.tool_calls = [{**call, **changed[naming]} for call in message.tool_calls]
    if naming == "empty_id" and isinstance(message, ToolMessage):
        message.tool_call_id = ""
        return Spoken(message, said and said._replace(call=""))
    return spoken


_ROLES = {"human": "user", "ai": "assistant", "tool": "tool"}


def _as_dict(spoken: Spoken) -> Spoken:
    message: BaseMessage = spoken.message
    data: dict[str, Any] = {"role": _ROLES[message.type], "content": message.content, "id": message.id}
    if message.additional_kwargs:
        data["additional_kwargs"] = message.additional_kwargs
    if isinstance(message, ToolMessage):
        return Spoken({**data, "tool_call_id": message.tool_call_id, "name": message.name}, spoken.utterance)
    if not isinstance(message, AIMessage) or not message.tool_calls:
        return Spoken(data, spoken.utterance)
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
        }
        for call in message.tool_calls
    ]
    return Spoken({**data, "content": None, "tool_calls": calls}, None)


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
            again = Spoken(shapes.renamed(results[0].message, f"{results[0].message.id}.twice"), None)
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
