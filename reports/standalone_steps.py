"""The driver of a stand-alone file: each step of the minimal scenario as literal code.

What depends on the candidate (which answers were asked for, which ids were edited, which turns were
aborted, which faults struck) is read from the recorded history.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from ..harness import script
from ..harness.client import SYSTEM_IN_STATE
from ..harness.findings import Finding
from ..harness.history import FaultFired, Fold, Happened, Record, Requested, TurnEnded
from ..harness.ledger import OTHER_THREAD, SYSTEM_ID
from ..harness.loading import loaded
from ..harness.script import Script
from ..harness.steps import (
    AdvanceClock,
    ChangeState,
    Configure,
    Continue,
    DeleteTurn,
    EditMessage,
    LateResults,
    LoadTurn,
    OtherThread,
    Restart,
    Rewind,
    Step,
    Stop,
    TrimState,
    UserTurn,
)
from ..harness.tokens import token_text
from .standalone_client import client_write, known_id
from .standalone_story import Records, Story, Unsupported
from .standalone_text import comment, indented, listed, literal, message_literal

_PAUSES: dict[Stop, str] = {
    "before_answer": 'interrupt_before=["model"]',
    "after_calls": 'interrupt_before=["tools"]',
    "after_results": 'interrupt_after=["tools"]',
}


def tell(finding: Finding) -> Story:
    """Return the code of the finding's scenario. Raises `Unsupported` with the reason why there is none."""
    return _Narrator(finding).tell()


def _block(calls: list[str]) -> list[str]:
    """Return calls, which may take several lines, as the body of a block."""
    return indented([line for call in calls for line in call.split("\n")])


