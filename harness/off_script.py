"""What an agent does that no script foresees: these errors end its turn."""

from __future__ import annotations


class RunawayLoopError(Exception):
    """The agent kept calling the model although the script has ended."""


class UnknownToolCallError(Exception):
    """A tool was called with arguments that the script did not give it."""
