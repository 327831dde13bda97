"""Styles: the words of the step vocabulary for what a heard message is like."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .heard import Heard
from .steps import Form, IdStyle, Reply, Usage

#: Reported tokens from which on usage counts as high.
HIGH_USAGE = 50_000

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def form_of(human: Heard) -> Form:
    """Return how a user message is handed over."""
    if human.shape == "none":
        return "dict"
    return "chunk" if human.chunk else "dict" if human.as_dict else "message"


def is_wordless(message: Heard) -> bool:
    """Tell whether a message holds no words."""
    return message.shape in ("empty", "none")


def id_style(message_id: str | None) -> IdStyle:
    """Return the style of an id; a random UUID is what the reducer gives a message without one."""
    if message_id is None or _UUID.fullmatch(message_id):
        return "none"
    if not message_id:
        return "empty"
    if message_id.endswith("__user"):
        return "suffixed"
    if "__user" in message_id:
        return "infixed"
    return "numeric" if message_id.isdigit() else "chosen"


def reply_of(answers: Sequence[Heard], last: Heard | None) -> Reply:
    """Return the shape of the last of the answers, which may be missing."""
    if last is not None and last.finish is not None:
        return last.finish
    if last is not None and last.shape in ("empty", "none"):
        return "empty"
    if any(answer.thinking for answer in answers):
        return "thinking"
    return "blocks" if last is not None and last.shape not in ("text", "reminder_like") else "text"


def usage_of(answers: Sequence[Heard]) -> Usage:
    """Return what the answers report as usage."""
    reported = [answer.tokens is not None for answer in answers]
    if not any(reported):
        return "none"
    if len(answers) > 1 and reported[0] and not any(reported[1:]):
        return "stale"
    most = max(answer.tokens or 0 for answer in answers)
    return "high" if most >= HIGH_USAGE else "low"
