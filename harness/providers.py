"""Requests as OpenAI and Anthropic would get them, by the serialisers of `langchain-openai` and
`langchain-anthropic` (extra `providers`), and what a strict provider makes of them.

Nothing is sent: a chat model is built with a key that is none and asked for its payload. Of all ways to
the payload `_get_request_payload` has been the most stable: the converters below it change their names
and signatures between minor versions.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.messages import BaseMessage

from .wire_rules import Answer, Judge, Payload, Rejection, anthropic_rejects, openai_rejects

_RANDOM = re.compile(r"0x[0-9a-f]{6,}|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")

#: Requests whose answers are kept, so that a long run does not grow.
_MOST_REMEMBERED = 2_000

#: How much of a serialiser's error message is kept, in characters.
_ENOUGH = 120


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the package and class that serialise for it, how to build it, and its rules."""

    name: str
    package: str
    cls: str
    arguments: tuple[tuple[str, Any], ...]
    judge: Judge


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "OpenAI",
        "langchain_openai",
        "ChatOpenAI",
        (("model", "gpt-4o"), ("api_key", "none"), ("use_responses_api", False)),
        openai_rejects,
    ),
    Provider(
        "Anthropic",
        "langchain_anthropic",
        "ChatAnthropic",
        (("model", "claude-sonnet-4-5"), ("api_key", "none")),
        anthropic_rejects,
    ),
)


@cache
def _serialiser(provider: Provider) -> Any:
    module = importlib.import_module(provider.package)
    return getattr(module, provider.cls)(**dict(provider.arguments))


@cache
def installed() -> tuple[Provider, ...]:
    """Return the providers whose serialisers can be used. The first call imports them: that takes seconds."""
    return tuple(provider for provider in PROVIDERS if _can_be_used(provider))


def _can_be_used(provider: Provider) -> bool:
    if importlib.util.find_spec(provider.package) is None:
        return False
    try:
        _serialiser(provider)
    except Exception:  # noqa: BLE001  an extra that cannot be set up judges nothing, as if it were missing
        return False
    return True


def payload_for(provider: Provider, messages: Sequence[BaseMessage]) -> Payload:
    """Return the request that the provider would get. Raises what its serialiser raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        payload: Payload = _serialiser(provider)._get_request_payload(list(messages))
    return payload


def answer_of(provider: Provider, messages: Sequence[BaseMessage]) -> Answer:
    """Return what `provider` makes of a request; one that cannot be serialised is never sent."""
    try:
        payload = payload_for(provider, messages)
    except Exception as error:  # noqa: BLE001  whatever a serialiser raises, the request is not sent
        text = _RANDOM.sub("…", " ".join(f"{type(error).__name__}: {error}".split()))[:_ENOUGH]
        return Answer(provider.name, (Rejection("not-serialisable", f"{provider.package} raises {text}"),))
    return Answer(provider.name, tuple(provider.judge(payload)))


def answers_of(messages: Sequence[BaseMessage]) -> tuple[Answer, ...]:
    """Return what each installed provider makes of a request.

    Candidates that leave a history alone send the same, and so do replays: answers are remembered.
    """
    key = "\n".join(f"{message.type} {message.__dict__}" for message in messages)
    known = _remembered.get(key)
    if known is None:
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        known = tuple(answer_of(provider, messages) for provider in installed())
        _remembered[key] = known
    return known


_remembered: dict[str, tuple[Answer, ...]] = {}
