"""One history in the making: script, faults, recorder and ledger while a scenario is played.

Both lanes drive the same session; the fake model, the fake tool and the interposers report to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import is_
from typing import Any
from weakref import proxy

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from . import dependencies
from .chat_model import FakeChatModel
from .clock import VirtualClock
from .environment import DynamicState, Environment
from .faults import Fault, FaultKind, FaultPlace, FaultPlan, is_injected
from .handed import Handed
from .history import FaultFired, Fold, Happened, History, HookRan, Mutated, Requested, TurnEnded
from .ledger import Ledger, Utterance
from .loop import DeterministicLoop
from .off_script import RunawayLoopError, UnknownToolCallError
from .rehearsal import Line, Rehearsal, SaidLines
from .script import Script, Spoken
from .standing import Standing
from .views import ViewBook, Views

#: A turn may call the model this many times more than its script has rounds before it is stopped.
SPARE_MODEL_CALLS = 20

#: What nobody says before the first turn.
_NOTHING_SAID = Rehearsal(Script(0, ()))

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


class Session:
    """The running history of one candidate: what the lanes share.

    `world` are the fault kinds that can strike; `hooked` tells whether the candidate has any hooks. The
    session is its own recorder: `history` and `ledger` grow while it runs. `loop` is set while the
    session runs asynchronously.
    """

    def __init__(
        self,
        candidate: str,
        lane: str,
        model: FakeChatModel,
        world: frozenset[FaultKind],
        *,
        clock: VirtualClock,
        hooked: bool,
    ) -> None:
        self.history = History(candidate, lane)
        self.ledger = Ledger()
        self.book = ViewBook(watching=hooked)
        self.handed = Handed()
        me = proxy(self)  # candidates keep the environment: a cycle would leave each history to the collector
        self.environment = Environment(
            model=model,
            clock=clock,
            state=DynamicState(on_read=lambda: me.depend("source")),
            on_count=lambda: me.depend("token_counter"),
        )
        self.state: Views = ()
        self.turn = 0
        self.replies = 0
        #: Earlier turns that a rewind has taken up again: the stopped one, and any that took it up before.
        self.reopened: tuple[int, ...] = ()
        self.failed_tool: Fault | None = None
        self.edited_by = ""
        #: Outcomes of wrapped tool calls of a superstep: they are records once it is folded.
        self.wrapped: list[HookRan] = []
        self.loop: DeterministicLoop | None = None
        self._world = world
        self._shares = not hooked and lane == "reducer"  # nobody changes what others are shown
        #: Whether messages of the script are lent to the history, which is the only one that goes on.
        self.lends = False
        self._rehearsal = _NOTHING_SAID
        self._rehearsals: list[Rehearsal] = []
        self.lines = SaidLines(self.book)
        self._plan = FaultPlan((), world)
        self._faults_before = 0
        self._calls = 0
        self._cancelling = False
        self._answered = False
        self._offered: dict[str, Utterance] = {}
        self._where = ""
        self._failed = ""
        self.standing = Standing(self.book)
        self._pending: tuple[str, list[BaseMessage], tuple[BaseMessage, ...]] | None = None
        self.ledger.states.append((0, self.environment.state.token()))

    # -- what the player announces -----------------------------------------------------------------

    def begin(self, rehearsal: Rehearsal, faults: Sequence[Fault], *, new_turn: bool) -> None:
        """Start a turn, or go on with the current one, under a script and `faults`."""
        if new_turn:
            self.replies = 0
            self._answered = False
            self._offered.clear()
            self.reopened = ()
        self._rehearsal = rehearsal
        self._rehearsals.append(rehearsal)
        self._plan = FaultPlan(faults, self._world, first=self._faults_before)
        self._faults_before += len(faults)
        self._calls = 0
        self._cancelling = False
        self._failed = ""
        self.failed_tool = None

    def bring(self, by: str, spoken: Sequence[Spoken]) -> list[Any]:
        """Announce messages from outside; return them as the lane must submit them."""
        for message in spoken:
            if message.utterance is not None:
                self._offered[message.utterance.token] = message.utterance
        messages = [message.message for message in spoken]
        self.wrote(by, [m for m in messages if isinstance(m, BaseMessage)])
        return messages

    def end_turn(self, error: BaseException | None, *, stopped: bool = False) -> None:
        """Record how the turn ended; `error` is what escaped from the agent, if anything did."""
        self._pending = None
        self.wrapped.clear()
        if error is not None or stopped:
            self._leave_calls_open()
            self._answered = self._has_answered()
        if error is not None:
            self.history.records.append(
                TurnEnded(self.turn, "aborted", self.describe(error), self.injected(error), self._failed)
            )
        elif stopped:
            self.history.records.append(TurnEnded(self.turn, "stopped"))
        else:
            answered = self._has_answered()
            self.history.records.append(TurnEnded(self.turn, "answered" if answered else "cut"))

    def _has_answered(self) -> bool:
        """Tell whether the model has given its last answer, before the turn was stopped or since."""
        return self._answered or self.replies >= self._rehearsal.script.closes_at()

    def _leave_calls_open(self) -> None:
        """Note that the calls of the model's last answer may stay without results: the scenario's doing."""
        answered: set[str | None] = set()
        for view in reversed(self.state):
            if view.calls:
                self.ledger.irregular.update((call, self.turn) for call in view.calls if call not in answered)
                return
            answered.add(view.answers)

    def happened(self, what: str, detail: str = "") -> None:
        """Record an event from outside."""
        self.history.records.append(Happened(self.turn, what, detail))

    # -- what the fake model, the fake tool and the sources do ----------------------------------

    def model_called(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Record a request of the agent's model and return the script's next answer."""
        return self._answer(*self._request_of(messages))

    def model_called_plainly(self, prompt: BaseMessage, messages: list[BaseMessage]) -> AIMessage:
        """Do the same for prompt and state, when `standing` knows the messages (`is_plain`)."""
        return self._answer(str(prompt.content), self.state)

    def _answer(self, system: str, views: Views) -> AIMessage:
        self._calls += 1
        edited_by, self.edited_by = self.edited_by, ""
        self.history.records.append(Requested(self.turn, self._calls, system, views, edited_by))
        if self._calls > len(self._rehearsal.script.rounds) + SPARE_MODEL_CALLS:
            raise RunawayLoopError(f"the model was called {self._calls} times in one turn")
        self.depend("model")
        answer: AIMessage = self._say(self._rehearsal.answer(self.replies + 1))
        self.wrote("model", [])
        return answer

    def _request_of(self, messages: Sequence[BaseMessage]) -> tuple[str, Views]:
        """Split a request into the system prompt's text and the views of its messages."""
        if self.standing.follows(messages):
            return self.book.view(messages[0]).text, self.state
        views = self.book.views(messages)
        if views and views[0].role == "system" and (not self.state or views[0] != self.state[0]):
            return views[0].text, views[1:]
        return "", views

    def tool_result(self, token: str, call_id: str) -> ToolMessage:
        """Return the scripted result of the tool call that asks for `token`."""
        if self.failed_tool is not None:
            dependencies.fail(self.failed_tool, "tool")
        self.depend("tool")
        here = self._rehearsal
        line = here.known_result(token, call_id) if here.script.turn == self.turn else None
        result: ToolMessage = self._say(line or self._asked(token).result(token, call_id))
        self.wrote("tools", [])
        return result

    def _asked(self, token: str) -> Rehearsal:
        """Return the script that has the model ask for `token` in the running turn."""
        for rehearsal in reversed(self._rehearsals):
            script = rehearsal.script
            if script.turn in (self.turn, *self.reopened) and script.asks_for(token):
                return rehearsal
        raise UnknownToolCallError(f"no tool call of this turn asks for {token!r}")

    def summarise(self, messages: Sequence[BaseMessage], *, refused: bool = False) -> str:
        """Answer an auxiliary model call: every utterance mentioned, bare, in order; or refuse it."""
        return (dependencies.refuse if refused else dependencies.summarise)(self, messages, self._where)

    def depend(self, at: FaultPlace) -> None:
        """Let the fault planned for this call of a dependency strike, if there is one."""
        struck = self._plan.strike(at)
        if struck is not None:
            self.fired(struck, at)
            if at == "tool":
                self.failed_tool = struck[1]
            dependencies.fail(struck[1], at)

    def as_new(self, line: Line) -> Any:
        """Return the message of a line, for this history alone; it is known what it looks like."""
        message = line.message if self._shares else self.lines.lend(line) if self.lends else None
        if message is None:
            message = line.said_anew()
        self.lines.add(message, line)
        return message

    def _say(self, line: Line) -> Any:
        if line.utterance is not None:
            self._offered[line.utterance.token] = line.utterance
        return self.as_new(line)

    # -- what interposers report -----------------------------------------------------------------

    def strike(self, at: FaultPlace, member: int = 0) -> tuple[int, Fault] | None:
        """Return the fault that strikes this call of the place, if any is planned."""
        return self._plan.strike(at, member)

    def fired(self, struck: tuple[int, Fault], by: str) -> None:
        """Record that a planned fault struck."""
        number, fault = struck
        self._cancelling |= fault.kind == "cancel"
        self.history.records.append(FaultFired(self.turn, number, fault.kind, fault.at, by))

    def enter(self, by: str) -> str:
        """Attribute summariser calls to `by`, whose code runs from now on; return who it was before."""
        outer, self._where = self._where, by
        return outer

    def leave(self, outer: str) -> None:
        """Go back to attributing summariser calls to `outer`."""
        self._where = outer

    def failed(self, by: str) -> None:
        """Note that an error escapes from the code of `by`: it is its own when no other was noted before."""
        self._failed = self._failed or by

    def hook_ran(self, by: str, outcome: str, error: BaseException | None = None) -> None:
        """Record the outcome of a hook call."""
        told = None if error is None else self.describe(error)
        injected = error is not None and self.injected(error)
        self.history.records.append(HookRan(self.turn, by, outcome, told, injected))

    def notice_mutation(self, by: str, before: Sequence[BaseMessage], now: Sequence[BaseMessage]) -> None:
        """Record in-place changes of state messages, or of the list itself."""
        changed = self.book.refresh(before)
        was, became = tuple(old for old, _ in changed), tuple(new for _, new in changed)
        if len(before) != len(now) or not all(map(is_, before, now)):
            was, became = was + self.state, became + self.book.views(now)
        if was or became:
            self.standing.forget()
            self.history.records.append(Mutated(self.turn, by, was, became))

    def wrote(self, by: str, messages: list[BaseMessage]) -> None:
        """Announce the messages that the running node is about to commit."""
        again = self.handed.over(messages, self.turn) if messages and "." in by else ()
        self._pending = (by, messages, again)

    def folded(self, messages: Sequence[BaseMessage]) -> None:
        """Record the state after the announced writes were folded; nothing when none were.

        What has now been said for the first time is entered in the ledger.
        """
        if self._pending is None:
            return
        (by, update, again), self._pending = self._pending, None
        state = self.state = self.standing.fold(messages, self.state)
        records, offered = self.history.records, self._offered
        records += self.wrapped
        self.wrapped.clear()
        names = tuple([str(self.book.name_id(message.id)) for message in again]) if again else ()
        records.append(Fold(self.turn, by, self.book.views(update) if update else (), state, names))
        if by == "model":
            self.replies += 1
        if not offered:
            return
        at = len(records) - 1
        for view in state[self.standing.old :]:
            said = offered.pop(view.says, None) if view.says else None
            if said is not None:
                self.ledger.say(said.entered(view.id, at))

    def injected(self, error: BaseException) -> bool:
        """Tell whether `error` goes back to a fault that struck."""
        return is_injected(error) or (self._cancelling and self.describe(error) == "cancelled")

    def describe(self, error: BaseException) -> str:
        """Return type and message of `error` without addresses and random ids."""
        if "Cancelled" in type(error).__name__:
            return "cancelled"
        text = _ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")
        return (self.book.name_id(text) or "")[:500]
