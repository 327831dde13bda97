"""What came of a fold: the messages that are there now, and what became of those that were there before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from langchain_core.messages import BaseMessage

from .harmless import harmless
from .invariants.tool_calls import tool_problems
from .views import Views, text_of, view_of

#: What a message's role is called in pictures.
_ROLES = {"human": "user", "ai": "model"}

#: Characters of a text in pictures, and of a picture on one line.
_TEXT = 24
_LINE = 200

#: Messages of such a picture in any case: the last ones, which the model takes for the present.
_TAIL = 3


def _views(messages: Sequence[BaseMessage]) -> Views:
    return tuple(view_of(message, message.id) for message in messages)


def _box(message: BaseMessage) -> str:
    role = _ROLES.get(message.type, message.type)
    text = harmless(text_of(message.content), _TEXT)
    calls = len(getattr(message, "tool_calls", ()))
    said = f' "{text}"' if text else ""
    called = f" calls {calls}" if calls else ""
    return f"[{role} id={harmless(str(message.id), 20)}{said}{called}]"


def _line(messages: Sequence[BaseMessage]) -> str:
    """Draw the messages on one line; what does not fit is left out before the last ones."""
    boxes = [_box(message) for message in messages]
    tail = boxes[-_TAIL:]
    head: list[str] = []
    for box in boxes[: len(boxes) - len(tail)]:
        if sum(map(len, (*head, box, *tail))) > _LINE:
            head.append("…")
            break
        head.append(box)
    return " ".join((*head, *tail)) or "[]"


def _key(message: BaseMessage) -> tuple[object, ...]:
    """Return what makes two messages say the same, whatever their ids are."""
    calls = tuple(call["id"] for call in getattr(message, "tool_calls", ()))
    return message.type, text_of(message.content), calls, getattr(message, "tool_call_id", None)


def _is_from(message: BaseMessage, old: BaseMessage) -> bool:
    """Tell whether `message` holds the words of `old` under its id, or under one derived from it."""
    if message.type != old.type or not old.id or not message.id:
        return False
    derived = message.id == old.id or message.id.startswith(f"{old.id}__")
    return derived and text_of(old.content) in text_of(message.content)


def lineage(history: Sequence[BaseMessage], messages: Sequence[BaseMessage]) -> tuple[int | None, ...]:
    """Return for each message which one of the history it is, by number; None for what is new.

    It is one that says the same, under the same id if there is one; or that holds its words under its id or
    a derived one.
    """
    found: list[int | None] = [None] * len(messages)
    taken: set[int] = set()

    def match(says_so: object) -> Iterator[tuple[int, int]]:
        for at, message in enumerate(messages):
            for number, old in enumerate(history):
                if found[at] is None and callable(says_so) and says_so(message, old, number):
                    yield at, number
                    break

    def same(message: BaseMessage, old: BaseMessage, number: int) -> bool:
        return message.id == old.id and _key(message) == _key(old)

    def said_again(message: BaseMessage, old: BaseMessage, number: int) -> bool:
        return number not in taken and _key(message) == _key(old)

    def decorated(message: BaseMessage, old: BaseMessage, number: int) -> bool:
        return _is_from(message, old)

    def copied(message: BaseMessage, old: BaseMessage, number: int) -> bool:
        return _key(message) == _key(old)

    for rule in (same, said_again, decorated, copied):
        for at, number in match(rule):
            found[at] = number
            taken.add(number)
    return tuple(found)


@dataclass(frozen=True, slots=True, repr=False)
class Folded:
    """The net effect of middleware on a history, for assertions in tests.

    `history` are the messages before, with the ids that the reducer gave them; `messages` those of the state
    after the fold; `request` what the model was shown at its first call (None when it was not called, as when
    an update was folded by hand), `system` its system prompt.
    """

    history: tuple[BaseMessage, ...]
    messages: tuple[BaseMessage, ...]
    request: tuple[BaseMessage, ...] | None = None
    system: str = ""

    @property
    def shown(self) -> tuple[BaseMessage, ...]:
        """What the model is shown: the request, or the messages of the state where there is none."""
        return self.messages if self.request is None else self.request

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of what the model is shown, in order."""
        return tuple(text_of(message.content) for message in self.shown)

    @property
    def last_user(self) -> str | None:
        """The last words of the user that the model is shown, as the user wrote them.

        Words of the user are those of the history's human messages: a reminder in the user's role is none,
        and a message that was decorated under its id still is. None when no such words are left.
        """
        numbers = lineage(self.history, self.shown)
        said = (self.history[n] for n in reversed(numbers) if n is not None)
        last = next((message for message in said if message.type == "human"), None)
        return None if last is None else text_of(last.content)

    @property
    def order_kept(self) -> bool:
        """Whether the messages of the history that are left stand in their order, each once."""
        return all(
            _rising([n for n in lineage(self.history, messages) if n is not None])
            for messages in (self.messages, self.shown)
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """What a strict provider rejects in the tool calls that the model is shown.

        What was wrong in the history already is left out.
        """
        before = {(code, call) for code, call, _ in tool_problems(_views(self.history))}
        found = tool_problems(_views(self.shown))
        return tuple(detail for code, call, detail in found if (code, call) not in before)

    @property
    def no_orphans(self) -> bool:
        """Whether each tool call is answered once, directly behind it, and no result is without its call."""
        return not self.problems

    @property
    def lost(self) -> tuple[str, ...]:
        """The texts of the history that the model is not shown any more, in no message and no summary."""
        told = (self.system, *self.texts)
        texts = (text_of(message.content) for message in self.history)
        return tuple(text for text in texts if text and not any(text in each for each in told))

    @property
    def picture(self) -> str:
        """The fold, drawn for people: history, state and request, line by line."""
        lines = [f"history:  {' '.join(map(_box, self.history)) or '[]'}"]
        lines.append(f"state:    {' '.join(map(_box, self.messages)) or '[]'}")
        if self.request is not None:
            lines.append(f"request:  {' '.join(map(_box, self.request)) or '[]'}")
        lines += [f"          ← {harmless(problem)}" for problem in self.problems]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return what the model is shown, on one line: pytest prints it where an assertion fails."""
        return f"Folded({_line(self.shown)})"


def _rising(numbers: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(numbers))
