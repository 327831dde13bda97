"""Figures: what a candidate costs, measured beside the verdicts. Never pass or fail.

They are sums over requests and turns, so the figures of many histories add up to those of a campaign.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from .history import Fold, TurnEnded
from .invariants.reading import Change, Reading, Sight, wire
from .views import Views

#: A rewrite of fewer messages than this is not called a rewrite of the history.
_HISTORY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured in `histories` histories. `a + b` are the figures of both together.

    `sent` and `resent` count characters: of all requests but the first of each history, and the part of
    them with which the previous request began already. `tokens` is what all requests cost: 3 a message
    and 1 for every 6 characters begun, as the harness's own counter has it. `stored` counts the messages
    in the last state of each history. `id_growth` is the number of characters by which the longest id of
    an utterance had grown in the end. `needless_rewrites` are hook updates that wrote the whole history
    anew and left every message as it was.
    """

    histories: int = 0
    turns: int = 0
    requests: int = 0
    sent: int = 0
    resent: int = 0
    tokens: int = 0
    summaries: int = 0
    stored: int = 0
    id_growth: int = 0
    needless_rewrites: int = 0

    def __add__(self, other: Figures) -> Figures:
        totals = {
            field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)
        }
        return Figures(**{**totals, "id_growth": max(self.id_growth, other.id_growth)})

    @property
    def prefix_reuse(self) -> float | None:
        """The share of a request that a prefix cache has from the previous one, 0 to 1."""
        return self.resent / self.sent if self.sent else None

    @property
    def tokens_per_turn(self) -> float | None:
        """Tokens of all requests of a turn."""
        return self._per_turn(self.tokens)

    @property
    def summaries_per_turn(self) -> float | None:
        """Calls of the summariser in a turn."""
        return self._per_turn(self.summaries)

    @property
    def growth_per_turn(self) -> float | None:
        """Messages that a turn leaves in the state."""
        return self._per_turn(self.stored)

    def _per_turn(self, total: int) -> float | None:
        return total / self.turns if self.turns else None


def figures_data(figures: Figures) -> dict[str, Any]:
    """Return the figures as plain data: the sums, and the ratios that reports show."""
    ratios = {
        "prefix_reuse": figures.prefix_reuse,
        "tokens_per_turn": figures.tokens_per_turn,
        "summaries_per_turn": figures.summaries_per_turn,
        "growth_per_turn": figures.growth_per_turn,
    }
    rounded = {name: None if value is None else round(value, 4) for name, value in ratios.items()}
    return asdict(figures) | rounded


def figures(reading: Reading) -> Figures:
    """Measure one history."""
    records = reading.history.records
    state = next((record.state for record in reversed(records) if isinstance(record, Fold)), ())
    followers = [sight for sight in reading.sights if sight.previous is not None]
    return Figures(
        histories=1,
        turns=len({record.turn for record in records if isinstance(record, TurnEnded)}),
        requests=len(reading.sights),
        sent=sum(_length(sight) for sight in followers),
        resent=sum(_reused(sight) for sight in followers),
        tokens=sum(_tokens(sight) for sight in reading.sights),
        summaries=reading.summaries,
        stored=len(state),
        id_growth=_id_growth(reading, state),
        needless_rewrites=sum(map(rewrites_needlessly, reading.changes)),
    )


def rewrites_needlessly(change: Change) -> bool:
    """Tell whether a hook wrote the whole history anew and left every message as it was."""
    before, fold = change.before, change.fold
    if not change.by_hook or len(before) < _HISTORY or fold.state != before:
        return False
    return {view.id for view in before} <= {view.id for view in fold.update}


def _length(sight: Sight) -> int:
    return len(sight.request.system) + sum(len(view.text) for view in sight.request.messages)


def _tokens(sight: Sight) -> int:
    prompt = [sight.request.system] if sight.request.system else []
    texts = [*prompt, *(view.text for view in sight.request.messages)]
    return sum(3 + (len(text) + 5) // 6 for text in texts)


def _reused(sight: Sight) -> int:
    """Return the characters up to the first message that differs from the previous request."""
    earlier, later = sight.previous, sight.request
    if earlier is None or earlier.request.system != later.system:
        return 0
    reused = len(later.system)
    for old, new in zip(earlier.request.messages, later.messages, strict=False):
        if old is not new and wire(old) != wire(new):
            break
        reused += len(new.text)
    return reused


def _id_growth(reading: Reading, state: Views) -> int:
    """Return by how much a hook has made the longest id longer; clients have long ids of their own."""
    by_hooks = {
        view.id
        for change in reading.changes
        if change.by_hook
        for view in set(change.fold.state) - set(change.before)
    }
    growth = [0]
    for view in state:
        if view.id not in by_hooks:
            continue
        said = reading.ledger.utterances.get(view.says) if view.says else None
        if said is not None and said.id and view.id:
            growth.append(len(view.id) - len(said.id))
    return max(growth)
