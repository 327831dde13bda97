"""Retelling: a foreign conversation as a scenario, and what of it no step can express.

Nothing of what was said gets into the scenario: lengths, shapes, styles of ids, calls and the order in
which things came do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .heard import Heard
from .scenario import MAX_BYTES, Scenario, to_json
from .segments import Round, Segment, segments_of
from .steps import (
    Configure,
    Continue,
    LateResults,
    LoadTurn,
    Naming,
    Reply,
    Step,
    Stop,
    ToolCall,
    ToolRound,
    UserMessage,
    UserTurn,
)
from .styles import form_of, id_style, is_wordless, reply_of, usage_of

#: Turns of a conversation that are retold, and messages in them: the last ones. Playing takes time that
#: grows with the square of the messages, and a history that takes too long counts as hung.
MAX_TURNS, MAX_TOLD = 200, 600
#: Messages of one turn, calls of one answer and calls of a loaded turn, as the steps allow them.
MAX_MESSAGES, MAX_CALLS, MAX_LOADED = 20, 50, 20


@dataclass(frozen=True, slots=True)
class Retold:
    """A conversation as a scenario. `lost` says what is not in it, a line each; `messages` were heard."""

    scenario: Scenario
    messages: int
    turns: int
    calls: int
    lost: tuple[str, ...]


def retell(messages: Sequence[Heard]) -> Retold:
    """Return the scenario that does what the conversation did."""
    taken = segments_of(messages)
    lost = taken.lost
    for message in messages:
        if message.failed:
            lost["error status of a tool result"] += 1
    repeated = _repeated_ids(messages)
    segments = _last(taken.segments)
    lost["turn before the last ones"] += len(taken.segments) - len(segments)
    told: list[tuple[Step, ...]] = []
    before: Segment | None = None
    for segment in segments:
        told.append(tuple(_Telling(segment, before, repeated, lost).steps()))
        before = segment
    start: tuple[Step, ...] = (Configure(system_in_state=True),) if taken.system else ()
    scenario = _joined(start, told)
    while len(told) > 1 and len(to_json(scenario).encode()) > MAX_BYTES:
        lost["turn before the last ones"] += len(told) // 2
        told = told[len(told) // 2 :]
        scenario = _joined(start, told)
    lines = tuple(f"{count} × {what}" for what, count in sorted(lost.items()) if count > 0)
    calls = sum(len(each.answer.calls) for segment in segments for each in segment.rounds)
    return Retold(scenario, len(messages), len(told), calls, lines)


def _last(segments: list[Segment]) -> list[Segment]:
    """Return the last turns, within the bounds, and one in any case."""
    room = MAX_TOLD
    for kept, segment in enumerate(reversed(segments)):
        room -= len(segment.humans) + sum(1 + len(each.results) for each in segment.rounds)
        if kept == MAX_TURNS or (kept and room < 0):
            return segments[-kept:]
    return segments


def _joined(start: tuple[Step, ...], told: Sequence[tuple[Step, ...]]) -> Scenario:
    return Scenario((*start, *(step for steps in told for step in steps)))


def _repeated_ids(messages: Sequence[Heard]) -> frozenset[str | None]:
    """Return the call ids that more than one answer uses."""
    uses = Counter(call_id for message in messages for call_id in {call.id for call in message.calls})
    return frozenset(call_id for call_id, count in uses.items() if count > 1 and call_id)


@dataclass(slots=True)
class _Telling:
    """One segment, with the one before it, on its way to steps."""

    segment: Segment
    before: Segment | None
    repeated: frozenset[str | None]
    lost: Counter[str]

    def steps(self) -> list[Step]:
        loads = self._loads()
        if loads and self._is_plain():
            return loads[:1]
        self.lost["disorder of a turn that is told in a turn of its own behind it"] += len(loads)
        *first, messages = _in_groups(self._words())
        told: list[Step] = [UserTurn(messages=some, stop="before_answer") for some in first]
        legs = self.segment.legs()
        told.append(self._turn(messages, legs[0] if legs else []))
        told += [self._continue(leg) for leg in legs[1:]]
        if self.segment.again:
            told.append(LateResults(again=True))
        return told + loads

    def _is_plain(self) -> bool:
        """Tell whether a loaded turn alone says it all."""
        running = [each for each in self.segment.rounds if each.runs]
        consecutive = self.segment.mess == ["consecutive_calls"]
        ended = bool(self.segment.rounds) and any(not each.runs for each in self.segment.rounds)
        single = len(running) == 1 or (consecutive and all(len(each.answer.calls) == 1 for each in running))
        one = len(self.segment.humans) == 1 and len(self.segment.legs()) == 1
        return one and single and ended and len(self._loads()) == 1 and not self.segment.again

    def _loads(self) -> list[Step]:
        rounds = [each for each in self.segment.rounds if each.runs]
        most = max((len(each.valid()) for each in rounds), default=0)
        loads: list[Step] = []
        for arrangement in self.segment.mess:
            calls = len(rounds) if arrangement == "consecutive_calls" else most
            least = 2 if arrangement == "results_reversed" else 1
            loads.append(LoadTurn(calls=max(least, min(calls, MAX_LOADED)), arrangement=arrangement))
        naming = self._naming()
        if naming == "usual":
            return loads
        first = loads[0] if loads else LoadTurn(calls=max(1, min(most, MAX_LOADED)))
        return [replace(first, naming=naming), *loads[1:]] if isinstance(first, LoadTurn) else loads

    def _naming(self) -> Naming:
        calls = [call for each in self.segment.rounds for call in each.answer.calls if not call.invalid]
        if any(call.id is None for call in calls):
            return "no_id"
        if any(call.id == "" for call in calls):
            return "empty_id"
        return "usual" if all(call.named for call in calls) else "no_name"

    # -- the user --------------------------------------------------------------------------------

    def _words(self) -> list[UserMessage]:
        humans = self.segment.humans
        first = self.before.humans[0].id if self.before else None
        told: list[UserMessage] = []
        for number, human in enumerate(humans):
            style = id_style(human.id)
            if human.id and number and human.id == humans[number - 1].id:
                if style == "chosen" and told[-1].id == "chosen":
                    style = "twice"
                else:
                    self.lost["user message under the id of another one"] += 1
            elif human.id and number == 0 and human.id == first:
                style = "again"
            told.append(
                UserMessage(
                    words=human.words,
                    shape=human.shape,
                    form=form_of(human),
                    id=style,
                    hidden=human.hidden,
                    name=self._name(human, humans[number + 1 :]),
                )
            )
        return told

    def _name(self, human: Heard, behind: Sequence[Heard]) -> Literal["summary", "ada"] | None:
        """Return the name of a message; a summary is one only where words of the user follow it."""
        if human.name != "summary" or any(h.name != "summary" and not is_wordless(h) for h in behind):
            return human.name
        self.lost["summary that is told as words of the user"] += 1
        return None

    # -- the model and the tools -----------------------------------------------------------------

    def _turn(self, messages: tuple[UserMessage, ...], leg: list[Round]) -> UserTurn:
        answers = [each.answer for each in leg]
        last = answers[-1] if answers and not answers[-1].calls else None
        return UserTurn(
            messages=messages,
            rounds=self._rounds(leg),
            reply_words=last.words if last else 2,
            reply=self._reply(messages, answers, last),
            usage=usage_of(answers),
            chunks=any(answer.chunk for answer in answers),
            metadata=any(answer.metadata for answer in answers),
            stop=self._stop(leg),
        )

    def _reply(
        self, messages: tuple[UserMessage, ...], answers: Sequence[Heard], last: Heard | None
    ) -> Reply:
        """Return the shape of the answer. A turn in which nobody says anything could not be followed."""
        reply = reply_of(answers, last)
        if reply in ("empty", "filtered") and all(m.shape in ("empty", "none") for m in messages):
            self.lost["empty answer to a message without words"] += 1
            return "text"
        return reply

    def _stop(self, leg: list[Round]) -> Stop | None:
        if not leg:
            return "before_answer"
        last = leg[-1]
        if not last.runs or len(self.segment.legs()) > 1:
            return None
        if not last.open():
            return "after_results"
        if "consecutive_calls" not in self.segment.mess:
            self.lost["result of a turn that was stopped before the others came"] += len(last.results)
        return "after_calls"

    def _continue(self, leg: list[Round]) -> Continue:
        if leg[-1].runs:
            self.lost["stop of a turn that had been answered before"] += 1
        return Continue(rounds=tuple(self._plain_rounds(leg)))

    def _plain_rounds(self, leg: list[Round]) -> Iterator[ToolRound]:
        """Yield the rounds of a run without new words, in which all calls are usual ones."""
        for each in self._rounds(leg):
            seen = () if each.view.endswith("_only") else each.calls
            usual = tuple(ToolCall(words=c.words) for c in seen if c.kind == "plain" and not c.twin)
            self.lost["odd call of a run without new words"] += len(each.calls) - len(usual)
            if usual:
                yield ToolRound(calls=usual)

    def _rounds(self, leg: list[Round]) -> tuple[ToolRound, ...]:
        rounds = []
        for each in leg:
            calls = each.answer.calls
            if not calls:
                continue
            self.lost["call of an answer with more than 50"] += max(0, len(calls) - MAX_CALLS)
            told = [self._call(each, index) for index in range(min(len(calls), MAX_CALLS))]
            rounds.append(ToolRound(calls=tuple(told), view=each.answer.view))
        return tuple(rounds)

    def _call(self, each: Round, index: int) -> ToolCall:
        call, first = each.answer.calls[index], each.answer.calls[0]
        if call.invalid and index in each.results:
            self.lost["result of a call whose arguments could not be parsed"] += 1
        return ToolCall(
            words=each.words.get(index, 2),
            kind="invalid" if call.invalid else "plain",
            repeated_id=call.id in self.repeated,
            twin=index > 0 and bool(call.id) and call.id == first.id,
        )


def _in_groups(messages: list[UserMessage]) -> list[tuple[UserMessage, ...]]:
    groups = range(0, len(messages), MAX_MESSAGES)
    return [tuple(messages[start : start + MAX_MESSAGES]) for start in groups]