class _Narrator:
    """Walks over the steps and, beside them, over the records that each of them left."""

    def __init__(self, finding: Finding) -> None:
        self._finding = finding
        self._read = Records(finding.history.records)
        self._story = Story()
        self._turn = 0
        self._turns: list[int] = []
        self._others = 0
        self._threads = 1
        self._stored = False
        self._resumable = False
        self._async = False
        self._planned = 0
        self._marks: dict[int, bool] = {}

    def tell(self) -> Story:
        """Return the story, ended by the step that shows the finding."""
        story = self._story
        self._modes()
        for step in self._finding.scenario.steps:
            first = self._read.at
            lines = self._step(step)
            if self._finding.record < self._read.at:
                seen = self._finding.history.records[:first]
                story.earlier_requests = sum(isinstance(record, Requested) for record in seen)
                story.last = lines
                return story
            story.before += [*lines, ""] if lines else []
        raise Unsupported("the record that shows it belongs to no step of the scenario")

    def _modes(self) -> None:
        while (record := self._read.happened("runs asynchronously", "runs synchronously")) is not None:
            self._async = record.what == "runs asynchronously"

    def _step(self, step: Step) -> list[str]:
        record = self._read.next()
        if isinstance(record, Happened) and record.what == "outside" and record.detail == step.kind:
            self._read.at += 1
            return []
        match step:
            case UserTurn():
                return self._user_turn(step)
            case Continue():
                return self._continue(step)
            case LoadTurn():
                return self._load(step)
            case OtherThread():
                return self._other_thread(step)
            case AdvanceClock(minutes=minutes):
                self._read.happened("advance_clock")
                self._story.needs_environment.add("time passes")
                return [comment("Time passes."), f"environment.clock.advance(minutes={minutes})"]
            case ChangeState(to=to):
                self._read.happened("change_state")
                self._story.needs_environment.add("the dynamic state changes")
                return [
                    comment("The dynamic state changes."),
                    "environment.state.version += 1",
                    f"environment.state.empty = {to == 'empty'}",
                ]
            case Restart(stored=stored):
                return self._restart(stored)
            case EditMessage() | DeleteTurn() | LateResults() | TrimState():
                return self._client_writes(step)
            case Rewind():
                return self._rewind(step)
            case Configure():
                return self._configure(step)

    def _begin_turn(self) -> list[str]:
        self._turn += 1
        self._turns.append(self._turn)
        self._marks[self._turn] = self._stored
        if self._stored and any(isinstance(step, Rewind) for step in self._finding.scenario.steps):
            return [f"before_turn_{self._turn} = agent.get_state(thread).config"]
        return []

    def _user_turn(self, step: UserTurn) -> list[str]:
        lines = [comment(f"Turn {self._turn + 1}."), *self._begin_turn()]
        if any(message.form == "reused" or message.id == "again" for message in step.messages):
            raise Unsupported("an old message is sent again")
        sent = [script.user_words(m, self._turn, n).message for n, m in enumerate(step.messages)]
        records = self._read.run()
        self._check_ids(sent, records)
        of_turn = script.of_turn(step, self._turn)
        self._story.metadata |= step.metadata
        self._story.usage |= step.usage != "none"
        given = listed([message_literal(message) for message in sent])
        lines += self._speaks(of_turn, records, 0)
        lines += self._act(step.faults, records, f'{{"messages": {given}}}', step.stop, len(step.rounds))
        return lines

    def _check_ids(self, sent: Sequence[object], records: Sequence[Record]) -> None:
        """Make sure that the history holds the messages that the file sends, under the ids it gives them."""
        fold = next((r for r in records if isinstance(r, Fold) and r.by == "user"), None)
        ids = [message.id for message in sent if isinstance(message, BaseMessage) and message.id]
        if fold is not None and any(i not in {view.id for view in fold.update} for i in ids):
            raise Unsupported("the messages were not sent under the ids that the scenario names")

    def _speaks(self, of_turn: Script, records: Sequence[Record], replies: int) -> list[str]:
        """Return the line that says what the model will answer, as it was really asked."""
        answers: list[str] = []
        number = given = replies
        for record in records:
            if isinstance(record, Requested):
                given = number + 1
                answers.append(message_literal(of_turn.answer(given).message))
            elif isinstance(record, Fold) and record.by == "model":
                number += 1
            elif (failure := self._story.faults.of_model(record)) is not None and answers:
                answers[-1], given = failure, number
        # Behind what was asked for comes what else the script holds; the last answer is no exception.
        failed = bool(answers) and answers[-1].startswith("RuntimeError")
        first = min(given + 1, of_turn.ends_at()) if failed or not answers else given + 1
        answers += [message_literal(of_turn.answer(n).message) for n in range(first, of_turn.ends_at() + 1)]
        for n, round_ in enumerate(of_turn.rounds, of_turn.first):
            for index, call in enumerate(round_.calls):
                token = f"t{of_turn.turn}.{n}.{index}"
                self._story.results[token] = token_text(token, call.words)
        return [f"model.answers = {listed(answers)}"]

    def _act(
        self, faults: Sequence[object], records: Sequence[Record], given: str, stop: Stop | None, rounds: int
    ) -> list[str]:
        """Return the call of the agent, under the faults that struck."""
        story = self._story
        lines = story.faults.planned(faults, self._planned, records)  # type: ignore[arg-type]
        self._planned += len(faults)
        ended = records[-1]
        assert isinstance(ended, TurnEnded)
        pause = "" if stop is None else f", {_PAUSES[stop]}"
        times = 1 if stop is None or stop == "before_answer" else max(1, rounds)
        calls = [self._invoke(given, pause)] + [self._invoke("None", pause)] * (times - 1)
        if ended.how == "stopped" and stop is None:
            raise Unsupported("the middleware interrupts the run and waits for an answer")
        if ended.how == "aborted" and self._read.at - 1 != self._finding.record:
            story.suppresses = True
            errors = "Exception, asyncio.CancelledError" if self._async else "Exception"
            why = "  # the fault may escape" if ended.injected else "  # the run fails"
            calls = [f"with suppress({errors}):{why}", *_block(calls)]
        elif ended.how == "aborted":
            calls = ["failure = None", "try:", *_block(calls)]
            calls += ["except Exception as error:", "    failure = error"]
        lines += calls
        self._stored = True
        struck = story.faults.kinds_in(records)
        resumes = ended.injected and not any(isinstance(r, FaultFired) and r.at == "tool" for r in records)
        self._resumable = ended.how == "stopped" or (ended.how == "aborted" and resumes)
        if self._read.happened("restart") is not None or "crash" in struck:
            story.restarts = True
            lines += [comment("A new process goes on from the last checkpoint."), "agent = start()"]
        return lines

    def _invoke(self, given: str, more: str = "", thread: str = "thread") -> str:
        if self._async:
            self._story.runs_async = True
            return f"asyncio.run(agent.ainvoke({given}, {thread}{more}))"
        self._story.runs_sync = True
        return f"agent.invoke({given}, {thread}{more})"

    def _continue(self, step: Continue) -> list[str]:
        event = self._read.happened("continue")
        if event is None or event.detail.startswith("there is nothing"):
            return []
        replies = sum(
            isinstance(r, Fold) and r.by == "model" and r.turn == self._turn for r in self._read.seen()
        )
        loaded_answers = sum(v.role == "ai" for r in self._read.loads(self._turn) for v in r.update)
        going_on = Script(self._turn, step.rounds, first=replies + loaded_answers + 1)
        resumable = self._resumable
        records = self._read.run()
        lines = [comment("The agent goes on without new words.")]
        given = "None" if resumable else '{"messages": []}'
        fold = records[0]
        if step.resend and isinstance(fold, Fold) and fold.by == "user" and fold.update:
            lines = [comment("The client sends its last message again.")]
            view = fold.update[0]
            given = f'{{"messages": [HumanMessage({literal(view.text)}, id={literal(known_id(view))})]}}'
        lines += self._speaks(going_on, records, replies + loaded_answers)
        return lines + self._act(step.faults, records, given, None, 0)

    def _load(self, step: LoadTurn) -> list[str]:
        self._read.happened("load_turn")
        lines = [
            comment(f"Turn {self._turn + 1}: a client loads a finished turn of an earlier conversation.")
        ]
        lines += self._begin_turn()
        self._read.written()
        messages = [message_literal(said.message) for said in loaded(step, self._turn)]
        return [*lines, self._update(listed(messages))]

    def _update(self, messages: str) -> str:
        self._stored, self._resumable = True, False
        return f'agent.update_state(thread, {{"messages": {messages}}}, as_node="__start__")'

    def _other_thread(self, step: OtherThread) -> list[str]:
        event = self._read.happened("other_thread")
        if event is None or event.detail not in ("answered", "cut"):
            raise Unsupported("the run in a second thread fails")
        self._others += 1
        turn = OTHER_THREAD + self._others
        of_turn = Script(turn, step.rounds)
        spoken = message_literal(script.user_words(UserTurn().messages[0], turn, 0).message)
        lines = [comment("Another user has a turn, in another thread."), *self._speaks(of_turn, (), 0)]
        call = self._invoke(f'{{"messages": [{spoken}]}}', thread='{"configurable": {"thread_id": "other"}}')
        return [*lines, call]

    def _restart(self, stored: str) -> list[str]:
        self._read.happened("restart")
        if stored != "now":
            raise Unsupported("the checkpoint holds messages in an old format")
        self._story.restarts = True
        return [comment("A new process, with the same checkpoints."), "agent = start()"]

    def _client_writes(self, step: EditMessage | DeleteTurn | LateResults | TrimState) -> list[str]:
        self._read.happened(step.kind)
        written = self._read.written()
        if not written:
            return []
        lines, messages = client_write(step, written)
        return [*lines, self._update(messages)]

    def _rewind(self, step: Rewind) -> list[str]:
        event = self._read.happened("rewind")
        if event is None or step.turns_ago > len(self._turns):
            return []
        turn = self._turns[-step.turns_ago]
        pending = "still to be finished" in event.detail
        self._read.written()
        self._turns = [t for t in self._turns if t < turn]
        self._resumable = pending
        lines = [comment(f"The user goes back to the time before turn {turn}.")]
        if not self._marks[turn]:
            self._threads += 1
            self._stored = False
            return [*lines, f'thread = {{"configurable": {{"thread_id": "{self._threads}"}}}}']
        lines.append(f'agent.update_state(before_turn_{turn}, None, as_node="__copy__")')
        if pending:
            lines += self._begin_turn()
        return lines

    def _configure(self, step: Configure) -> list[str]:
        lines: list[str] = []
        while (event := self._read.happened("configure", "outside")) is not None:
            if event.what == "configure" and event.detail.startswith("the stack"):
                self._story.stack = step.stack
            elif event.what == "configure":
                self._read.written()
                system = f"SystemMessage({literal(SYSTEM_IN_STATE)}, id={literal(SYSTEM_ID)})"
                lines += [
                    comment("A client puts a system message into the state."),
                    self._update(f"[{system}]"),
                ]
        self._modes()
        return lines
