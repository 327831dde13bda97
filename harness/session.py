"""One history in the making: script, faults, recorder and ledger while a scenario is played.

Both lanes drive the same session; the fake model, the fake tool and the interposers report to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_messages
from langgraph.types import Overwrite

from .chat_model import FakeChatModel
from .clock import VirtualClock
from .environment import DynamicState, Environment
from .faults import Fault, FaultKind, FaultPlace, FaultPlan, InjectedFault, InjectedTimeout, is_injected
from .history import FaultFired, Fold, Happened, History, HookRan, Mutated, Requested, Summarised, TurnEnded
from .ledger import Ledger, Utterance
from .steps import UserTurn
from .tokens import bare, mentions, token_text, unescaped
from .views import ViewBook, Views, text_of

#: A turn may call the model this many times more than its script has rounds before it is stopped.
SPARE_MODEL_CALLS = 20

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


class RunawayLoopError(Exception):
    """The agent kept calling the model although the script has ended."""


class Session:
    """The running history of one candidate: what the lanes share.

    `world` are the fault kinds that can strike. The session is its own recorder: `history` and
    `ledger` grow while it runs.
    """

    def __init__(self, candidate: str, lane: str, model: FakeChatModel, world: frozenset[FaultKind]) -> None:
        self.history = History(candidate, lane)
        self.ledger = Ledger()
        self.book = ViewBook()
        self.environment = Environment(
            model=model, clock=VirtualClock(), state=DynamicState(on_read=self._source_read)
        )
        self.state: Views = ()
        self.turn = 0
        self._world = world
        self._script = UserTurn()
        self._plan = FaultPlan((), world)
        self._faults_before = 0
        self._replies = 0
        self._calls = 0
        self._offered: dict[str, Utterance] = {}
        self._where = ""
        self._edits = 0
        self._pending: tuple[str, list[BaseMessage]] | None = None
        self.ledger.states.append((0, self.environment.state.token()))
        model.attach(self)

    # -- turns ---------------------------------------------------------------------------------

    def begin_turn(self, step: UserTurn) -> list[HumanMessage]:
        """Start a user turn; return the human messages to submit."""
        self.turn += 1
        self._script = step
        self._plan = FaultPlan(step.faults, self._world, first=self._faults_before)
        self._faults_before += len(step.faults)
        self._replies = self._calls = 0
        self._offered.clear()
        messages = []
        for number, message in enumerate(step.messages):
            token = f"u{self.turn}" if number == 0 else f"u{self.turn}.{number + 1}"
            text = token_text(token, message.words)
            self._offer(token, (self.turn, 0, number), text)
            messages.append(HumanMessage(text, id=token))
        self.wrote("user", list(messages))
        return messages

    def end_turn(self, error: Exception | None) -> None:
        """Record how the turn ended; `error` is what escaped from the agent, if anything did."""
        self._pending = None
        if error is not None:
            self.history.records.append(
                TurnEnded(self.turn, "aborted", self.describe(error), is_injected(error), self._where)
            )
        else:
            answered = self._replies > len(self._script.rounds)
            self.history.records.append(TurnEnded(self.turn, "answered" if answered else "cut"))
        self._where = ""

    def happened(self, what: str, detail: str = "") -> None:
        """Record an event from outside."""
        self.history.records.append(Happened(self.turn, what, detail))

    def change_state(self) -> None:
        """Give the dynamic state its next version."""
        self.environment.state.version += 1
        token = self.environment.state.token()
        self.happened("change_state", token)
        self.ledger.states.append((len(self.history.records), token))

    def edit_of(self, turn: int) -> HumanMessage | None:
        """Return the edited form of the first user message of `turn`, None when it is not in state."""
        words = self.ledger.words_at(turn, len(self.history.records))
        found = [view for view in self.state if words and view.says == words[0]]
        if not words or not found:
            self.happened("edit_message", "not in state")
            return None
        old = self.ledger.utterances[words[0]]
        self._edits += 1
        token = f"{old.token.partition('.e')[0]}.e{self._edits}"
        self.happened("edit_message", f"{old.token} becomes {token}")
        text = token_text(token, 2)
        at = len(self.history.records)
        self.ledger.replace(old.token, Utterance(token, turn, old.order, text, found[0].id, at))
        message = HumanMessage(text, id=found[0].id)
        self.wrote("edit", [message])
        return message

    # -- what the fake model, the fake tool and the sources do ----------------------------------

    def model_called(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Record a request of the agent's model and return the script's next answer."""
        self._calls += 1
        views = self.book.views(messages)
        system = ""
        if views and views[0].role == "system" and (not self.state or views[0] != self.state[0]):
            system, views = views[0].text, views[1:]
        self.history.records.append(Requested(self.turn, self._calls, system, views, views != self.state))
        if self._calls > len(self._script.rounds) + SPARE_MODEL_CALLS:
            raise RunawayLoopError(f"the model was called {self._calls} times in one turn")
        return self._reply(self._replies + 1)

    def _reply(self, number: int) -> AIMessage:
        rounds = self._script.rounds
        if number <= len(rounds):
            token = f"a{self.turn}.{number}"
            text = token_text(token, 1)
            calls = [
                {
                    "name": "lookup",
                    "args": {"token": f"t{self.turn}.{number}.{i}"},
                    "id": f"c{self.turn}.{number}.{i}",
                }
                for i in range(len(rounds[number - 1].calls))
            ]
        else:
            token = f"a{self.turn}" if number == len(rounds) + 1 else f"a{self.turn}.again{number}"
            text = token_text(token, self._script.reply_words)
            calls = []
        self._offer(token, (self.turn, number, 0), text)
        self.wrote("model", [])
        return AIMessage(text, id=token, tool_calls=calls)

    def tool_result(self, token: str, call_id: str) -> ToolMessage:
        """Return the scripted result of the tool call that asks for `token`."""
        turn, number, index = (int(part) for part in token[1:].split("."))
        words = self._script.rounds[number - 1].calls[index].words
        text = token_text(token, words)
        self._offer(token, (turn, number, 1), text, call=call_id)
        self.wrote("tools", [])
        return ToolMessage(text, id=token, name="lookup", tool_call_id=call_id)

    def summarise(self, messages: Sequence[BaseMessage]) -> str:
        """Answer an auxiliary model call: every utterance mentioned, bare, in order."""
        prompt = unescaped("\n".join(text_of(message.content) for message in messages))
        found = mentions(prompt)
        struck = self._plan.strike("summariser")
        failure = None if struck is None else struck[1].kind
        self.history.records.append(
            Summarised(self.turn, self._where, found.utterances, found.quoted, failure)
        )
        self._raise_if(struck, "summariser")
        return "Recap: " + " ".join(map(bare, found.utterances))

    def _source_read(self) -> None:
        self._raise_if(self._plan.strike("source"), "source")

    def _raise_if(self, struck: tuple[int, Fault] | None, at: FaultPlace) -> None:
        if struck is None:
            return
        self.fired(struck, at)
        if struck[1].kind == "timeout":
            raise InjectedTimeout(f"the {at} did not answer in time")
        raise InjectedFault(f"the {at} failed")

    def _offer(self, token: str, order: tuple[int, ...], text: str, *, call: str | None = None) -> None:
        self._offered[token] = Utterance(token, self.turn, order, text, token, 0, call)

    # -- what interposers report -----------------------------------------------------------------

    def strike(self, hook: FaultPlace, member: int) -> tuple[int, Fault] | None:
        """Return the fault that strikes this call of the hook, if any is planned."""
        return self._plan.strike(hook, member)

    def fired(self, struck: tuple[int, Fault], by: str) -> None:
        """Record that a planned fault struck."""
        number, fault = struck
        self.history.records.append(FaultFired(self.turn, number, fault.kind, fault.at, by))

    @contextmanager
    def inside(self, by: str) -> Iterator[None]:
        """Attribute summariser calls and escaping errors to `by` while its code runs."""
        outer = self._where
        self._where = by
        yield
        self._where = outer

    def hook_ran(self, by: str, outcome: str, error: Exception | None = None) -> None:
        """Record the outcome of a hook call."""
        self.history.records.append(
            HookRan(
                self.turn,
                by,
                outcome,
                None if error is None else self.describe(error),
                error is not None and is_injected(error),
            )
        )

    def notice_mutation(self, by: str, before: Sequence[BaseMessage], now: Sequence[BaseMessage]) -> Views:
        """Record in-place changes of state messages, or of the list itself; return changed views."""
        changed = self.book.refresh(before)
        was = tuple(pair[0] for pair in changed)
        became = tuple(pair[1] for pair in changed)
        if len(before) != len(now) or any(a is not b for a, b in zip(before, now, strict=True)):
            was, became = was + self.state, became + self.book.views(now)
        if was or became:
            self.history.records.append(Mutated(self.turn, by, was, became))
        return became

    def wrote(self, by: str, messages: list[BaseMessage]) -> None:
        """Announce the messages that the running node is about to commit."""
        self._pending = (by, messages)

    def folded(self, messages: Sequence[BaseMessage]) -> None:
        """Record the state after the announced writes were folded; nothing when none were.

        What has now been said for the first time is entered in the ledger.
        """
        if self._pending is None:
            return
        (by, update), self._pending = self._pending, None
        self.state = self.book.views(messages)
        self.history.records.append(Fold(self.turn, by, self.book.views(update), self.state))
        if not self._offered:
            return
        at = len(self.history.records) - 1
        for view in self.state:
            said = self._offered.pop(view.says, None) if view.says else None
            if said is not None:
                self._replies += said.token[0] == "a"
                self.ledger.say(
                    Utterance(said.token, said.turn, said.order, said.text, view.id, at, said.call)
                )

    def describe(self, error: Exception) -> str:
        """Return type and message of `error` without addresses and random ids."""
        text = _ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")
        return (self.book.name_id(text) or "")[:500]


def messages_of(update: object) -> list[BaseMessage]:
    """Return the messages that a hook's update writes, in order; empty when it writes none."""
    value = update.get("messages") if isinstance(update, dict) else None
    if isinstance(value, Overwrite):
        value = value.value
    if value is None:
        return []
    return list(convert_to_messages(value if isinstance(value, list) else [value]))
