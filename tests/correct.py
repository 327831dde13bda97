"""Correct candidates of different styles: whatever is found on one of them is a false alarm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ModelCallLimitMiddleware,
    ModelRequest,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    hook_config,
)
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite

from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.environment import Environment
from sixfold.harness.steps import StackForm

from .flaws.base import Update, is_own, last_human, parted, recap, turn_start
from .flaws.cuts import Repair
from .flaws.state import StateInPrompt
from .flaws.summaries import Fold, Summarise
from .flaws.turns import Refuse
from .flaws.updates import Tag


class Correct(AgentMiddleware[Any, Any, Any]):
    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def note(self, text: str) -> HumanMessage:
        return HumanMessage(text, id=self.environment.new_id("note"), name="note")

    def state_text(self) -> str:
        try:
            return f"State: {self.environment.state.read()}"
        except Exception:  # noqa: BLE001  whatever the source raises, the model is told
            return "The state is not available; what you know of it may be outdated."


class ReminderAtTheEnd(Correct):
    """The state as the last message of each request, never in history."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        reminder = HumanMessage(self.state_text(), name="note")
        return handler(request.override(messages=[*request.messages, reminder]))


class DateInPrompt(Correct):
    """The date at the end of the system prompt."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        prompt = f"You are careful. Today is {self.environment.clock.now():%Y-%m-%d}."
        return handler(request.override(system_message=SystemMessage(prompt)))


class _Snapshot(AgentState[Any]):
    snapshot: str


class SnapshotOfTheTurn(Correct):
    """The state is read once a turn, kept beside the messages, and shown in the system prompt."""

    state_schema = _Snapshot

    def before_agent(self, state: Any, runtime: Any) -> Update:
        return {"snapshot": self.state_text()}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        snapshot = request.state.get("snapshot", "The state is not available.")
        return handler(request.override(system_message=SystemMessage(snapshot)))


class NoteOfTheTurn(Correct):
    """The state as a message of its own behind the words of each turn, and declared so."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        return {"messages": [self.note(self.state_text())]}


class NoteBeforeTheQuestion(Correct):
    """A static note as a message of its own before the latest user message, found from the tail."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = list(state["messages"])
        at = last_human(messages)
        if at is None:
            return None
        messages.insert(at, self.note("Be brief."))
        return {"messages": Overwrite(messages)}


class DecorateTheQuestion(Correct):
    """The latest user message gets a time stamp under its own id."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        at = last_human(state["messages"])
        old = None if at is None else state["messages"][at]
        if old is None or not isinstance(old.content, str) or old.content.startswith("["):
            return None
        stamp = f"[{self.environment.clock.now():%H:%M}]"
        return {"messages": [old.model_copy(update={"content": f"{stamp} {old.content}"})]}


class ClearOldResults(Correct):
    """Tool results of finished turns lose their content, under their own id, once and for all."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        old = state["messages"][: turn_start(state["messages"])]
        full = [m for m in old if isinstance(m, ToolMessage) and m.text != "[cleared]"]
        cleared = [m.model_copy(update={"content": "[cleared]"}) for m in full]
        return {"messages": cleared} if cleared else None


class ClearAllButTheNewest(Correct):
    """The same before each model call: the newest result stays, whatever its turn."""

    def before_model(self, state: Any, runtime: Any) -> Update:
        results = [m for m in state["messages"] if isinstance(m, ToolMessage)][:-1]
        cleared = [m.model_copy(update={"content": "[cleared]"}) for m in results if m.text != "[cleared]"]
        return {"messages": cleared} if cleared else None


class OffloadResults(Correct):
    """A tool result never enters history: the message says where to find it."""

    def wrap_tool_call(self, request: Any, handler: Callable[..., Any]) -> Any:
        result = handler(request)
        return result.model_copy(update={"content": f"saved as file {result.tool_call_id}"})


class WindowOfTurns(Correct):
    """Keeps the current turn and the one before, and forgets the rest on purpose."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        start = turn_start(messages)
        _, gone = parted(messages, turn_start(messages[:start]))
        return {"messages": [RemoveMessage(m.id) for m in gone]} if gone else None


class FoldAfterwards(Correct):
    """Folds all turns into one recap when the last answer has been given."""

    def after_agent(self, state: Any, runtime: Any) -> Update:
        kept, old = parted(state["messages"], len(state["messages"]))
        if all(map(is_own, old)):
            return None
        summary = HumanMessage(recap(old), id=self.environment.new_id("recap"), name="summary")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, summary]}


