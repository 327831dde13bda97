"""Findings: distinct failures with a stable identity, a minimal scenario and their confirmations."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from .faults import FaultKind
from .history import History
from .ledger import Ledger
from .scenario import Scenario
from .wire_rules import Answer


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes a finding the same finding: candidate, check, where it shows, faults needed."""

    candidate: str
    code: str
    by: str
    faults: tuple[FaultKind, ...]

    def id(self) -> str:
        """Return the stable finding id, such as `SF-1a2b3c4d`."""
        text = "\0".join((self.candidate, self.code, self.by, *self.faults))
        return f"SF-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A distinct failure.

    `scenario` is the smallest one found and `history` what it does in the reducer lane; `record` is
    the index of the record that shows it. `minimal` says that no step can be left out. `confirmed`
    tells whether the graph lane shows the same violation; it is None when the candidate is not
    deterministic or the lanes disagree on it, and the finding is then inconclusive. `held_by` names
    candidates that hold on the same scenario; `histories` how many had been played when it was first
    seen. `members` are the names of the members of a stack without which it does not fail; empty for a
    single middleware.
    `providers` is what providers make of the request that shows it, when the finding is about a rejected
    request and their serialisers are installed. `ledger` is the harness's own account of `history`, with
    which it can be judged again.
    """

    signature: Signature
    scenario: Scenario
    history: History
    record: int
    detail: str
    minimal: bool
    confirmed: bool | None
    held_by: tuple[str, ...]
    histories: int
    members: tuple[str, ...] = ()
    providers: tuple[Answer, ...] = ()
    ledger: Ledger = field(default_factory=Ledger, repr=False)

    @property
    def id(self) -> str:
        """The stable finding id."""
        return self.signature.id()
