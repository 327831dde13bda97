"""Lockstep: one question to all sides at once, and their answers in the order of the sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ..remote import Remote
from ..subject import Subject

Answer = TypeVar("Answer")


class Lockstep:
    """Asks sides at the same time: each works in its own process, and is waited for in its own thread."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self.subjects = tuple(subjects)
        self._waiting = ThreadPoolExecutor(max_workers=max(1, len(self.subjects) - 1))

    def ask(self, question: Callable[[int, Subject], Answer]) -> list[Answer]:
        """Return the answers of all sides to a question that is given the number and the subject.

        The error of the first side that has none is raised.
        """
        others = list(enumerate(self.subjects))[1:]
        waiting = [self._waiting.submit(question, *other) for other in others]
        try:
            answer = question(0, self.subjects[0])
        except (KeyboardInterrupt, SystemExit):
            self._abandon()
            raise
        finally:
            rest = self._errors(waiting)
        for error in rest:
            if error is not None:
                raise error
        return [answer, *(future.result() for future in waiting)]

    def _errors(self, waiting: Sequence[Future[Answer]]) -> list[BaseException | None]:
        try:
            return [future.exception() for future in waiting]
        except (KeyboardInterrupt, SystemExit):
            self._abandon()
            raise

    def _abandon(self) -> None:
        """End all processes at once: whoever wants to leave does not wait for answers of those that hang."""
        for subject in self.subjects:
            if isinstance(subject, Remote):
                subject.abandon()

    def close(self) -> None:
        """Wait for nobody any more."""
        self._waiting.shutdown()
