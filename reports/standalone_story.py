"""The story that a stand-alone file plays, and the recorded history as it is read beside the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..harness.history import Fold, Happened, Record, TurnEnded
from ..harness.steps import StackForm
from ..harness.views import View
from .standalone_faults import Faults


class Unsupported(Exception):
    """Something in the finding that a stand-alone file cannot do; the text says what."""


@dataclass(slots=True)
class Story:
    """Code that plays a scenario up to the step that shows the finding.

    `before` are the lines of all steps but the last one, `last` the lines of that one. `earlier_requests`
    counts the requests before the last step; `results` are the texts of tool results by token.
    """

    before: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    earlier_requests: int = 0
    results: dict[str, str] = field(default_factory=dict)
    restarts: bool = False
    runs_sync: bool = False
    runs_async: bool = False
    suppresses: bool = False
    metadata: bool = False
    usage: bool = False
    stack: StackForm = "in_order"
    needs_environment: set[str] = field(default_factory=set)
    faults: Faults = field(default_factory=Faults)


class Records:
    """The records of a history, taken one after the other by the steps that left them.

    `at` is the index of the next record.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._all = records
        self.at = 0

    def seen(self) -> Sequence[Record]:
        """Return the records that have been taken."""
        return self._all[: self.at]

    def next(self) -> Record | None:
        """Return the next record without taking it, None at the end."""
        return self._all[self.at] if self.at < len(self._all) else None

    def happened(self, *what: str) -> Happened | None:
        """Take the next record when it is one of these events."""
        record = self.next()
        if isinstance(record, Happened) and record.what in what:
            self.at += 1
            return record
        return None

    def written(self) -> tuple[View, ...]:
        """Take the fold of what a client wrote, and return what it wrote; empty when nothing was folded."""
        record = self.next()
        if isinstance(record, Fold) and record.by in ("client", "edit"):
            self.at += 1
            return record.update
        return ()

    def run(self) -> Sequence[Record]:
        """Take the records of a run of the agent. Raises `Unsupported` when it does not end."""
        start = self.at
        while not isinstance(self.next(), TurnEnded):
            if self.next() is None:
                raise Unsupported("the history ends within a run")
            self.at += 1
        self.at += 1
        return self._all[start : self.at]

    def loads(self, turn: int) -> list[Fold]:
        """Return the folds taken so far in which `turn` was loaded."""
        loaded = [
            index
            for index, record in enumerate(self.seen())
            if isinstance(record, Happened) and record.what == "load_turn"
        ]
        found = [self._all[index + 1] for index in loaded]
        return [record for record in found if isinstance(record, Fold) and record.turn == turn]
