"""A reading of one history: what changed at each fold and what each request shows.

Checks share it, so that the differences between neighbouring states are computed once. A reading
follows a growing history; read afresh from disk it gives the same.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import Literal, NamedTuple

from ..history import FaultFired, Fold, Happened, History, Mutated, Record, Requested, Summarised, TurnEnded
from ..ledger import Ledger, Utterance
from ..tokens import mentions
from ..views import View, Views
from .states import edited_in_place, gone, loses_system, said
from .tool_calls import CallScan, Problem, closed_before, in_order

#: Where a violation that no hook caused is said to show.
REQUEST = "request"

#: What violations are made of: a change (by a hook; one that makes messages leave), a request (edited on
#: its way; showing a state version; not extending the one before; the first without some fact), a
#: summariser call, a mutation, a turn that an error aborted which nobody injected, or that was cut,
#: anything since another thread was served.
Evidence = Literal[
    "change",
    "hook change",
    "hook removal",
    "request",
    "edited request",
    "state shown",
    "break",
    "vanished",
    "summary",
    "mutation",
    "abort",
    "cut",
    "other thread",
]


class Change(NamedTuple):
    """A fold that did more than append what was said.

    `gone` are the utterances whose message left the state (neither words nor id are left), with the
    views they had; `loses_system` tells whether a hook took the words of the system message out of it.
    """

    record: int
    fold: Fold
    before: Views
    gone: dict[str, View]
    loses_system: bool

    @property
    def by_hook(self) -> bool:
        """Tell whether a candidate's hook made this change."""
        return "." in self.fold.by

    @property
    def by_client(self) -> bool:
        """Tell whether a client made this change on purpose."""
        return self.fold.by in ("client", "edit")


class Sight(NamedTuple):
    """A model request with the state it was made from.

    `extends` tells whether it continues the previous request byte for byte; `visible` are the
    utterances mentioned anywhere in it; `causes` what happened since the request before the previous
    one that may change earlier messages for a reason; `blame` the hook that last changed the state it
    shows, or that edited it; `vanished` the facts that this request is the first not to show, unless the
    summariser had failed since the previous one; `shows_state` whether any state version is in it.
    """

    record: int
    request: Requested
    previous: Sight | None
    extends: bool
    visible: frozenset[str]
    causes: frozenset[str]
    blame: str
    state: Views
    vanished: tuple[str, ...]
    shows_state: bool


def wire(view: View) -> tuple[object, ...]:
    """Return what of a message reaches a provider: everything but its id and private metadata."""
    return (view.role, view.text, view.name, view.calls, view.answers)


def _same_on_wire(left: Views, right: Views) -> bool:
    return all(a is b or wire(a) == wire(b) for a, b in zip(left, right, strict=True))


def lasting(request: Requested, state: Views) -> int:
    """Return how many messages of `request` there are up to the last one that stands in its `state`."""
    size = len(request.messages)
    if size and state and request.messages[-1] is state[-1]:
        return size
    while size and state and request.messages[size - 1] not in state:
        size -= 1
    return size


def continues(earlier: Requested, state: Views, later: Requested) -> bool:
    """Tell whether `later` is a prefix-extension of `earlier`, as a provider's cache sees it.

    What `earlier` had added behind the last message of its `state` was for that request only and is
    not part of the prefix.
    """
    size = lasting(earlier, state)
    return (
        earlier.system == later.system
        and len(later.messages) >= size
        and (
            later.messages[:size] == earlier.messages[:size]
            or _same_on_wire(earlier.messages[:size], later.messages[:size])
        )
    )


