"""Invariant 1: dynamic state does not enter history; it is rebuilt from the source of truth."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..history import FaultFired
from ..tokens import mentions, state_text
from ..views import View
from .checks import Check, Violation
from .reading import Reading, Sight

_MARKED_STALE = re.compile(r"\b(stale|outdated|out of date|may have changed|as of)\b", re.IGNORECASE)


def state_in_history(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield hook folds that put a state version into a message of the state."""
    for change in reading.changes_since(since):
        if not change.by_hook:
            continue
        known = {view for view in change.before if view.mentions.states}
        for view in change.fold.state:
            if view.mentions.states and view not in known:
                yield Violation(
                    "1.state-in-history",
                    change.record,
                    change.fold.by,
                    f"message {view.label()} in history now holds state version {view.mentions.states[-1]}",
                )
                break


def stale_state(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests that show an old state version, unmarked, and not the current one.

    A request of a turn in which a fault struck is not judged: the candidate may not have been able
    to refresh.
    """
    for sight in reading.sights_since(since):
        if "fault" in sight.causes or not sight.shows_state:
            continue
        current = reading.ledger.state_at(sight.record)
        if not current or any(current in view.mentions.states for view in sight.request.messages):
            continue
        shown = [view for view in sight.request.messages if view.mentions.states]
        prompt = mentions(sight.request.system).states
        seen = {state for view in shown for state in view.mentions.states} | set(prompt)
        if not seen or current in seen:
            continue
        texts = [view.text for view in shown] + ([sight.request.system] if prompt else [])
        if all(_MARKED_STALE.search(text) for text in texts):
            continue
        yield Violation(
            "1.stale-state",
            sight.record,
            sight.blame,
            f"the model sees state {', '.join(sorted(seen))} while {current} is current, without a mark",
        )


def state_missing(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests that show no state at all, of a candidate that promises to show it.

    Not judged while the state is empty, in turns in which a fault struck, or after a client removed
    messages. Where nothing but the source failed the candidate can still say so: a prompt that looks as if
    the state were empty is judged there, too.
    """
    blank: set[str] = set()
    for sight in reading.sights:
        unable = bool(sight.causes & {"delete_turn", "trim_state", "rewind"})
        if "fault" in sight.causes:
            unable |= _bare(sight) not in blank or not _only_the_source_failed(reading, sight)
        if mentions(sight.request.system).states:
            blank |= {"", _bare(sight)}
        current = reading.ledger.state_at(sight.record)
        if current and not sight.shows_state and not unable and sight.record >= since:
            yield Violation(
                "1.state-missing",
                sight.record,
                sight.blame,
                f"state {current} is current, and the model sees no state at all",
            )


def _bare(sight: Sight) -> str:
    """Return the system prompt as it would be if the state in it were empty."""
    prompt = sight.request.system
    for token in mentions(prompt).states:
        prompt = prompt.replace(state_text(token), "")
    return " ".join(prompt.split())


def _only_the_source_failed(reading: Reading, sight: Sight) -> bool:
    """Tell whether no other fault struck in the turn of this request or in that of the one before it."""
    turns = {each.request.turn for each in (sight, sight.previous) if each is not None}
    fired = [r for r in reading.history.records[: sight.record] if isinstance(r, FaultFired)]
    return all(fault.at == "source" for fault in fired if fault.turn in turns)


def _unmarked_state(view: View) -> bool:
    """Tell whether a user message is state that nothing marks as not the user's: no name, no metadata."""
    return (
        bool(view.mentions.states) and not view.mentions.utterances and view.name is None and not view.extra
    )


def speaks_as_user(reading: Reading, since: int) -> Iterator[Violation]:
    """Yield requests whose last user message is unmarked state, with the user's own words before it."""
    for sight in reading.sights_since(since):
        if not sight.shows_state:
            continue
        last = next((view for view in reversed(sight.request.messages) if view.role == "human"), None)
        if last is None or not _unmarked_state(last):
            continue
        words = reading.ledger.words_at(sight.request.turn, sight.record)
        if any(view.role == "human" and view.says in words for view in sight.request.messages):
            yield Violation(
                "1.speaks-as-user",
                sight.record,
                sight.blame,
                f"the last user message is {last.label()}, which holds state and no words of the user",
            )


CHECKS = (
    Check(
        "1.state-in-history",
        "dynamic state was written into a message of the history",
        "State that is stored in messages ages there: later turns read it as if it were current, and "
        "every way of attaching it to a message can go wrong.",
        state_in_history,
        looks_at=frozenset({"hook change"}),
    ),
    Check(
        "1.stale-state",
        "the model sees an old version of the state, unmarked, and not the current one",
        "The model acts on files, permissions or memory that no longer exist.",
        stale_state,
        looks_at=frozenset({"state shown"}),
    ),
    Check(
        "1.state-missing",
        "the model does not see the state that it was promised",
        "The model takes the absence of state for an empty world, and builds again what is there.",
        state_missing,
        looks_at=frozenset({"request"}),
        needs="shows_state",
    ),
    Check(
        "1.speaks-as-user",
        "state takes the place of the user's words",
        "The last thing the user seems to have said is a list of files; the question is one message up.",
        speaks_as_user,
        looks_at=frozenset({"state shown"}),
    ),
)
