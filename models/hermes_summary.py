"""How Hermes Agent makes a summary of the middle and puts it between head and tail (rules H5 to H7).

Source: hermes-agent 0.19.0 (PyPI), `agent/context_compressor.py`, `ContextCompressor.compress` and what
it calls, re-created. Left out: the topic that a user may give, and what a memory provider adds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ..harness.views import text_of
from .hermes_messages import (
    END,
    MERGED,
    PREFIX,
    PRIOR,
    SUMMARY_KEY,
    calls_of,
    is_instruction,
    is_merged,
    is_result,
    is_summary,
    is_user,
    prior_words,
    role_of,
    summary_in,
    with_content,
    with_text,
)
from .hermes_prepass import described, sanitised, shortened, with_newest_images
from .hermes_tail import TailRules, head_size, tail_start

#: Longest fallback summary, and longest text of one message in it, in characters (rule H7).
FALLBACK_MOST = 8_000
FALLBACK_TURN = 700

#: Entries of each list of a fallback summary.
FALLBACK_ENTRIES = 8

#: Messages beyond the head that there must be before anything is compacted (rule H5).
_BEYOND_HEAD = 4

#: Characters of one message that the summariser is shown.
_SHOWN = 6_000

_NOTE = "[Earlier turns of this conversation were compacted into a summary.]"

_FATAL = ("quota", "out of credit", "out of funds", "no api key", "timed out", "connection re", "unreachable")
_ACCESS = (401, 402, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRules:
    """What is summarised and where it goes; the defaults are Hermes's, the others mend or break it.

    With `whole_window` everything that is removed reaches the summariser: also what stands before an
    earlier summary, and the words under which one was merged. Without `keep_words` a merged summary
    replaces the message's own words; without `sanitise` calls and results are not matched.
    """

    protect_first: int = 3
    whole_window: bool = False
    keep_words: bool = True
    sanitise: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A compaction that is about to be made: the shortened messages, what it removes, and from what.

    `turns` is what the summariser is shown beside the `previous` summary.
    """

    messages: list[BaseMessage]
    start: int
    end: int
    turns: list[BaseMessage]
    previous: str

    def prompt(self) -> str:
        """Return what the summariser is asked."""
        turns = "\n\n".join(map(_shown, self.turns))
        if not self.previous:
            return f"Summarise these turns for reference.\n\n{turns}"
        return f"Bring the summary up to date.\n\nSummary:\n{self.previous}\n\nNew turns:\n{turns}"


def plan(
    messages: Sequence[BaseMessage], tail: TailRules, rules: SummaryRules, previous: str, protect_first: int
) -> Plan | None:
    """Return the compaction of `messages`, None when there is nothing to compact (rules H2 to H5)."""
    if len(messages) <= int(is_instruction(messages)) + protect_first + _BEYOND_HEAD:
        return None
    short = shortened(messages, tail.budget, tail.protect_last)
    start = head_size(short, protect_first)
    end = tail_start(short, start, tail)
    if rules.whole_window:
        end = min(end, len(short))
    if start >= end:
        return None
    # Where the head reaches the end, `end` lies one behind it, and Hermes fails here, too: an IndexError.
    found = next(
        (i for i in range(end - 1, int(is_instruction(short)) - 1, -1) if is_summary(short[i])), None
    )
    if found is None:
        if rules.whole_window and not short[start:end]:
            return None
        return Plan(messages=short, start=start, end=end, turns=short[start:end], previous="")
    previous = previous or summary_in(short[found])
    turns = short[max(start, found + 1) : end]
    if rules.whole_window:
        summaries = [m for m in short[:end] if is_summary(m)]
        previous = "\n\n".join(map(summary_in, summaries))
        turns = [prior_words(m) if is_merged(m) else m for m in short[start:end]]
        turns = [m for m in turns if not is_summary(m)]
        if not turns:
            return None
    return Plan(messages=short, start=start, end=end, turns=turns, previous=previous)


