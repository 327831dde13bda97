"""The state-machine front end: `ContextMachine`, to be read, subclassed and run in any test suite.

Each rule performs one step of the vocabulary on every candidate, control included, and judges what
happened at once. The plan front end (`scenarios`) draws the same steps.
"""

from __future__ import annotations

from typing import ClassVar

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ..harness.agent import Agent, build_agent
from ..harness.candidate import CONTROL, Candidate
from ..harness.invariants.reading import Reading
from ..harness.invariants.registry import judge
from ..harness.play import Player
from ..harness.scenario import Scenario, to_json
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
from .steps import DEFAULT_FAULTS, OTHER_STEPS, user_turns


class InvariantViolation(AssertionError):
    """A candidate broke an invariant; `code` is the check, `scenario` the steps up to here."""

    def __init__(self, candidate: str, code: str, detail: str, scenario: Scenario) -> None:
        super().__init__(f"{candidate} violates {code}: {detail}")
        self.candidate = candidate
        self.code = code
        self.scenario = scenario


class _Side:
    """One candidate of a running machine: its player and how far it has been judged."""

    def __init__(self, agent: Agent) -> None:
        self.candidate = agent.candidate
        self.player = Player(agent)
        self.reading = Reading(self.player.ledger, self.player.history)

    def perform(self, step: Step) -> tuple[str, str] | None:
        """Perform the step and judge its records; return code and detail of a violation."""
        since = len(self.player.history.records)
        self.player.perform(step)
        self.reading.follow()
        for item in judge(self.reading, self.candidate.contract, since=since):
            if item.ruling == "violated":
                return item.violation.code, item.violation.detail
        return None


class ContextMachine(RuleBasedStateMachine):
    """A Hypothesis state machine over `candidates`. Set the attribute in a subclass, or use
    `machine_for`.

    `scenario` holds the steps performed so far. A violation raises `InvariantViolation`, with the
    scenario as a note that `sixfold replay` can play.
    """

    candidates: ClassVar[tuple[Candidate, ...]] = ()
    _agents: ClassVar[dict[str, Agent]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.scenario = Scenario()
        self._sides = [_Side(self._agent(candidate)) for candidate in (CONTROL, *self.candidates)]

    @classmethod
    def _agent(cls, candidate: Candidate) -> Agent:
        """Return the agent of `candidate`, built once per machine class."""
        if "_agents" not in cls.__dict__:
            cls._agents = {}
        if candidate.name not in cls._agents:
            cls._agents[candidate.name] = build_agent(candidate, direct=True)
        return cls._agents[candidate.name]

    def perform(self, step: Step) -> None:
        """Perform `step` on every candidate. Raises `InvariantViolation` for the first violation."""
        self.scenario = Scenario((*self.scenario.steps, step))
        for side in self._sides:
            violated = side.perform(step)
            if violated is not None:
                note(f"scenario, for `sixfold replay`:\n{to_json(self.scenario)}")
                raise InvariantViolation(side.candidate.name, *violated, self.scenario)

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


def machine_for(*candidates: Candidate) -> type[ContextMachine]:
    """Return a machine for candidates: `TestMine = machine_for(MY_CANDIDATE).TestCase`."""
    return type("MachineForCandidates", (ContextMachine,), {"candidates": candidates})
