"""The state-machine front end: `ContextMachine`, to be read, subclassed and run in any test suite.

Each rule performs one step of the vocabulary on every candidate, control included, and judges what
happened at once. The plan front end (`scenarios`) draws the same steps.
"""

from __future__ import annotations

import re
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ..harness.agent import Agent, build_agent
from ..harness.candidate import CONTROL, Candidate
from ..harness.errors import TargetError
from ..harness.history import Fold, History, Requested, requests
from ..harness.invariants.checks import Violation
from ..harness.invariants.reading import Reading
from ..harness.invariants.registry import judge
from ..harness.ledger import Ledger
from ..harness.play import Player
from ..harness.scenario import Scenario
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
    TrimState,
    UserTurn,
)
from ..harness.targets import as_candidate
from ..harness.views import Views
from ..harness.violation import InvariantViolation, violation
from .steps import DEFAULT_FAULTS, OTHER_STEPS, user_turns

__all__ = ["ContextMachine", "InvariantViolation", "Side", "machine_for"]


class Side:
    """One candidate of a running machine: what it has done so far."""

    def __init__(self, agent: Agent) -> None:
        self.candidate = agent.candidate
        self._player = Player(agent)
        self._reading = Reading(self._player.ledger, self._player.history)

    @property
    def history(self) -> History:
        """Everything that happened, record by record."""
        return self._player.history

    @property
    def ledger(self) -> Ledger:
        """What was really said, by the harness's own account."""
        return self._player.ledger

    @property
    def state(self) -> Views:
        """The messages of the state, as the last fold left them."""
        return next((r.state for r in reversed(self.history.records) if isinstance(r, Fold)), ())

    @property
    def requests(self) -> tuple[Requested, ...]:
        """What the model was shown, call by call."""
        return tuple(requests(self.history.records))

    def perform(self, step: Step) -> Violation | None:
        """Perform the step and judge its records; return the first violation."""
        since = len(self.history.records)
        self._player.perform(step)
        self._reading.follow()
        judged = judge(self._reading, self.candidate.contract, since=since)
        return next((item.violation for item in judged if item.ruling == "violated"), None)


class ContextMachine(RuleBasedStateMachine):
    """A Hypothesis state machine over `candidates`: candidates, or what `as_candidate` makes one of.

    Set the attribute in a subclass, or use `machine_for`. A subclass may add rules, which call `perform` with
    steps of their own, and Hypothesis invariants, which look at `sides`.

    `scenario` holds the steps performed so far. A violation raises `InvariantViolation`, whose notes show the
    history and a command that replays it.
    """

    candidates: ClassVar[tuple[object, ...]] = ()
    _agents: ClassVar[dict[Candidate, Agent]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.scenario = Scenario()
        chosen = [CONTROL, *map(as_candidate, self.candidates)]
        #: Control and the candidates by their names, in order.
        self.sides: dict[str, Side] = {c.name: Side(self._agent(c)) for c in chosen}

    @classmethod
    def _agent(cls, candidate: Candidate) -> Agent:
        """Return the agent of `candidate`, built once per machine class."""
        if "_agents" not in cls.__dict__:
            cls._agents = {}
        if candidate not in cls._agents:
            cls._agents[candidate] = build_agent(candidate, direct=True)
        return cls._agents[candidate]

    @property
    def side(self) -> Side:
        """The first candidate's side: the one of a machine for a single candidate."""
        return list(self.sides.values())[1 if self.candidates else 0]

    def perform(self, step: Step) -> None:
        """Perform `step` on every candidate. Raises `InvariantViolation` for the first violation."""
        self.scenario = Scenario((*self.scenario.steps, step))
        for side in self.sides.values():
            found = side.perform(step)
            if found is not None:
                raise violation(
                    side.candidate, found.code, found.detail, self.scenario, side.history, found.record
                )

    @rule(turn=st.one_of(user_turns(), user_turns(DEFAULT_FAULTS, odd=True, stops=True)))
    def user_turn(self, turn: UserTurn) -> None:
        """The user writes, the model works and answers."""
        self.perform(turn)

    @rule(step=OTHER_STEPS["continue"])
    def continue_run(self, step: Continue) -> None:
        """The agent runs again without new words."""
        self.perform(step)

    @rule(step=OTHER_STEPS["load_turn"])
    def load_turn(self, step: LoadTurn) -> None:
        """A client loads a turn of an earlier conversation."""
        self.perform(step)

    @rule(step=OTHER_STEPS["late_results"])
    def late_results(self, step: LateResults) -> None:
        """Tool results come late, or once more."""
        self.perform(step)

    @rule(step=OTHER_STEPS["other_thread"])
    def other_thread(self, step: OtherThread) -> None:
        """A second thread has a turn."""
        self.perform(step)

    @rule(step=OTHER_STEPS["advance_clock"])
    def advance_clock(self, step: AdvanceClock) -> None:
        """Time passes."""
        self.perform(step)

    @rule(step=OTHER_STEPS["change_state"])
    def change_state(self, step: ChangeState) -> None:
        """The dynamic state changes."""
        self.perform(step)

    @rule(step=OTHER_STEPS["restart"])
    def restart(self, step: Restart) -> None:
        """The process restarts."""
        self.perform(step)

    @rule(step=OTHER_STEPS["edit_message"])
    def edit_message(self, step: EditMessage) -> None:
        """The user edits an earlier message."""
        self.perform(step)

    @rule(step=OTHER_STEPS["delete_turn"])
    def delete_turn(self, step: DeleteTurn) -> None:
        """A client deletes an earlier turn."""
        self.perform(step)

    @rule(step=OTHER_STEPS["trim_state"])
    def trim_state(self, step: TrimState) -> None:
        """A client trims the history."""
        self.perform(step)

    @rule(step=OTHER_STEPS["rewind"])
    def rewind(self, step: Rewind) -> None:
        """The user goes back to an earlier turn."""
        self.perform(step)

    @rule(step=OTHER_STEPS["configure"])
    def configure(self, step: Configure) -> None:
        """The session is run another way."""
        self.perform(step)


def machine_for(*things: object) -> type[ContextMachine]:
    """Return a machine for candidates, or for what `as_candidate` makes one of.

        TestMine = machine_for(MyMiddleware).TestCase

    Raises `TargetError` for what cannot be middleware, and when two candidates have the same name.
    """
    candidates = tuple(map(as_candidate, things))
    names = [CONTROL.name, *(candidate.name for candidate in candidates)]
    for name in names:
        if names.count(name) > 1:
            raise TargetError(
                f"two candidates are called {name!r}",
                place="machine_for",
                remedy="Give each a name of its own, in a Candidate; control takes part in every machine.",
            )
    # Hypothesis keeps what failed under the name of the class: other candidates need another one.
    words = "".join(re.sub(r"\W+", " ", candidate.name).title() for candidate in candidates)
    return type(f"Machine{words.replace(' ', '')}", (ContextMachine,), {"candidates": candidates})
