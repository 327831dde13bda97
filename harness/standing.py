"""The state of a thread as it stood after the last fold: message objects and their views.

What has only grown since is not looked at again: most folds append.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from langchain_core.messages import BaseMessage

from .views import ViewBook, Views


class Standing:
    """Follows the folds of one thread. `messages` are those of the last one, empty when unknown.

    `old` is how many of them stood there before it.
    """

    __slots__ = ("_book", "_unparsable", "messages", "old")

    def __init__(self, book: ViewBook) -> None:
        self._book = book
        self._unparsable = False
        self.messages: list[BaseMessage] = []
        self.old = 0

    def forget(self) -> None:
        """Look at everything again after the next fold: messages were changed behind the reducer's back."""
        self.messages = []

    def is_plain(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether these are the messages of the last fold, none with calls that cannot be parsed."""
        known = self.messages
        return len(messages) == len(known) > 0 and not self._unparsable and all(map(is_, messages, known))

    def follows(self, request: Sequence[BaseMessage]) -> bool:
        """Tell whether a request is one message, such as a prompt, and those of the last fold."""
        known = self.messages
        return len(request) == len(known) + 1 > 1 and all(map(is_, request[1:], known))

    def fold(self, messages: Sequence[BaseMessage], state: Views) -> Views:
        """Take note of a fold that made `messages`; `state` are the views of the last one. Return the new."""
        known = len(self.messages)
        if known and len(messages) >= known and all(map(is_, messages, self.messages)):
            new = messages[known:]
            views = self._book.views(new)
            state = state + views
            self.messages += new
            self.old = known
        else:
            new = messages
            state = views = self._book.views(messages)
            self.messages = list(messages)
            self.old = 0
            self._unparsable = False
        for message in new:
            if message.__dict__.get("invalid_tool_calls"):
                self._unparsable = True
        if None in [view.id for view in views]:
            # What was written past the reducer has no id yet: the next fold gives it one, in place.
            self.messages = []
        return state
