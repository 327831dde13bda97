"""The wiring of a graph that somebody else built: nothing is known of it but its channels."""

from __future__ import annotations

from typing import Any

from .wiring import Wiring


class ForeignWiring(Wiring):
    """Tells how the messages are kept. The reducer lane cannot be used with it."""

    def __init__(self, graph: Any) -> None:
        self.channels = dict(graph.channels)
        self.plain_model = None
