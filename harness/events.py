"""The event stream: the engine emits, listeners listen and cannot change a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .figures import Figures
from .findings import Finding
from .history import History
from .plain import PlainTarget
from .scenario import Scenario
from .verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything that decides what a run does. Equal options give equal results.

    `max_histories` is the number of scenarios to generate; `budget` bounds the generation in seconds
    of real time (None: no bound) and is the only option that can make two runs differ.
    """

    seed: int = 0
    max_histories: int = 400
    budget: float | None = None
    invariants: tuple[int, ...] = ()
    batch: int = 100
    lane_samples: int = 5


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The lanes play `scenario` differently on a candidate and alike on control (check code `6.lanes`).

    Nothing more is known of the candidate then: what the fast lane shows need not hold in the real agent.
    """

    candidate: str
    scenario: Scenario
    detail: str

    @property
    def file(self) -> str:
        """Where a run folder keeps the scenario."""
        return f"disagreements/{self.scenario.digest()}.json"

    @property
    def reason(self) -> str:
        """One sentence for people."""
        return f"6.lanes: the two lanes disagree on this candidate, {self.detail}"


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """What a run says of one candidate: a verdict for each judged invariant, and what was reached.

    `violations` and `waivers` count histories by check code; `unreached` are goals never reached. `figures`
    were measured on a sample of the histories. `disagreement` is the first scenario on which its lanes
    disagree, None when there is none. `plain` says how a program without Sixfold makes the candidate;
    `remark` is what readers must know of the way it was played, `warnings` are sentences about what it does
    to the process it runs in.
    """

    name: str
    target: str
    source: str
    verdicts: dict[int, Verdict]
    violations: dict[str, int]
    waivers: dict[str, int]
    reached: Counter[str]
    unreached: tuple[str, ...]
    deterministic: bool
    figures: Figures = field(default_factory=Figures)
    disagreement: Disagreement | None = None
    plain: PlainTarget | None = None
    remark: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run. `complete` is False when the budget ended it early."""

    options: Options
    versions: dict[str, str]
    histories: int
    complete: bool
    candidates: tuple[CandidateResult, ...]
    findings: tuple[Finding, ...]
    lanes_compared: int


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins: its options, and the names of its candidates in order."""

    options: Options
    candidates: tuple[str, ...]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Progressed:
    """Histories were played; `distinct` failures have been seen so far."""

    histories: int
    of: int
    distinct: int


@dataclass(frozen=True, slots=True)
class Stage:
    """The run enters a stage: `generating`, `shrinking` or `comparing lanes`."""

    name: str


@dataclass(frozen=True, slots=True)
class Found:
    """A finding is complete: shrunk and confirmed. `beside` are the other candidates' histories of it."""

    finding: Finding
    beside: tuple[History, ...] = ()


@dataclass(frozen=True, slots=True)
class Disagreed:
    """The lanes disagree on a candidate, which becomes inconclusive; the run goes on with the others."""

    disagreement: Disagreement


@dataclass(frozen=True, slots=True)
class HarnessBroke:
    """The harness contradicted itself on this scenario; the run ends."""

    candidate: str
    scenario: Scenario
    detail: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    result: RunResult


Event = RunStarted | Progressed | Stage | Found | Disagreed | HarnessBroke | RunFinished
Listener = Callable[[Event], None]


def name_of(listener: Listener) -> str:
    """Return what a listener is called: what it says of itself, else its function or class."""
    said = getattr(listener, "called", "")
    return str(said or getattr(listener, "__qualname__", type(listener).__name__))


@dataclass(slots=True)
class Stream:
    """Hands events to listeners; one that breaks is left out from then on and remembered."""

    listeners: list[Listener] = field(default_factory=list)
    broken: list[tuple[str, Exception]] = field(default_factory=list)

    @classmethod
    def to(cls, listeners: Iterable[Listener]) -> Stream:
        """Return a stream to these listeners."""
        return cls(list(listeners))

    def emit(self, event: Event) -> None:
        """Hand `event` to each listener."""
        for listener in list(self.listeners):
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001  a report must not change a verdict
                self.listeners.remove(listener)
                self.broken.append((name_of(listener), error))
