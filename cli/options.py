"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Timeout = Annotated[
    float,
    typer.Option(
        min=0.1, help="Seconds of real time after which a history counts as hung.", show_default=True
    ),
]
Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate/--no-isolate",
        envvar="SIXFOLD_ISOLATE",
        help="Play targets that are not in the catalogue in a process of their own, under a watchdog.",
    ),
]
Invariants = Annotated[
    list[int] | None,
    typer.Option(min=1, max=6, help="Judge only this invariant; may be repeated.", show_default=False),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Findings that are accepted, as TOML or JSON: they do not fail the command.",
        show_default=False,
    ),
]
UpdateBaseline = Annotated[
    bool,
    typer.Option("--update-baseline", help="Write what is found into the baseline; what people wrote stays."),
]