class Reading:
    """Changes and sights of a history, in order. `ledger` and `history` are public; call `follow`
    after the history has grown.
    """

    def __init__(self, ledger: Ledger, history: History) -> None:
        self.ledger = ledger
        self.history = history
        self.changes: list[Change] = []
        self.sights: list[Sight] = []
        self._rejected: list[tuple[Sight, list[Problem]]] = []
        self._scan = CallScan()
        self._shared = False
        self._looked_at = 0
        self.summaries = 0
        self._read = 0
        self._state: Views = ()
        self._blame = REQUEST
        self._causes: set[str] = set()
        self._fault_turn = 0
        self._missing: set[str] = set()
        self._latest: dict[Evidence, int] = {}
        self._upcoming: list[Utterance] = []
        self._said: set[str] = set()
        self._carriers: dict[int, dict[str, list[View]]] = {}
        self.follow()

    def follow(self) -> None:
        """Read the records that were added since the last call."""
        records = self.history.records
        self._said = set()
        self._upcoming = sorted(self.ledger.utterances.values(), key=attrgetter("at"), reverse=True)
        for index in range(self._read, len(records)):
            self._follow(index, records[index])
        self._read = len(records)

    def evidence_since(self, record: int) -> frozenset[Evidence]:
        """Return what there is to judge from history record `record` on."""
        return frozenset([evidence for evidence, at in self._latest.items() if at >= record])

    def said(self, views: Views) -> dict[str, list[View]]:
        """Return the views of a state or request of this history that carry each utterance, by token."""
        carriers = self._carriers.get(id(views))
        if carriers is None:
            carriers = self._carriers[id(views)] = said(views)
        return carriers

    def changes_since(self, record: int) -> list[Change]:
        """Return the changes from history record `record` on."""
        if not record:
            return self.changes
        return self.changes[bisect_left(self.changes, record, key=attrgetter("record")) :]

    def sights_since(self, record: int) -> list[Sight]:
        """Return the sights from history record `record` on."""
        if not record:
            return self.sights
        return self.sights[bisect_left(self.sights, record, key=attrgetter("record")) :]

    def rejected_since(self, record: int) -> list[tuple[Sight, list[Problem]]]:
        """Return the requests from record `record` on that a strict provider rejects, and why."""
        for sight in self.sights[self._looked_at :]:
            scan = self._look_at_calls(sight)
            problems = scan.problems() if scan is not None else ()
            if scan is not None and problems:
                self._rejected.append((sight, problems))
                self._scan = scan
        self._looked_at = len(self.sights)
        return [rejected for rejected in self._rejected if rejected[0].record >= record]

    def _look_at_calls(self, sight: Sight) -> CallScan | None:
        """Look at the new messages only when the request continues another; None when all is in order."""
        messages, previous = sight.request.messages, sight.previous
        if previous is None or not sight.extends:
            return None if in_order(messages) else CallScan().read(messages)
        if self._rejected and self._rejected[-1][0] is previous:
            seen = len(previous.request.messages)
            if messages[:seen] == previous.request.messages:
                return self._scan.copy().read(messages[seen:])
            return CallScan().read(messages)
        kept = lasting(previous.request, previous.state)
        start = closed_before(messages, kept, cut=kept < len(previous.request.messages))
        return None if in_order(messages[start:]) else CallScan().read(messages)

    def _follow(self, index: int, record: Record) -> None:
        match record:
            case Fold():
                self._fold(index, record)
            case Requested():
                self._sight(index, record)
            case Happened(what=what) if what != "restart":
                self._causes.add(what)
                if what in ("other_thread", "leaked"):
                    self._shared = True
                    self._latest["other thread"] = index
            case FaultFired(turn=turn):
                self._fault_turn = turn
            case Summarised(failure=failure, faithful=faithful):
                self.summaries += 1
                self._latest["summary"] = index
                if failure is None:
                    self._causes.add("compaction")
                if not faithful:
                    self._causes.add("unfaithful summary")
            case Mutated():
                self._latest["mutation"] = index
            case TurnEnded(how="cut"):
                self._latest["cut"] = index
            case TurnEnded(how="aborted", injected=False):
                self._latest["abort"] = index
            case _:
                pass

    def _fold(self, index: int, fold: Fold) -> None:
        before, self._state = self._state, fold.state
        if "." not in fold.by and fold.state[: len(before)] == before:
            return
        lost = "." in fold.by and loses_system(before, fold.state)
        change = Change(index, fold, before, gone(before, fold.state), lost)
        self.changes.append(change)
        self._latest["change"] = index
        if change.by_hook:
            self._latest["hook change"] = index
            self._blame = fold.by
            if change.gone:
                self._latest["hook removal"] = index
                self._causes.add("compaction")
            elif edited_in_place(before, fold.state):
                self._causes.add("edit in place")
            if change.loses_system:
                self._causes.add("system lost")

    def _sight(self, index: int, request: Requested) -> None:
        previous = self.sights[-1] if self.sights else None
        extends = previous is None or continues(previous.request, previous.state, request)
        kept = 0 if previous is None else len(previous.request.messages)
        if previous is not None and extends and lasting(previous.request, previous.state) == kept:
            new = request.messages[kept:]
            visible = previous.visible.union(*(view.mentions.utterances for view in new))
            shows_state = previous.shows_state or any(view.mentions.states for view in new)
        else:
            prompt = mentions(request.system)
            visible = frozenset(prompt.utterances).union(
                *(view.mentions.utterances for view in request.messages)
            )
            shows_state = bool(prompt.states) or any(view.mentions.states for view in request.messages)
        turn = request.turn
        recovering = previous is not None and self._fault_turn >= previous.request.turn
        if self._fault_turn == turn or recovering:
            self._causes.add("fault")
        vanished = self._vanished(index, visible)
        causes = frozenset(self._causes)
        blame = request.edited_by or self._blame
        self.sights.append(
            Sight(
                index, request, previous, extends, visible, causes, blame, self._state, vanished, shows_state
            )
        )
        self._causes = set()
        latest = self._latest
        latest["request"] = index
        if request.edited_by:
            latest["edited request"] = index
        if self._shared:
            latest["other thread"] = index
        if shows_state:
            latest["state shown"] = index
        if not extends:
            latest["break"] = index
        if vanished:
            latest["vanished"] = index

    def _can_be_told(self, token: str) -> bool:
        """Tell whether a summary can be seen to keep the fact: somebody else's tool writes no token."""
        return token[0] != "t" or token in mentions(self.ledger.utterances[token].text).utterances

    def _vanished(self, index: int, visible: frozenset[str]) -> tuple[str, ...]:
        ledger = self.ledger
        while self._upcoming and self._upcoming[-1].at <= index:
            self._said.add(self._upcoming.pop().token)
        out_of_sight = self._said - visible - self._missing
        if not out_of_sight:
            return ()
        missing = tuple(
            t
            for t in ledger.utterances
            if t in out_of_sight and ledger.live(t, index) and self._can_be_told(t)
        )
        self._missing.update(missing)
        return () if "unfaithful summary" in self._causes else missing
