"""Requests on the wire: plays a scenario once more and judges its requests as providers would get them.

Histories keep views of messages and no payloads, which would cost more than everything else that a model
call does here. So what the wire shows is judged on a replay, for findings and for a sample of histories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from operator import itemgetter
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from .agent import Agent, build_agent
from .candidate import CONTROL
from .history import Requested
from .invariants.checks import Violation
from .invariants.tool_calls import tool_problems
from .play import Play, play
from .providers import answers_of, installed
from .scenario import Scenario
from .wire_rules import CALL_RULES, Answer, Rule

#: The code for what the built-in rules, which read views, cannot see.
WIRE_ONLY = "4.rejected-request"

#: The codes that say: a strict provider rejects this request.
REJECTING: frozenset[str] = frozenset(
    {"4.orphan-result", "4.unanswered-call", "4.duplicate-result", WIRE_ONLY}
)


class Sent(NamedTuple):
    """A model request: its history record, and copies of its messages as they were then."""

    record: int
    request: Requested
    messages: list[BaseMessage]


def _sent(agent: Agent, scenario: Scenario, play_it: Play) -> list[Sent]:
    """Play the scenario and return its model requests, in order."""
    copies: dict[int, tuple[BaseMessage, BaseMessage]] = {}
    seen: list[tuple[int, list[BaseMessage]]] = []

    def copy_of(message: BaseMessage) -> BaseMessage:
        original, copied = copies.get(id(message), (None, message))
        if original is not message or copied.__dict__ != message.__dict__:
            copied = message.model_copy(deep=True)
            copies[id(message)] = (message, copied)
        return copied

    def observe(record: int, messages: Sequence[BaseMessage]) -> None:
        seen.append((record, [copy_of(message) for message in messages]))

    records = play_it(agent, scenario, on_request=observe).history.records
    requested = ((index, records[index], messages) for index, messages in seen)
    return [Sent(index, r, messages) for index, r, messages in requested if isinstance(r, Requested)]


def _not_extended(sent: Sequence[Sent]) -> Iterator[Sent]:
    """Yield the requests that the next one does not continue: what is wrong in the others is wrong there.

    Nothing but system messages is wrong in itself, whatever comes after them in the next one.
    """
    for each, following in zip_longest(sent, sent[1:]):
        shown = each.request.messages
        if (
            following is None
            or all(view.role == "system" for view in shown)
            or following.request.system != each.request.system
            or following.request.messages[: len(shown)] != shown
        ):
            yield each


@cache
def _control(outside: frozenset[str]) -> Agent:
    """Return control, with the steps that are outside for a candidate: they are played for neither."""
    contract = replace(CONTROL.contract, outside=outside)
    return build_agent(replace(CONTROL, contract=contract), direct=True)


def _broken_in(answers: Sequence[Answer]) -> set[tuple[str, Rule]]:
    return {(answer.provider, rejection.rule) for answer in answers for rejection in answer.rejections}


def _new(sent: Sent, messages: Sequence[BaseMessage], known: set[tuple[str, Rule]]) -> list[Answer]:
    """Return the rejections of `messages` that are neither `known` nor seen by the built-in rules."""
    judged_already = CALL_RULES if tool_problems(sent.request.messages) else frozenset()
    answers = []
    for answer in answers_of(messages):
        left = tuple(
            rejection
            for rejection in answer.rejections
            if rejection.rule not in judged_already and (answer.provider, rejection.rule) not in known
        )
        if left:
            answers.append(Answer(answer.provider, left))
    return answers


def _rejected(agent: Agent, scenario: Scenario, play_it: Play) -> Iterator[tuple[Sent, list[Answer], bool]]:
    """Yield the requests that are rejected for what only the wire shows, and whether system messages are why.

    What control sends is the scenario's doing: a rule of a provider that one of its requests breaks, or a
    message of the user in itself, is not held against a candidate in this scenario.
    """
    suspects = [
        each for each in _not_extended(_sent(agent, scenario, play_it)) if _new(each, each.messages, set())
    ]
    if not suspects:
        return
    control = _control(agent.candidate.contract.outside)
    by_control = [each.messages for each in _not_extended(_sent(control, scenario, play))]
    # In its requests a neighbour may make up for it: providers get messages of one role as one.
    of_users = [[each] for messages in by_control for each in messages if each.type == "human"]
    known = {broken for messages in (*by_control, *of_users) for broken in _broken_in(answers_of(messages))}
    for each in suspects:
        answers = _new(each, each.messages, known)
        if answers:
            gathered = sorted(each.messages, key=lambda message: message.type != "system")
            yield each, answers, not _new(each, gathered, known)


def _worst(agent: Agent, scenario: Scenario, play_it: Play) -> tuple[Sent, list[Answer], bool] | None:
    """Return the first of these requests, those for other reasons than system messages before the others."""
    return min(_rejected(agent, scenario, play_it), key=itemgetter(2), default=None)


def rejected_on_wire(agent: Agent, scenario: Scenario, play_it: Play) -> Violation | None:
    """Return which request providers reject for what only the wire shows, None when they accept all."""
    worst = _worst(agent, scenario, play_it) if installed() else None
    if worst is None:
        return None
    sent, answers, for_system = worst
    where = f"request {sent.request.call} of turn {sent.request.turn}"
    facts = frozenset({"system_message"}) if for_system else frozenset()
    return Violation(WIRE_ONLY, 0, "wire", f"{where}: {', '.join(map(str, answers))}", facts=facts)


def provider_answers(agent: Agent, scenario: Scenario, code: str, record: int) -> tuple[Answer, ...]:
    """Return what each installed provider makes of the request at history record `record`, of a finding.

    Empty for codes that are not about rejected requests, and when no serialiser is installed.
    """
    if code not in REJECTING or not installed():
        return ()
    if code == WIRE_ONLY:
        worst = _worst(agent, scenario, play)
        return () if worst is None else answers_of(worst[0].messages)
    sent = _sent(agent, scenario, play)
    return next((answers_of(each.messages) for each in sent if each.record == record), ())
