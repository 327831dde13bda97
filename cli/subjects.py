"""Subjects of a command: the catalogue's own run in this process, everything else in workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from ..harness.deaths import Limits
from ..harness.nursery import Nursery
from ..harness.remote import Remote
from ..harness.subject import Subject, subject_of
from ..harness.watchdog import Worker
from ..models.catalogue import CATALOGUE
from .project import candidate_of, is_own

_COMMAND = ("-P", "-m", "sixfold.cli.worker")


def open_subject(target: str, nursery: Nursery | None, limits: Limits) -> Subject:
    """Return the subject that `target` names. Raises `TargetError` when it cannot be loaded.

    Where there is a nursery, code that is not Sixfold's own is loaded and played in a worker process only.
    """
    if nursery is not None and (target not in CATALOGUE or is_own(target)):
        return Remote(partial(Worker, nursery.begin, target, limits), limits)
    return subject_of(candidate_of(target))


@contextmanager
def subjects(targets: Iterable[str], *, isolated: bool, limits: Limits) -> Iterator[list[Subject]]:
    """Open the subjects of `targets`, each once, and close them behind the block."""
    with ExitStack() as stack:
        nursery = Nursery(_COMMAND) if isolated else None
        if nursery is not None:
            stack.callback(nursery.close)
        opened = []
        for target in dict.fromkeys(targets):
            subject = open_subject(target, nursery, limits)
            stack.callback(subject.close)
            opened.append(subject)
        yield opened


def printed_by(opened: Iterable[Subject]) -> int:
    """Return how many lines the candidates printed in their workers."""
    return sum(subject.printed for subject in opened if isinstance(subject, Remote))
