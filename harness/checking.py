"""`check`: play one scenario on something, and raise when it breaks an invariant. For tests of one's own."""

from __future__ import annotations

from functools import lru_cache

from .agent import Agent, build_agent
from .candidate import Candidate
from .differential import Trial, try_out
from .play import LaneName
from .scenario import Scenario
from .targets import as_candidate
from .violation import violation


@lru_cache(maxsize=64)
def _agent(candidate: Candidate, *, direct: bool) -> Agent:
    """Return the agent of the candidate, built once: that takes longer than many histories."""
    return build_agent(candidate, direct=direct)


def check(
    thing: object,
    scenario: Scenario,
    *,
    invariants: tuple[int, ...] = (),
    lane: LaneName = "reducer",
    comparing: bool = False,
) -> Trial:
    """Play `scenario` on `thing` and judge it; return the trial when nothing is violated.

    `thing` is a candidate, or what `as_candidate` makes one of. `invariants` limits the checks (empty: all),
    `lane` is where it is played, `comparing` plays the variants of the scenario, too (restarted,
    asynchronous, …). Raises `InvariantViolation` for the first violation; its notes show the history and how
    to replay it. Raises `TargetError` when the candidate cannot be built.
    """
    candidate = as_candidate(thing)
    agent = _agent(candidate, direct=lane == "reducer")
    trial = try_out(agent, scenario, lane=lane, invariants=invariants, comparing=comparing)
    violated = sorted(
        trial.violated().values(), key=lambda item: (item.violation.record, item.violation.code)
    )
    if violated:
        first = violated[0].violation
        raise violation(candidate, first.code, first.detail, scenario, trial.history, first.record)
    return trial
