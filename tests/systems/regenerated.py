"""All measurements of docs/systems.md, on all cores."""

from __future__ import annotations

from sixfold.harness.candidate import CONTROL
from sixfold.models.catalogue import flaws

from .measured import PRESENT, FlawShown, Measured, measure, on_all_cores, show_by_name


def regenerated() -> tuple[list[Measured], list[FlawShown]]:
    """Measure control, then every system of the catalogue, and shrink every flaw."""
    systems = on_all_cores(measure, (CONTROL.name, *PRESENT))
    shown = on_all_cores(show_by_name, [flaw.candidate.name for flaw in flaws()])
    return systems, shown
