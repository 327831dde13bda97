"""Named flaws of the re-created systems: what each design avoids, as a candidate that can be run."""

from __future__ import annotations

from dataclasses import dataclass

from ..harness.candidate import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One known mistake, made in a system that is otherwise as it was reviewed.

    `candidate` has the flaw, and `correct` is the same without it. `codes` are the checks that show it,
    on which `correct` is clean. `origin` is the public bug (project and number), or the naive variant that
    the system's design avoids.
    """

    candidate: Candidate
    correct: Candidate
    codes: tuple[str, ...]
    origin: str
