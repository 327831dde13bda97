"""A session of a whole agent: what interposers report of a stack is seen from outside here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import or_
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ..faults import Fault
from ..ledger import Utterance
from ..observed import ObservedSession
from ..rehearsal import Rehearsal
from ..script import CalledTool
from ..session import Session
from ..views import View, Views
from .places import label

#: What LangGraph's `create_react_agent` says when it refuses a history with unanswered calls.
_REFUSED = "INVALID_CHAT_HISTORY"


class WholeSession(Session):
    """The running history of a whole agent. `tool` is the one that the script calls, if any."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tool: CalledTool | None = None
        #: Ids of what the model has answered in this history, and of the calls it has made.
        self._answers: set[str | None] = set()
        self._calls_made: set[str] = set()
        #: The answer that was given last and is not in state yet; 0: none.
        self._given = 0
        #: Results that the calls of this turn ask for, by the call's id, in order.
        self._wanted: dict[str, list[str]] = {}

    def begin(self, rehearsal: Rehearsal, faults: Sequence[Fault], *, new_turn: bool) -> None:
        """Start a turn, or go on with the current one.

        What answers a call of an earlier turn from now on is no tool's result: somebody has closed a gap.
        """
        if new_turn:
            self._wanted.clear()
        super().begin(rehearsal, faults, new_turn=new_turn)

    # -- what the model does ---------------------------------------------------------------------

    def about_to_ask(self, node: str, messages: Sequence[BaseMessage], tools: frozenset[str]) -> None:
        """Note where the model is called and what it is offered: the script keeps to these tools."""
        self.notice_mutation(label(node), self.standing.messages, list(self.standing.messages))
        self._count_seen(messages)
        number, script = self.replies + 1, self._rehearsal.script
        tool = self.tool if self.tool is not None and self.tool.name in tools else None
        if tool is None and number < script.ends_at():
            self.happened("outside", "tool calls: the model is offered no tool that Sixfold can call")
            self._rehearsal = Rehearsal(
                replace(script, rounds=script.rounds[: max(0, number - script.first)])
            )
        elif tool is not None and tool is not script.tool:
            self._rehearsal = self._rehearsals[-1] = Rehearsal(replace(script, tool=tool))
        if "|" not in node and not self._shows_state(messages):
            self.edited_by = label(node)
            self.hook_ran(self.edited_by, "update")

    def _count_seen(self, messages: Sequence[BaseMessage]) -> None:
        """Count answers that the request shows: a nested agent goes on from what is not in our state yet."""
        seen = {message.id for message in messages}
        while self.replies + 1 == self._given and self._rehearsal.answer(self._given).message.id in seen:
            self.replies += 1

    def _shows_state(self, messages: Sequence[BaseMessage]) -> bool:
        views = self.book.views(messages)
        while views and views[0].role == "system" and (not self.state or views[0] != self.state[0]):
            views = views[1:]
        # Agents of LangChain answer calls that could not be parsed, in each request.
        known = set(self.state)
        return tuple(v for v in views if v in known or not self._answers_a_call(v)) == self.state

    def _answers_a_call(self, view: View) -> bool:
        return view.role == "tool" and view.answers in self._calls_made

    def model_called(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Record a request of the agent's model and return the script's next answer."""
        answer = super().model_called(messages)
        number = self._given = self.replies + 1
        self._answers.add(answer.id)
        calls = [call["id"] for call in (*answer.tool_calls, *answer.invalid_tool_calls)]
        self._calls_made.update(str(call) for call in calls)
        script = self._rehearsal.script
        asked = script.rounds[number - script.first].calls if number < script.ends_at() else ()
        for index, call in enumerate(asked):
            if call.kind != "invalid":
                wanted = self._wanted.setdefault(script.call_id(number, index), [])
                wanted.append(f"t{self.turn}.{number}.{index}")
        return answer

    def calls_back(self, call: str) -> None:
        """Note a call that is none of the script's: it gives the agent the object it asked for."""
        self._calls_made.add(call)

    def injected(self, error: BaseException) -> bool:
        """Tell whether `error` goes back to a fault, or refuses calls that the scenario left unanswered."""
        return super().injected(error) or (_REFUSED in str(error) and self._left_open_by_the_scenario())

    def _left_open_by_the_scenario(self) -> bool:
        answered = {view.answers for view in self.state}
        unanswered = {call for view in self.state for call in view.calls if call not in answered}
        return bool(unanswered) and unanswered <= set(self.ledger.irregular)

    # -- what the lane sees ----------------------------------------------------------------------

    def superstep(
        self, nodes: Sequence[str], written: list[BaseMessage], messages: list[BaseMessage]
    ) -> None:
        """Record the state after `nodes` have written messages."""
        self._hear(messages)
        after = self.book.views(messages)
        by = self._said_as_scripted(after) or "+".join(map(label, nodes))
        if "." in by:
            self.hook_ran(by, "update" if after != self.state else "nothing")
        self.wrote(by, written)
        replies, given, self._given = self.replies, self._given, 0
        self.folded(messages)
        self.replies = max(replies, given)

    def nothing_written(self) -> None:
        """Note that a superstep wrote no messages."""
        self._pending = None

    def _said_as_scripted(self, after: Views) -> str:
        """Return who said it when all that is new was said by model and tools, and nothing old has changed.

        Results may be put in their place, in front of the model's answer: agents of LangChain answer calls
        that could not be parsed.
        """
        before = self.state
        known = set(before)
        new = [view for view in after if view not in known]
        if not new or tuple(view for view in after if view in known) != before:
            return ""
        by_model = [view.role == "ai" and view.id in self._answers for view in new]
        by_tools = [self._answers_a_call(view) for view in new]
        if not all(map(or_, by_model, by_tools)) or not (any(by_model) or after[: len(before)] == before):
            return ""
        return "model" if any(by_model) else "tools"

    def _hear(self, messages: Sequence[BaseMessage]) -> None:
        """Take results of somebody else's tool for what the script's calls asked for."""
        for message in messages if self._wanted else ():
            if not isinstance(message, ToolMessage) or message.tool_call_id not in self._wanted:
                continue
            view = self.book.view(message)
            if view.says is not None or message.id is None or self.book.has_adopted(view):
                self._no_longer_wanted(message.tool_call_id, view.says)
                continue
            wanted = self._wanted[message.tool_call_id]
            if not wanted:
                continue
            token = wanted.pop(0)
            self.book.adopt(message, token)
            order = (self.turn, max(self._given, self.replies), 1)
            said = Utterance(token, self.turn, order, view.text, view.id, 0, view.answers)
            self._offered[token] = said

    def _no_longer_wanted(self, call: str, token: str | None) -> None:
        if token in self._wanted[call]:
            self._wanted[call].remove(token)


class ObservedWholeSession(ObservedSession, WholeSession):
    """A session of a whole agent whose model requests an observer sees."""