def _shown(message: BaseMessage) -> str:
    text = text_of(message.content)
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN * 2 // 3]}\n[...]\n{text[-_SHOWN // 4 :]}"
    calls = [f"{c['function']['name']}({c['function']['arguments']})" for c in calls_of(message)]
    return "\n".join([f"{role_of(message)}: {text}", *calls])


def is_fatal(error: BaseException) -> bool:
    """Tell whether trying again later is better than a fallback: no access, no quota, no network (H7)."""
    if getattr(error, "status_code", None) in _ACCESS or isinstance(error, (ConnectionError, TimeoutError)):
        return True
    return any(mark in str(error).lower() for mark in _FATAL)


def fallback(made: Plan) -> str:
    """Return a summary that no model made: clipped user asks, tool actions, the last turns (rule H7)."""
    names = {call["id"]: call["function"] for message in made.turns for call in calls_of(message)}
    asks: list[str] = []
    actions: list[str] = []
    last: list[str] = []
    for message in made.turns:
        text = _clipped(message)
        if text:
            last.append(f"{role_of(message)}: {text}")
        if is_user(message):
            asks.append(text)
        elif is_result(message):
            actions.append(described(text, names.get(getattr(message, "tool_call_id", None))))
        elif calls := calls_of(message):
            actions.append("called " + ", ".join(call["function"]["name"] for call in calls))
        else:
            actions.append(text)
    parts = [
        "No model could summarise these turns; what follows was gathered from them.",
        f"Last request: {json.dumps(asks[-1], ensure_ascii=False) if asks else 'unknown'}",
        _listed("Done", actions),
        _listed("Last turns", last[-FALLBACK_ENTRIES:]),
    ]
    return "\n\n".join(parts)[:FALLBACK_MOST]


def _clipped(message: BaseMessage) -> str:
    return " ".join(text_of(message.content).split())[:FALLBACK_TURN]


def _listed(title: str, entries: Sequence[str]) -> str:
    kept = list(dict.fromkeys(entry for entry in entries if entry))[:FALLBACK_ENTRIES]
    return "\n".join([f"{title}:", *(f"- {entry}" for entry in kept)])


def assembled(made: Plan, summary: str, new_id: str, rules: SummaryRules) -> list[BaseMessage]:
    """Return head, summary and tail, matched and without old images (rules H6 and H8)."""
    head = list(made.messages[: made.start])
    if is_instruction(head) and _NOTE not in text_of(head[0].content):
        head[0] = with_content(head[0], with_text(head[0].content, f"\n\n{_NOTE}"))
    tail = list(made.messages[made.end :])
    text = f"{PREFIX}\n{summary}\n\n{END}"
    role = summary_role(head, tail)
    middle: list[BaseMessage] = []
    if role is not None:
        kind = HumanMessage if role == "user" else AIMessage
        middle = [kind(text, id=new_id, additional_kwargs={SUMMARY_KEY: True})]
    elif tail:
        tail[0] = _merged(tail[0], text, rules)
    whole = [*head, *middle, *tail]
    return with_newest_images(sanitised(whole) if rules.sanitise else whole)


def _merged(message: BaseMessage, text: str, rules: SummaryRules) -> BaseMessage:
    """Return the message with the summary behind its own words, which are delimited and kept."""
    if not rules.keep_words:
        return with_content(message, text, **{SUMMARY_KEY: True})
    content = with_text(message.content, f"\n\n{MERGED}\n\n{text}")
    return with_content(message, with_text(content, f"{PRIOR}\n", before=True), **{SUMMARY_KEY: True})


def summary_role(head: Sequence[BaseMessage], tail: Sequence[BaseMessage]) -> str | None:
    """Return the role under which no two neighbours speak, None when the tail must take the summary in.

    It is the user's behind a lone system message, and when no user message would survive.
    """
    before = role_of(head[-1]) if head else "user"
    after = role_of(tail[0]) if tail else "user"
    forced = before == "system" or not any(map(is_user, (*head, *tail)))
    role = "user" if forced or before in ("assistant", "tool") else "assistant"
    if role != after:
        return role
    other = "assistant" if role == "user" else "user"
    return None if forced or other == before else other
