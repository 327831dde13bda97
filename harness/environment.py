"""The world a candidate lives in: clock, dynamic state, models, token counter, id source.

A factory target receives an `Environment`; everything it hands out is deterministic and belongs to
the running session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import convert_to_messages

from .chat_model import FakeChatModel
from .clock import VirtualClock
from .tokens import state_text
from .views import text_of

#: Context window that the fake models announce, in tokens of `count_tokens`.
SMALL_WINDOW = 120


def count_tokens(messages: Iterable[Any], **_options: Any) -> int:
    """Count tokens deterministically: 3 a message and 1 for every 6 characters begun."""
    return sum(3 + (len(text_of(m.content)) + 5) // 6 for m in convert_to_messages(list(messages)))


@dataclass(slots=True)
class DynamicState:
    """The source of truth for dynamic state (memory, files, canvas): one text with a version token."""

    version: int = 1
    empty: bool = False
    on_read: Callable[[], None] | None = None

    def read(self) -> str:
        """Return the current text. Raises an injected fault when one is planned for the source."""
        if self.on_read is not None:
            self.on_read()
        return self.text()

    def text(self) -> str:
        """Return the current text without going through the (possibly failing) source."""
        return "" if self.empty else state_text(self.token())

    def token(self) -> str:
        """Return the token of the current version, such as `s1`."""
        return f"s{self.version}"


@dataclass(slots=True)
class Environment:
    """What a factory may use to build its middleware.

    `model` is a chat model (a faithful summariser with a small context profile), `state` the source
    of dynamic state, `clock` the virtual clock, `token_counter` counts tokens of messages, `new_id`
    gives message ids that are the same in every replay. A whole agent is compiled with `checkpointer`, and
    may have `tools` among its own: one, `lookup`, which says what the script wants it to say.
    """

    model: FakeChatModel
    clock: VirtualClock = field(default_factory=VirtualClock)
    state: DynamicState = field(default_factory=DynamicState)
    on_count: Callable[[], None] | None = None
    ids_given: int = 0
    checkpointer: Any = None
    tools: tuple[Any, ...] = ()

    def token_counter(self, messages: Iterable[Any], **options: Any) -> int:
        """Count tokens of `messages`. Raises an injected fault when one is planned for the counter."""
        if self.on_count is not None:
            self.on_count()
        return count_tokens(messages, **options)

    def new_id(self, prefix: str = "x") -> str:
        """Return a fresh message id, unique in this history and equal in every replay of it."""
        self.ids_given += 1
        return f"{prefix}{self.ids_given}"
