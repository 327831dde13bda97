"""The targets, all in one place, and what a benchmark reports against them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on a measured number. `at_least` tells on which side of the bound it is met."""

    bound: float
    unit: str = ""
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Tell whether `value` is on the right side of the bound."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:,g}{self.unit}"


#: Histories per second, reducer lane against graph lane, of candidates that cost next to nothing.
LANE_SPEEDUP = Target(20, "×", at_least=True)

#: Time per step of a state machine with control and two candidates against the bare machine, in
#: examples as long as a drawn scenario can be (10 steps). In Hypothesis' default of 50 steps, what the
#: libraries do with 50 turns of messages takes longer than this by itself; that line only informs.
MACHINE_OVERHEAD = Target(3, "×")

#: Time per history of two sides, each in a worker, against the same histories in one process.
LOCKSTEP = Target(1.5, "×")

#: Time per turn of a long history against a short one; 1 is linear.
LENGTH_GROWTH = Target(1.3, "×")

#: The most memory of a long search against that of its beginning; 1 is flat.
MEMORY_GROWTH = Target(1.05, "×")

#: Histories of a night with two workers against one, on two cores, and of a cluster's against theirs.
WORKER_GAIN = Target(1.8, "×", at_least=True)
CLUSTER_SHARE = Target(0.9, "×", at_least=True)

#: Replays of one scenario that came out differently.
NO_DIFFERENCE = Target(0)

#: Histories until a known bug is found: the median over the seeds, and every seed.
MEDIAN_SEARCH = Target(50)
LONGEST_SEARCH = Target(1000)

#: What Sixfold costs those who do not use it right now, in milliseconds of processor time: the start of a
#: pytest run, importing it beyond LangChain, and the help of the command. And the share of a suite's time.
PLUGIN_START = Target(50, " ms")
PLUGIN_SHARE = Target(1, " %")
#: Calls of its functions for each test: it has no hook that runs for one.
PLUGIN_CALLS = Target(0)
IMPORT_TIME = Target(100, " ms")
HELP_TIME = Target(300, " ms")


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table. Without a target it only informs; `note` holds the absolute numbers."""

    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Tell whether there is a target and it is not met."""
        return self.target is not None and not self.target.met(self.value)

    def measured(self) -> str:
        """Return the value as the table shows it."""
        digits = 0 if not self.unit else 1 if self.value >= 10 else 2
        return f"{self.value:,.{digits}f}{self.unit}"
