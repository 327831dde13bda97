"""Deaths: how a candidate takes its process with it, and the history that is left of it.

The history ends in the turn that was aborted, so that the ordinary check judges it (`6.hook-error`) and a
reader of the run folder judges it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .history import History, TurnEnded

DeathKind = Literal["hang", "exit", "killed", "memory", "garbled"]

#: The error with which the history of a death ends, by kind. No exception is called so.
_ERRORS: dict[DeathKind, str] = {
    "hang": "process hung",
    "exit": "process exited",
    "killed": "process killed",
    "memory": "process outgrew its memory",
    "garbled": "process wrote over its answers",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a worker may use: seconds of real time for a history, and bytes.

    Loading imports the libraries of the candidate, too, and may take longer.
    """

    history: float = 20.0
    memory: int = 1 << 30

    @property
    def loading(self) -> float:
        """Seconds that a worker may take to load its candidate."""
        return max(30.0, 6 * self.history)


class DeathError(Exception):
    """The worker is dead: it was killed by the watchdog, or ended by itself."""

    def __init__(self, kind: DeathKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind: DeathKind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker told last: the history so far, and whose code was entered and not left (empty: none)."""

    history: History
    turn: int
    by: str


def died(told: Told, death: DeathError) -> History:
    """Return the history that ends with the death, blamed on whose code was running."""
    history = told.history
    ended = TurnEnded(told.turn, "aborted", f"{_ERRORS[death.kind]}: {death.detail}", False, told.by)
    return History(history.candidate, history.lane, [*history.records, ended])


def aspect_of(error: str | None) -> str:
    """Return the kind of death that `error` of a turn tells of; empty when the process lived on."""
    return next((kind for kind, name in _ERRORS.items() if error and error.startswith(f"{name}: ")), "")


def is_death(place: str) -> bool:
    """Tell whether `place`, of a violation, names a death."""
    return place.rpartition(", ")[2] in _ERRORS
