"""The baseline: findings that a team has accepted for now, each with a reason, an owner and an end.

Everything here is a function of values: the day on which an entry ends is compared with a day that is
given, and files are read and written elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An accepted finding. `expires` is the last day on which it is accepted; None: it has no end.

    `id` tells findings apart; `candidate` and `code` say to people, and to later runs, what it is about.
    """

    id: str
    candidate: str
    code: str
    reason: str = ""
    owner: str = ""
    expires: date | None = None

    def has_expired(self, today: date) -> bool:
        """Tell whether the entry is no longer in force."""
        return self.expires is not None and today > self.expires


@dataclass(frozen=True, slots=True)
class Observed:
    """A finding of this run, as a baseline knows findings."""

    id: str
    candidate: str
    code: str


@dataclass(frozen=True, slots=True)
class Sorted:
    """Findings of a run, held against a baseline.

    `known` are accepted, `new` are in no entry, `expired` were accepted until a day that has passed, and
    `unobserved` are entries about candidates of this run that it did not see.
    """

    known: tuple[Accepted, ...] = ()
    new: tuple[Observed, ...] = ()
    expired: tuple[Accepted, ...] = ()
    unobserved: tuple[Accepted, ...] = ()

    @property
    def accepted(self) -> frozenset[str]:
        """The ids that must not fail a run."""
        return frozenset(entry.id for entry in self.known)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run could have seen: its candidates, and the invariants that it judged (empty: all)."""

    candidates: frozenset[str]
    invariants: tuple[int, ...] = ()

    def covers(self, entry: Accepted) -> bool:
        """Tell whether the run would have reported the finding of an entry."""
        judged = not self.invariants or not entry.code or int(entry.code[0]) in self.invariants
        return entry.candidate in self.candidates and judged


@dataclass(frozen=True, slots=True)
class Baseline:
    """Accepted findings, in the order of the file."""

    entries: tuple[Accepted, ...] = field(default=())

    def sort(self, observed: Iterable[Observed], scope: Scope, today: date) -> Sorted:
        """Hold what a run saw against the entries, on a day."""
        seen = {each.id: each for each in observed}
        ids = {entry.id for entry in self.entries}
        there = [entry for entry in self.entries if entry.id in seen]
        return Sorted(
            known=tuple(entry for entry in there if not entry.has_expired(today)),
            new=tuple(each for each in seen.values() if each.id not in ids),
            expired=tuple(entry for entry in there if entry.has_expired(today)),
            unobserved=tuple(e for e in self.entries if e.id not in seen and scope.covers(e)),
        )

    def updated(self, observed: Sequence[Observed], scope: Scope) -> Baseline:
        """Return the baseline with an entry for each finding, without a reason where it is new.

        What is known of an entry stays, its end included. An entry that this run would have seen, and did
        not, goes when nobody has written a reason into it; with a reason it stays, and is `unobserved`.
        """
        seen = {each.id: each for each in observed}
        kept = [
            replace(entry, candidate=seen[entry.id].candidate, code=seen[entry.id].code)
            if entry.id in seen
            else entry
            for entry in self.entries
            if entry.id in seen or entry.reason or not scope.covers(entry)
        ]
        ids = {entry.id for entry in kept}
        new = [
            Accepted(id=each.id, candidate=each.candidate, code=each.code)
            for each in sorted(seen.values(), key=lambda each: (each.candidate, each.code, each.id))
            if each.id not in ids
        ]
        return Baseline((*kept, *new))
