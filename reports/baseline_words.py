"""What a baseline says of a run, in lines that all formats share."""

from __future__ import annotations

from ..harness.baseline import Accepted, Sorted
from ..harness.harmless import harmless


def lines_of(held: Sorted) -> list[str]:
    """Return a line for each entry that this run met or missed, the most urgent first; each is harmless."""
    return [
        *(f"expired: {_entry(entry)}" for entry in held.expired),
        *(f"accepted: {_entry(entry)}" for entry in held.known),
        *(f"unobserved: {_entry(entry)}" for entry in held.unobserved),
    ]


def counts(held: Sorted) -> str:
    """Return how many of each there are, in one line."""
    return (
        f"baseline: {len(held.known)} known, {len(held.new)} new, {len(held.expired)} expired, "
        f"{len(held.unobserved)} unobserved"
    )


def _entry(entry: Accepted) -> str:
    said = [harmless(entry.reason, 200) or "no reason given"]
    if entry.owner:
        said.append(harmless(entry.owner, 60))
    if entry.expires is not None:
        said.append(f"until {entry.expires.isoformat()}")
    code = harmless(entry.code, 60) or "what the model sees"
    return f"{harmless(entry.id, 20)} {code} of {harmless(entry.candidate, 80)} ({'; '.join(said)})"
