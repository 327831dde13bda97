"""Conformance: is a candidate ready to be fuzzed? Questions about adapter and middleware, not about bugs.

Each question is answered from histories that were really played, or from how the candidate was built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .deaths import aspect_of
from .differential import Trial
from .history import Fold, HookRan, Mutated, Record, TurnEnded
from .reachability import goals_of, observe
from .scenario import Scenario
from .subject import Subject

State = Literal["ok", "problem", "unknown"]

#: Scenarios that are played again to see whether the histories are the same.
_REPLAYED = 10

#: What the checkpoint serialiser says of a value that it refuses.
_REFUSAL = "not msgpack serializable"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question; `says` is one sentence: what was seen, or what to fix."""

    question: str
    state: State
    says: str


class _Seen(NamedTuple):
    """What was played: the subject, its trials in order, and their records."""

    subject: Subject
    scenarios: Sequence[Scenario]
    trials: tuple[Trial, ...]
    records: tuple[Record, ...]

    def acted(self) -> bool:
        """Tell whether a hook of the candidate ever changed anything."""
        return any(isinstance(r, HookRan) and r.outcome == "update" for r in self.records)


def examine(subject: Subject, scenarios: Iterable[Scenario]) -> tuple[Answer, ...]:
    """Play the scenarios on the subject and answer every question, in a fixed order."""
    chosen: list[Scenario] = []
    trials: list[Trial] = []
    for scenario in scenarios:
        trial = subject.trial(scenario, invariants=(), comparing=False)
        chosen.append(scenario)
        trials.append(trial)
        if _death_in(trial.history.records) is not None:
            break
    records = tuple(record for trial in trials for record in trial.history.records)
    seen = _Seen(subject, chosen, tuple(trials), records)
    return tuple(Answer(question, *answer(seen)) for question, answer in _QUESTIONS)


def is_ready(answers: Iterable[Answer]) -> bool:
    """Tell whether no answer is a problem."""
    return all(answer.state != "problem" for answer in answers)


Said = tuple[State, str]


def _death_in(records: Iterable[Record]) -> TurnEnded | None:
    return next((r for r in records if isinstance(r, TurnEnded) and aspect_of(r.error)), None)


def _constructor(seen: _Seen) -> Said:
    candidate = seen.subject.candidate
    if candidate.wiring:
        return "ok", f"It is constructed as {candidate.wiring}."
    return "ok", f"It is built by its own factory or copied from an instance: {candidate.source}."


def _process(seen: _Seen) -> Said:
    death = _death_in(seen.records)
    if death is not None:
        return (
            "problem",
            f"A history ended its process at {death.by}: {death.error}; let errors escape instead.",
        )
    warnings = seen.subject.warnings()
    if seen.subject.unsteady or warnings:
        return "problem", f"It does more to its process than it should: {'; '.join(warnings)}."
    return "ok", "Nothing is left in the process: no threads, no replaced functions or variables."


def _deterministic(seen: _Seen) -> Said:
    if _death_in(seen.records) is not None:
        return "unknown", "It ends its process: correct that first."
    for number, scenario in enumerate(seen.scenarios[:_REPLAYED], 1):
        if not seen.subject.is_deterministic(scenario):
            return (
                "problem",
                f"Two replays of history {number} differ: take time from environment.clock, ids from "
                "environment.new_id, and keep nothing in globals.",
            )
    if not seen.acted():
        return "unknown", "Its hooks never changed anything, so there was nothing to compare."
    return "ok", f"{len(seen.scenarios[:_REPLAYED])} histories were the same when they were played again."


def _untouched(seen: _Seen) -> Said:
    mutated = next((record for record in seen.records if isinstance(record, Mutated)), None)
    if mutated is not None:
        return (
            "problem",
            f"{mutated.by} changes messages of the state, or their list, in place: change a copy.",
        )
    if not any(isinstance(record, HookRan) for record in seen.records):
        return "unknown", "None of its hooks was reached."
    return "ok", "Its hooks leave the messages of the state, and their list, as they are."


def _storable(seen: _Seen) -> Said:
    last = ""
    for record in seen.records:
        if isinstance(record, HookRan):
            last = record.by
        elif isinstance(record, TurnEnded) and record.error is not None and _REFUSAL in record.error:
            return (
                "problem",
                f"The checkpoint refuses what {record.by or last} writes ({record.error}): write plain data "
                "or messages, and keep objects out of the state.",
            )
    if not any(isinstance(r, Fold) and "." in r.by for r in seen.records) and not seen.acted():
        return "unknown", "It never wrote anything."
    return "ok", "The checkpoint took everything that it wrote."


def _forms(seen: _Seen) -> Said:
    sync, asynchronous = seen.subject.runs_sync, seen.subject.runs_async
    if sync and asynchronous:
        return "ok", "It runs in agents that are invoked and in agents that are awaited."
    has, lacks, example = (
        ("synchronous", "asynchronous", "awrap_model_call")
        if sync
        else ("asynchronous", "synchronous", "before_model or wrap_model_call")
    )
    return "problem", f"A hook has a {has} form only: write the {lacks} one, too ({example})."


def _reached(seen: _Seen) -> Said:
    goals = goals_of(seen.subject.candidate.name, seen.subject.candidate.contract)
    reached = {goal for trial in seen.trials for goal, count in observe(trial.reading).items() if count}
    missing = [goal for goal in goals if goal not in reached]
    if missing:
        return (
            "problem",
            f"Never reached in {len(seen.trials)} short histories: {', '.join(missing)}; lower its "
            "thresholds (five messages, a hundred tokens), or correct its contract.",
        )
    return "ok", f"Reached: {', '.join(goals) or 'nothing is to be reached'}."


_QUESTIONS: tuple[tuple[str, Callable[[_Seen], Said]], ...] = (
    ("how is it constructed?", _constructor),
    ("does it leave its process alone?", _process),
    ("is it deterministic?", _deterministic),
    ("are the state and its messages left untouched?", _untouched),
    ("can a checkpoint store what it writes?", _storable),
    ("is there a synchronous and an asynchronous form?", _forms),
    ("are its thresholds reached in short histories?", _reached),
)
