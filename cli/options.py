"""Options that several commands share."""

from __future__ import annotations

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
