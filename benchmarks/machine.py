"""Time per step of `ContextMachine` against a bare Hypothesis machine with the same draws."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage

from sixfold.harness.candidate import Candidate, Contract
from sixfold.harness.environment import Environment
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import Step
from sixfold.models.deerflow import DEERFLOW
from sixfold.strategies.machine import ContextMachine, InvariantViolation

from .targets import MACHINE_OVERHEAD, Result, Target
from .timing import Block, NotMeasuredError, median_ratio, sandwich, spread, total


@dataclass(frozen=True, slots=True)
class Size:
    """How much a block executes, how many blocks there are, and the target of this size."""

    steps: int
    examples: int
    blocks: int
    target: Target | None


#: As long as a drawn scenario, and Hypothesis' default.
SIZES = (Size(10, 20, 20, MACHINE_OVERHEAD), Size(50, 5, 15, None))

#: With a larger share of steps cut short by violations or errors, there is no number.
MOST_CUT_SHORT = 0.01

#: How often the bare machine runs on each side of the full one, to run about as long.
REPEATS = 2


class PromptMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts date and state into the system prompt of each request, and nothing into history."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        try:
            state = self._environment.state.read()
        except TimeoutError:
            return handler(request)
        today = self._environment.clock.now().date().isoformat()
        prompt = f"{request.system_message.text}\nToday is {today}.\n{state}"
        return handler(request.override(system_message=SystemMessage(prompt)))


#: A second candidate without violations, as a step with one is cut short; the installed middleware
#: have many.
PROMPT = Candidate(
    name="system prompt",
    build=lambda environment: [PromptMiddleware(environment)],
    contract=Contract(edits_requests=True),
)


class FullMachine(ContextMachine):
    """Control and two candidates, all checks on; counts its steps.

    A violation, or an error of the harness, would end the run. It is counted instead and shown; the
    candidates that come after the one that caused it miss the step.
    """

    candidates: ClassVar[tuple[Candidate, ...]] = (DEERFLOW, PROMPT)
    steps: ClassVar[int] = 0
    cut_short: ClassVar[Counter[str]] = Counter()

    def perform(self, step: Step) -> None:
        FullMachine.steps += 1
        try:
            super().perform(step)
        except InvariantViolation as violation:
            FullMachine.cut_short[f"{violation.code} of {violation.candidate}"] += 1
        except Exception as error:  # noqa: BLE001  tests look for errors; here they would only hide the time
            FullMachine.cut_short[type(error).__name__] += 1


class BareMachine(ContextMachine):
    """The rules of `ContextMachine`, so the same draws, and nothing behind them."""

    steps: ClassVar[int] = 0

    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        self.scenario = Scenario()

    def perform(self, step: Step) -> None:
        BareMachine.steps += 1


def execute(machine: type[ContextMachine], *, seed: int, steps: int, examples: int) -> None:
    """Run `machine` as a test: generation only, so that nothing depends on earlier runs."""
    run_state_machine_as_test(
        with_seed(seed)(machine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


def compare(*, seed: int, steps: int, examples: int) -> tuple[Block, int]:
    """Time both machines with one seed; return the times and the number of steps executed."""
    BareMachine.steps = FullMachine.steps = 0
    block = sandwich(
        partial(execute, BareMachine, seed=seed, steps=steps, examples=examples),
        partial(execute, FullMachine, seed=seed, steps=steps, examples=examples),
        repeats=REPEATS,
        clock=time.process_time,
    )
    if BareMachine.steps != 2 * REPEATS * FullMachine.steps:
        raise NotMeasuredError("the machines did not execute the same steps")
    return block, FullMachine.steps


def run() -> Iterator[Result]:
    """Measure for each size, one seed a block."""
    compare(seed=0, steps=10, examples=5)
    for size in SIZES:
        FullMachine.cut_short.clear()
        measured = [
            compare(seed=seed, steps=size.steps, examples=size.examples) for seed in range(1, size.blocks + 1)
        ]
        blocks = [block for block, _ in measured]
        both = total(blocks)
        executed = sum(number for _, number in measured)
        cut_short = FullMachine.cut_short
        if cut_short.total() > MOST_CUT_SHORT * executed:
            raise NotMeasuredError(f"of {executed} steps, too many were cut short: {dict(cut_short)}")
        per_step = f"{1e6 * both.slow / executed:,.0f} and {1e6 * both.fast / executed:,.0f} µs a step"
        name = f"state machine against a bare one, {size.steps} steps an example"
        reasons = "".join(f", {number} cut short by {what}" for what, number in cut_short.items())
        note = f"{per_step}, {spread(blocks)}{reasons}"
        yield Result(name, median_ratio(blocks), "×", size.target, note)
