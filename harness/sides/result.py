"""What a comparison says: differences between two sides, each with the smallest history that shows it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

from ..faults import FaultKind
from ..history import History
from ..scenario import Scenario

#: What has become of a check, or of a history, from the base to the head.
DifferenceKind = Literal["regressed", "fixed", "still violated", "changed", "newly inconclusive"]

#: All kinds, the most alarming first.
KINDS: tuple[DifferenceKind, ...] = (
    "regressed",
    "newly inconclusive",
    "changed",
    "fixed",
    "still violated",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between the base and a head, or one violation that both share.

    `code` is the check, empty where both hold and the model sees something else. `scenario` is the smallest
    one found on which the two sides differ so, `minimal` tells whether no step of it can be left out, and
    `before` and `after` are its histories on the base and on the head. `by` names the hook that the check
    blames, `detail` says what is wrong, in one sentence, and `record` is the place of the violation in the
    history that has it (-1: there is none). `confirmed` tells whether the real graph shows
    the same on both sides. `histories` is how many had been played when it was first seen, `count` in how
    many it was.
    """

    kind: DifferenceKind
    head: str
    code: str
    scenario: Scenario
    before: History
    after: History
    by: str = ""
    detail: str = ""
    record: int = -1
    faults: tuple[FaultKind, ...] = ()
    minimal: bool = False
    confirmed: bool | None = None
    histories: int = 0
    count: int = 0

    @property
    def blamed(self) -> History:
        """The history that has the violation: that of the base when it is fixed, else that of the head."""
        return self.before if self.kind == "fixed" else self.after

    def id(self, target: str) -> str:
        """Return a stable id, such as `SF-1a2b3c4d`, of this check on this target."""
        text = "\0".join((target, self.code or "what the model sees", self.by, *self.faults))
        return f"SF-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class SideResult:
    """What is known of one side: what it is, what readers must know of the way it is played (`remarks`), and
    why nothing certain is known of it, if so (`troubles`).
    """

    label: str
    target: str
    versions: dict[str, str] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """The outcome of a comparison. The first side is the base, all others are heads.

    `complete` is False when the budget ended the generation early.
    """

    seed: int
    histories: int
    complete: bool
    sides: tuple[SideResult, ...]
    differences: tuple[Difference, ...]

    def target_of(self, difference: Difference) -> str:
        """Return the target of the head that a difference is about."""
        return next(side.target for side in self.sides[1:] if side.label == difference.head)

    def id_of(self, difference: Difference) -> str:
        """Return the stable id of a difference: that of the same finding in `sixfold run`."""
        return difference.id(self.target_of(difference))

    def elsewhere(self, difference: Difference) -> list[Difference]:
        """Return what else has become of the same check on the same head, in other histories."""
        same = (d for d in self.differences if (d.head, d.code) == (difference.head, difference.code))
        return [d for d in same if d.code and d.kind != difference.kind]

    def in_part(self, difference: Difference) -> bool:
        """Tell whether a check regressed, or is fixed, in some histories, and not in others.

        A build that compacts earlier or later meets its old mistakes in other histories than before.
        """
        return difference.kind in ("regressed", "fixed") and bool(self.elsewhere(difference))

    def of_kind(self, kind: DifferenceKind, head: str = "") -> list[Difference]:
        """Return the differences of one kind (of one head) in the order of their codes, in part last."""
        found = [d for d in self.differences if d.kind == kind and head in ("", d.head)]
        return sorted(found, key=self.in_part)

    @property
    def inconclusive(self) -> bool:
        """Whether something that should be known of a side is not."""
        return any(side.troubles for side in self.sides)
