"""A claim of a stand-alone file: what must be true of what the model saw, or of the state after the fold.

It is written for the messages at hand, so that it can be read without knowing Sixfold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..harness.findings import Finding
from ..harness.invariants.checks import Violation
from ..harness.invariants.reading import Change, Reading, Sight
from ..harness.rules import rule_by_code
from ..harness.tokens import token_text
from .standalone_text import literal, prose


class NoClaim(Exception):
    """The finding cannot be told by one assertion; the text says why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Lines that assert something, those that must come before the last step, and the parts they need."""

    lines: list[str]
    before: list[str] = field(default_factory=list)
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Shown:
    """A violation with what shows it. `asked` counts the requests of earlier steps."""

    finding: Finding
    violation: Violation
    reading: Reading
    asked: int

    @property
    def because(self) -> str:
        """The message of the assertion, as a literal on a line of its own."""
        return f"(\n    {literal(message_of(self.finding))}\n)"

    @property
    def change(self) -> Change:
        """The change that the violation is about. Raises `NoClaim` when it is about something else."""
        found = [c for c in self.reading.changes if c.record == self.violation.record]
        if not found:
            raise NoClaim("no change of the state shows it")
        return found[0]

    @property
    def sight(self) -> Sight:
        """The request that the violation is about. Raises `NoClaim` when it is about something else."""
        found = [s for s in self.reading.sights if s.record == self.violation.record]
        if not found:
            raise NoClaim("no request shows it")
        return found[0]

    @property
    def nth(self) -> int:
        """Which request of the last step shows it, from 0."""
        return self.reading.sights.index(self.sight) - self.asked


def message_of(finding: Finding) -> str:
    """Return how the file's assertion begins: the check's code, what it means, and what is wrong here."""
    rule = rule_by_code(finding.signature.code)
    title = "" if rule is None else rule.title
    return f"{finding.signature.code}: {title}: {prose(finding.detail, 200)}"


def said(token: str) -> str:
    """Return the beginning of the words of an utterance, as a literal: nobody else says them."""
    return literal(token_text(token, 0))


def said_all(tokens: list[str]) -> str:
    """Return the beginnings of the words of utterances, as a list."""
    return "[" + ", ".join(map(said, tokens)) + "]"


#: How files read the state at the end.
STATE = 'messages = agent.get_state(thread).values["messages"]'
TEXT = frozenset({"text_of"})


def of_state(*lines: str, before: tuple[str, ...] = (), parts: frozenset[str] = TEXT) -> Claim:
    """Return a claim on the `messages` of the state at the end."""
    return Claim([STATE, *lines], list(before), parts)


def _asked(shown: Shown, first: int) -> tuple[str, tuple[str, ...]]:
    """Return the requests of the last step from number `first` on, and what must come before the step."""
    if not shown.asked:
        return (f"model.requests[{first}:]" if first else "model.requests"), ()
    more = f" + {first}" if first else ""
    return f"model.requests[asked{more}:]", ("asked = len(model.requests)",)


def of_requests(shown: Shown, *lines: str, first: int = 0, parts: frozenset[str] = TEXT) -> Claim:
    """Return a claim on each `request` of the last step."""
    requests, before = _asked(shown, first)
    body = [f"    {part}" for line in lines for part in line.split("\n")]
    return Claim([f"for request in {requests}:", *body], list(before), parts)


def current(shown: Shown) -> list[str]:
    """Return the user's words of the turn whose request shows the violation."""
    sight = shown.sight
    return list(shown.reading.ledger.words_at(sight.request.turn, sight.record))


def is_random_id(view_id: str | None) -> bool:
    """Tell whether a message had no id, or one that is another in each run."""
    return not view_id or (view_id.startswith("new") and view_id[3:].isdigit())