class FoldAndSaySo(Fold):
    """Folds all turns but the current one, and says so behind the instructions in state, once."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        update = super().before_agent(state, runtime)
        if update is None:
            return None
        said = "\nSome turns are folded."
        return {
            "messages": [
                m.model_copy(update={"content": f"{m.content}{said}"})
                if isinstance(m, SystemMessage) and not str(m.content).endswith(said)
                else m
                for m in update["messages"]
            ]
        }


class FoldIntoSystem(Correct):
    """Folds finished turns into a system message."""

    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        cut = turn_start(messages)
        kept, old = parted(messages, cut)
        if all(map(is_own, old)):
            return None
        summary = SystemMessage(recap(old), id=self.environment.new_id("recap"))
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept, summary, *messages[cut:]]}


class AnswerAnnotated(Correct):
    """Marks each answer of the model as checked, under its own id."""

    def after_model(self, state: Any, runtime: Any) -> Update:
        answer = state["messages"][-1]
        kwargs = {**answer.additional_kwargs, "checked": True}
        return {"messages": [answer.model_copy(update={"additional_kwargs": kwargs})]}


class RefuseShortTurns(Correct):
    """Ends a turn of a single message at once, with a refusal."""

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Update:
        messages = state["messages"]
        at = last_human(messages)
        if at is None or turn_start(messages) != at:
            return None
        refusal = AIMessage("Tell me more, please.", id=self.environment.new_id("refusal"))
        return {"messages": [refusal], "jump_to": "end"}


class RepairCalls(Correct):
    """Gives each call that was never answered a synthetic result, in the request only."""

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        repaired = []
        for index, message in enumerate(request.messages):
            repaired.append(message)
            calls = message.tool_calls if isinstance(message, AIMessage) else []
            behind = takewhile(lambda m: isinstance(m, ToolMessage), request.messages[index + 1 :])
            answered = {m.tool_call_id for m in behind if isinstance(m, ToolMessage)}
            missing = [str(call["id"]) for call in calls if call["id"] not in answered]
            repaired += [ToolMessage("interrupted", tool_call_id=call) for call in missing]
        return handler(request.override(messages=repaired))


class FailsAfterModel(Correct):
    """Reads the state after each answer and lets the error of the source end the turn."""

    def after_model(self, state: Any, runtime: Any) -> Update:
        self.environment.state.read()
        return None


def _candidate(
    name: str, contract: Contract | None, *members: Callable[[Environment], AgentMiddleware[Any, Any, Any]]
) -> Candidate:
    def build(environment: Environment) -> Sequence[AgentMiddleware[Any, Any, Any]]:
        return [member(environment) for member in members]

    # Two instances of a limit both answer the call that is one too many.
    stands = frozenset[StackForm]() if name == "call-limits" else frozenset[StackForm](("twice", "reversed"))
    declared = replace(contract or Contract(), stands=stands)
    return Candidate(name=name, build=build, contract=declared, source="tests/correct.py")


def _fold(environment: Environment) -> Fold:
    return Fold(environment, flawed=False)


_EDITS = Contract(edits_requests=True)
_COMPACTS = Contract(compacts=True)
_NO_CONTINUE = frozenset({"continue"})

CORRECT: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        _candidate("reminder-at-the-end", _EDITS, ReminderAtTheEnd),
        _candidate("date-in-prompt", _EDITS, DateInPrompt),
        _candidate("snapshot-of-the-turn", _EDITS, SnapshotOfTheTurn),
        _candidate("note-of-the-turn", Contract(injects_into_history=True), NoteOfTheTurn),
        _candidate("note-before-the-question", Contract(outside=_NO_CONTINUE), NoteBeforeTheQuestion),
        _candidate("decorate-the-question", None, DecorateTheQuestion),
        _candidate("clear-old-results", Contract(clears_tool_results=True), ClearOldResults),
        _candidate("clear-all-but-the-newest", Contract(clears_tool_results=True), ClearAllButTheNewest),
        _candidate("offload-results", Contract(clears_tool_results=True), OffloadResults),
        _candidate("window-of-turns", Contract(drops_history=True, compacts=True), WindowOfTurns),
        _candidate("fold-afterwards", _COMPACTS, FoldAfterwards),
        _candidate("fold-into-system", _COMPACTS, FoldIntoSystem),
        _candidate("fold-and-say-so", _COMPACTS, lambda e: FoldAndSaySo(e, flawed=False)),
        _candidate("answer-annotated", None, AnswerAnnotated),
        _candidate("refuse-long-turns", None, lambda environment: Refuse(environment, flawed=False)),
        _candidate("fold-refusals", _COMPACTS, FoldAfterwards, RefuseShortTurns),
        _candidate(
            "call-limits",
            None,
            lambda _environment: ModelCallLimitMiddleware(run_limit=2),
            lambda _environment: ToolCallLimitMiddleware(run_limit=2),
        ),
        _candidate("repair-calls", _EDITS, RepairCalls, FailsAfterModel),
        _candidate("fold-when-turns-fail", _COMPACTS, _fold, FailsAfterModel),
        _candidate("tag-the-question", None, lambda environment: Tag(environment, flawed=False)),
        _candidate(
            "mend-calls",
            Contract(edits_requests=True, repairs_tool_calls=True),
            lambda environment: Repair(environment, flawed=False),
        ),
        _candidate("todo-list", _EDITS, lambda _environment: TodoListMiddleware()),
        _candidate(
            "fold-and-prompt",
            Contract(compacts=True, edits_requests=True),
            _fold,
            lambda environment: StateInPrompt(environment, flawed=False),
        ),
        _candidate(
            "summarise-and-decorate",
            _COMPACTS,
            lambda environment: Summarise(environment, flawed=False),
            DecorateTheQuestion,
        ),
    )
}
