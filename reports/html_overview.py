"""The upper part of the page: the matrix as a heat map, and the figures as bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..harness.figures import Figures
from ..harness.verdicts import Verdict
from .html_text import shown
from .measured import remarks
from .stored_run import StoredCandidate, StoredRun

#: A share of histories above each of these makes a cell of the heat map one step darker.
_STEPS = (0.02, 0.15)

#: The width of the longest bar.
BAR = 100


class Cell(NamedTuple):
    """A verdict; `heat` 1 to 3 tells how often what was found was found, `note` tells it in words."""

    number: int
    verdict: str
    heat: int
    note: str
    findings: int


class Line(NamedTuple):
    """A candidate's row of the matrix, and what must be said beside it."""

    candidate: str
    source: str
    cells: tuple[Cell, ...]
    remarks: tuple[str, ...]


class Bar(NamedTuple):
    """One candidate's figure, in words and as a length of at most `BAR`."""

    candidate: str
    value: str
    length: float


class Plot(NamedTuple):
    """One figure of all candidates."""

    title: str
    explanation: str
    bars: tuple[Bar, ...]


def matrix(run: StoredRun) -> tuple[Line, ...]:
    """Return the matrix of candidates and invariants, a line for each candidate."""
    return tuple(_line(candidate, run) for candidate in run.candidates)


def judged(run: StoredRun) -> list[int]:
    """Return the numbers of the invariants that the run judged."""
    return sorted({number for candidate in run.candidates for number in candidate.verdicts})


def _line(candidate: StoredCandidate, run: StoredRun) -> Line:
    cells = (_cell(candidate, number, run) for number in judged(run))
    told = [
        f"waived by contract: {shown(code, 80)}, in {count} histories"
        for code, count in candidate.waivers.items()
    ]
    told += [
        f"never reached: {shown(goal, 80)}; what needs it is inconclusive" for goal in candidate.unreached
    ]
    if not candidate.deterministic:
        told.append("not deterministic: two replays of one scenario differ")
    if candidate.disagreement is not None:
        told.append(f"inconclusive, {shown(candidate.disagreement, 1_200)}")
    told += [shown(sentence, 600) for sentence in (candidate.remark, *candidate.warnings) if sentence]
    told += remarks(candidate.figures)
    return Line(shown(candidate.name, 80), shown(candidate.source, 200), tuple(cells), tuple(told))


def _cell(candidate: StoredCandidate, number: int, run: StoredRun) -> Cell:
    verdict = candidate.verdicts.get(number, Verdict.INCONCLUSIVE)
    counts = {Verdict.VIOLATED: candidate.violations, Verdict.WAIVED: candidate.waivers}.get(verdict, {})
    found = [count for code, count in counts.items() if code.startswith(f"{number}.")]
    often = max(found, default=0)
    share = often / run.histories if run.histories else 0.0
    heat = 1 + sum(share > step for step in _STEPS) if often else 0
    findings = sum(
        each.signature.candidate == candidate.name and each.signature.code.startswith(f"{number}.")
        for each in run.findings
    )
    least = "at least " if len(found) > 1 else ""
    return Cell(number, str(verdict), heat, f"{least}{often} of {run.histories}" if often else "", findings)


def plots(run: StoredRun) -> tuple[Plot, ...]:
    """Return the figures that have any value at all."""
    every = (_plot(run, *figure) for figure in _FIGURES)
    return tuple(plot for plot in every if any(bar.value != _NONE for bar in plot.bars))


_NONE = "none"

_FIGURES: tuple[tuple[str, str, Callable[[Figures], float | None], str], ...] = (
    (
        "Prefix reuse",
        "Share of a request that the previous one began with: what a prompt cache can have.",
        lambda figures: figures.prefix_reuse,
        ".0%",
    ),
    ("Tokens per turn", "Cost of all requests of a turn.", lambda figures: figures.tokens_per_turn, ",.0f"),
    (
        "Growth per turn",
        "Messages that a turn leaves in the state.",
        lambda figures: figures.growth_per_turn,
        ".1f",
    ),
    ("Summaries per turn", "Calls of the summariser.", lambda figures: figures.summaries_per_turn, ".2f"),
)


def _plot(
    run: StoredRun, title: str, explanation: str, of: Callable[[Figures], float | None], show: str
) -> Plot:
    values = [(candidate.name, of(candidate.figures)) for candidate in run.candidates]
    longest = max((value for _, value in values if value is not None), default=0.0)
    # A share is drawn against the whole, everything else against the largest.
    full = 1.0 if show.endswith("%") else longest or 1.0
    bars = (
        Bar(
            shown(name, 60),
            _NONE if value is None else format(value, show),
            0.0 if value is None else round(BAR * value / full, 1),
        )
        for name, value in values
    )
    return Plot(title, explanation, tuple(bars))
