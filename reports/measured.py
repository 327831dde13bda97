"""The figures of each candidate, beside the verdicts: what it costs, never pass or fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from ..harness.events import CandidateResult
from ..harness.figures import Figures
from .labels import cell

#: Characters of a candidate's name in a table: with six verdicts beside it, 80 columns are enough.
NAME_WIDTH = 25

_NOTHING = "-"


def measured_table(candidates: Sequence[CandidateResult], called: Mapping[str, str]) -> Table:
    """Return the table of figures that the terminal shows, one row for each candidate, by its label."""
    table = Table(title="Measured, beside the verdicts", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("candidate", no_wrap=True)
    for title in ("prefix reuse", "tokens/turn", "summaries/turn", "stored/turn"):
        table.add_column(title, justify="right", no_wrap=True)
    for candidate in candidates:
        table.add_row(Text(cell(called[candidate.name], NAME_WIDTH)), *_cells(candidate.figures))
    return table


def _cells(figures: Figures) -> tuple[str, ...]:
    reuse = figures.prefix_reuse
    return (
        _NOTHING if reuse is None else f"{reuse:.0%}",
        _rounded(figures.tokens_per_turn, 0),
        _rounded(figures.summaries_per_turn, 2),
        _rounded(figures.growth_per_turn, 1),
    )


def _rounded(value: float | None, digits: int) -> str:
    return _NOTHING if value is None else f"{value:.{digits}f}"


def remarks(figures: Figures) -> list[str]:
    """Return what is worth a sentence: ids that grow, histories that are written again for nothing."""
    found = []
    if figures.needless_rewrites:
        found.append(f"wrote the whole history again {figures.needless_rewrites} times and changed nothing")
    if figures.id_growth:
        found.append(f"an id grew by {figures.id_growth} characters")
    return found
