"""Segments: a flat list of heard messages, taken apart into turns, rounds of calls and their results.

A segment is what belongs to one turn of the user: his messages, then answers that call tools, results,
and the answer that ends it. What is out of order is noted as the arrangement that tells of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .heard import Heard
from .steps import Arrangement


@dataclass(slots=True)
class Round:
    """An answer of the model; for each of its calls the number of results, and their order of arrival."""

    answer: Heard
    results: list[int] = field(default_factory=list)
    words: dict[int, int] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether it has a call that can be run, so that the turn goes on."""
        return bool(self.valid())

    def valid(self) -> list[int]:
        """Return the indices of the calls that can be run."""
        if self.answer.view.endswith("_only"):
            return []
        return [index for index, call in enumerate(self.answer.calls) if not call.invalid]

    def open(self) -> list[int]:
        """Return the indices of the calls that can be run and have no result."""
        return [index for index in self.valid() if index not in self.results]


@dataclass(slots=True)
class Segment:
    """A turn as it was heard: `again` tells that results came once more behind its last answer."""

    humans: list[Heard] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    mess: list[Arrangement] = field(default_factory=list)
    again: bool = False

    def note(self, arrangement: Arrangement) -> None:
        """Remember something that is out of order."""
        if arrangement not in self.mess:
            self.mess.append(arrangement)

    def legs(self) -> list[list[Round]]:
        """Return the rounds, split behind each answer that ends a run of the agent."""
        legs: list[list[Round]] = [[]]
        for each in self.rounds:
            if legs[-1] and not legs[-1][-1].runs:
                legs.append([])
            legs[-1].append(each)
        return [leg for leg in legs if leg]


@dataclass(frozen=True, slots=True)
class Taken:
    """The segments of a conversation, whether it begins with a system message, and what was left out."""

    segments: list[Segment]
    system: bool
    lost: Counter[str]


def segments_of(messages: Sequence[Heard]) -> Taken:
    """Take the conversation apart."""
    segments: list[Segment] = []
    lost: Counter[str] = Counter()
    system = False
    for place, message in enumerate(messages):
        current = segments[-1] if segments else None
        match message.role:
            case "system" if place == 0:
                system = True
            case "system":
                lost["system message that is not the first"] += 1
            case "other":
                lost[f"message of the kind {message.kind[:30]!r}"] += 1
            case "human":
                if current is None or (current.rounds and not _between(current, messages[place + 1 :])):
                    segments.append(Segment([message]))
                elif current.rounds:
                    current.note("human_between")
                else:
                    current.humans.append(message)
            case "ai" if current is not None:
                current.rounds.append(Round(message))
            case "ai":
                lost["answer before the first user message"] += 1
            case _:
                _take_result(message, segments, lost)
    for segment in segments:
        _look_for_missing(segment)
    return Taken(segments, system, lost)


def _between(segment: Segment, coming: Sequence[Heard]) -> bool:
    """Tell whether results of the segment's last calls come next, behind more words of the user."""
    ids = {segment.rounds[-1].answer.calls[index].id for index in segment.rounds[-1].open()}
    after = next((message for message in coming if message.role != "human"), None)
    return after is not None and after.role == "tool" and after.answers in ids


def _take_result(message: Heard, segments: list[Segment], lost: Counter[str]) -> None:
    if not segments or not _placed(message, segments[-1]):
        earlier = any(
            call.id == message.answers
            for segment in segments[:-1]
            for each in segment.rounds
            for call in each.answer.calls
        )
        lost["result that came in a later turn than its call" if earlier else "result without its call"] += 1
        return


def _placed(message: Heard, segment: Segment) -> bool:
    """Enter a result of the segment; return whether one of its calls asked for it."""
    found: tuple[int, int] | None = None
    for number in reversed(range(len(segment.rounds))):
        each = segment.rounds[number]
        asked = [i for i, call in enumerate(each.answer.calls) if call.id == message.answers]
        fresh = [index for index in asked if index not in each.results]
        if fresh:
            found = number, fresh[0]
            break
        if asked and found is None:
            found = number, asked[0]
    if found is None:
        return False
    number, index = found
    each = segment.rounds[number]
    later = segment.rounds[number + 1 :]
    if index in each.results:
        if any(not other.runs for other in later):
            segment.again = True
        else:
            segment.note("result_twice")
        return True
    if each.results and index < max(each.results):
        segment.note("results_reversed")
    if later:
        segment.note("results_last" if any(not other.runs for other in later) else "consecutive_calls")
    each.results.append(index)
    each.words[index] = message.words
    return True


def _look_for_missing(segment: Segment) -> None:
    """Note calls that were never answered though the agent went on."""
    if any(each.open() for each in segment.rounds[:-1]):
        segment.note("result_missing")
