"""What strict providers reject, judged on the request as it is sent: plain dicts, no library's objects.

Only what the provider's documentation or an error text on public record backs is a rule. Left out on
purpose: a first message that is not the user's (Anthropic accepts it by now, anthropic-sdk-typescript
#622), messages of one role in a row (the API joins them), an empty list as OpenAI content (accepted,
openai-python #1812) and the spelling of call ids, which are the harness's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Rule = Literal[
    "no-messages",
    "unanswered-call",
    "orphan-result",
    "duplicate-result",
    "late-result",
    "duplicate-call",
    "call-without-id",
    "call-without-name",
    "empty-tool-calls",
    "null-content",
    "empty-content",
    "blank-content",
    "bad-name",
    "not-serialisable",
]

#: What the built-in rules (`invariants.tool_calls`) judge on views, too.
CALL_RULES: frozenset[Rule] = frozenset(
    {"unanswered-call", "orphan-result", "duplicate-result", "late-result"}
)

Message = Mapping[str, Any]
Payload = Mapping[str, Any]

#: The pattern that OpenAI's error text for `messages[…].name` gives, negated.
_BAD_NAME = re.compile(r"[\s<|\\/>]")


class Rejection(NamedTuple):
    """One reason why a provider rejects a request: the rule, and where it is broken, in one sentence.

    Messages are counted from 0, as providers do. Ids are not quoted: they may be random.
    """

    rule: Rule
    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider makes of a request: it accepts it when there is no rejection."""

    provider: str
    rejections: tuple[Rejection, ...] = ()

    def __str__(self) -> str:
        if not self.rejections:
            return f"{self.provider} accepts"
        more = len(self.rejections) - 1
        return f"{self.provider} rejects ({self.rejections[0].detail}{f'; {more} more' if more else ''})"


Judge = Callable[[Payload], list[Rejection]]


# ---------------------------------------------------------------- OpenAI


def openai_rejects(payload: Payload) -> list[Rejection]:
    """Return why OpenAI's chat completions API rejects `payload`, in order.

    Error texts behind the rules: "An assistant message with 'tool_calls' must be followed by tool messages
    responding to each 'tool_call_id'" (open_deep_research #164); "messages with role 'tool' must be a
    response to a preceeding message with 'tool_calls'" (morphic #136); "Duplicate value for
    'tool_call_id' of …, in messages[7] and messages[8]" (agno #5116); "duplicate tool_call_id" in one
    message (openclaw #47136); "Invalid 'messages[1].tool_calls': empty array" (openai-python #2061);
    "Invalid 'messages[69].tool_calls[0].function.name': empty string" (continue #11645); "Invalid value
    for 'content': expected a string, got null" without tool calls (llama_index #17921); "Invalid
    'messages[1].name': string does not match pattern" (autogen #4157); "Invalid 'messages': empty array"
    (CopilotKit #529).
    """
    messages: Sequence[Message] = payload.get("messages") or ()
    if not messages:
        return [Rejection("no-messages", "there are no messages")]
    return [*_openai_calls(messages), *_openai_shapes(messages)]


def _openai_calls(messages: Sequence[Message]) -> Iterator[Rejection]:
    """Yield what is wrong with the order of calls and results."""
    waiting: list[Any] = []
    done: list[Any] = []
    caller = 0
    for at, message in enumerate(messages):
        if message.get("role") == "tool":
            call = message.get("tool_call_id")
            if call in waiting:
                waiting.remove(call)
                done.append(call)
            elif call in done:
                yield Rejection("duplicate-result", f"messages[{at}] answers a tool call once more")
            else:
                yield Rejection(
                    "orphan-result", f"messages[{at}] does not follow a message with its tool call"
                )
            continue
        yield from _left_waiting(waiting, f"messages[{caller}]", "in the tool messages behind it")
        waiting = [call.get("id") for call in message.get("tool_calls") or ()]
        done = []
        caller = at
    yield from _left_waiting(waiting, f"messages[{caller}]", "in the tool messages behind it")


def _openai_shapes(messages: Sequence[Message]) -> Iterator[Rejection]:
    """Yield what is wrong with single messages."""
    for at, message in enumerate(messages):
        calls = message.get("tool_calls")
        if calls is not None:
            if not calls:
                yield Rejection("empty-tool-calls", f"the tool_calls of messages[{at}] are an empty list")
            ids = [call.get("id") for call in calls]
            yield from _odd_ids(ids, f"messages[{at}]")
            if not all((call.get("function") or {}).get("name") for call in calls):
                yield Rejection("call-without-name", f"a tool call of messages[{at}] has no name")
        if message.get("content") is None and not (calls or message.get("function_call")):
            yield Rejection("null-content", f"the content of messages[{at}] is null")
        if _BAD_NAME.search(message.get("name") or ""):
            yield Rejection(
                "bad-name", f"the name of messages[{at}] has a character that names must not have"
            )


# ---------------------------------------------------------------- Anthropic


def anthropic_rejects(payload: Payload) -> list[Rejection]:
    """Return why Anthropic's messages API rejects `payload`, in order.

    Error texts behind the rules: "`tool_use` ids were found without `tool_result` blocks immediately
    after: … Each `tool_use` block must have a corresponding `tool_result` block in the next message"
    (OpenHands #7512); the same when results are spread over several messages (clawhub #151);
    "Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks"
    (Zoo-Code #1705, and the documentation of tool use: results first, text behind them); "unexpected
    `tool_use_id` found in `tool_result` blocks" (claude-code #18947); "each tool_use must have a single
    result" (aletheia #57); "`tool_use` ids must be unique" (cua #524, litellm #23510). For empty text the
    answers of the API were tabulated in experiential #804: "user messages must have non-empty content",
    "text content blocks must be non-empty", "text content blocks must contain non-whitespace text";
    empty assistant content and empty tool results are accepted.
    """
    messages: Sequence[Message] = payload.get("messages") or ()
    if not messages:
        return [Rejection("no-messages", "there are no messages")]
    return [*_anthropic_calls(messages), *_anthropic_shapes(messages)]


def _blocks(message: Message) -> list[Mapping[str, Any]]:
    """Return the content of a message as blocks; a string is one text block."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block if isinstance(block, Mapping) else {"type": "text", "text": block} for block in content]


def _ids(message: Message, role: str, kind: str, key: str) -> list[Any]:
    if message.get("role") != role:
        return []
    return [block.get(key) for block in _blocks(message) if block.get("type") == kind]


def _anthropic_calls(messages: Sequence[Message]) -> Iterator[Rejection]:
    """Yield what is wrong with the order of calls and results."""
    seen: set[Any] = set()
    asked: list[Any] = []
    for at, message in enumerate(messages):
        answers = _ids(message, "user", "tool_result", "tool_use_id")
        waiting = list(asked)
        for call in answers:
            if call in waiting:
                waiting.remove(call)
            elif call in asked:
                yield Rejection("duplicate-result", f"messages.{at} answers a tool_use once more")
            else:
                yield Rejection(
                    "orphan-result", f"messages.{at} has a tool_result without its tool_use before it"
                )
        yield from _left_waiting(waiting, f"messages.{at - 1}", "in the next message")
        if answers and _begins_late(message):
            yield Rejection("late-result", f"messages.{at} has other content in front of its tool_result")
        asked = _ids(message, "assistant", "tool_use", "id")
        yield from _odd_ids(asked, f"messages.{at}", seen)
        seen.update(asked)
    yield from _left_waiting(asked, f"messages.{len(messages) - 1}", "in the next message")


def _begins_late(message: Message) -> bool:
    """Tell whether a tool result of `message` stands behind content of another kind."""
    others = [block.get("type") != "tool_result" for block in _blocks(message)]
    return others != sorted(others)


def _anthropic_shapes(messages: Sequence[Message]) -> Iterator[Rejection]:
    """Yield what is wrong with single messages."""
    for at, message in enumerate(messages):
        if not message.get("content"):
            if message.get("role") == "user":
                yield Rejection("empty-content", f"messages.{at} of the user has no content")
            continue
        texts = [block.get("text") for block in _blocks(message) if block.get("type") == "text"]
        if not all(texts):
            yield Rejection("empty-content", f"messages.{at} has a text block without text")
        elif len(texts) == len(_blocks(message)) and not any(text and text.strip() for text in texts):
            yield Rejection("blank-content", f"messages.{at} has nothing but white space")
        if not all(block.get("name") for block in _blocks(message) if block.get("type") == "tool_use"):
            yield Rejection("call-without-name", f"a tool_use of messages.{at} has no name")


# ---------------------------------------------------------------- both


def _left_waiting(calls: Sequence[Any], where: str, there: str) -> Iterator[Rejection]:
    if calls:
        what = "a tool call" if len(calls) == 1 else f"{len(calls)} tool calls"
        yield Rejection(
            "unanswered-call", f"{what} of {where} {'is' if len(calls) == 1 else 'are'} not answered {there}"
        )


def _odd_ids(ids: Sequence[Any], where: str, taken: set[Any] | None = None) -> Iterator[Rejection]:
    if not all(ids):
        yield Rejection("call-without-id", f"a tool call of {where} has no id")
    known = [call for call in ids if call]
    if len(set(known)) < len(known):
        yield Rejection("duplicate-call", f"two tool calls of {where} have the same id")
    elif taken and taken.intersection(known):
        yield Rejection("duplicate-call", f"a tool call of {where} has the id of an earlier one")
