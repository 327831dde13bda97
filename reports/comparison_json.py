"""A comparison as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..harness.baseline import Sorted
from ..harness.scenario import to_json
from ..harness.sides.result import ComparisonResult, Difference
from .comparison_words import title_of, verdict
from .side_by_side import parting, shown_later

#: Grows when the meaning of something changes.
COMPARISON_VERSION = 1


def render(results: Sequence[ComparisonResult], held: Sorted | None = None) -> str:
    """Return the results, and how they stand to a baseline; equal results give equal bytes."""
    data: dict[str, Any] = {
        "sixfold_comparison": COMPARISON_VERSION,
        "comparisons": [_data(result) for result in results],
    }
    if held is not None:
        data["baseline"] = {
            name: [entry.id for entry in getattr(held, name)]
            for name in ("known", "new", "expired", "unobserved")
        }
    return json.dumps(data, indent=2) + "\n"


def _data(result: ComparisonResult) -> dict[str, Any]:
    return {
        "verdict": verdict(result),
        "seed": result.seed,
        "histories": result.histories,
        "complete": result.complete,
        "sides": [asdict(side) for side in result.sides],
        "differences": [
            _difference(difference, result.id_of(difference), in_part=result.in_part(difference))
            for difference in result.differences
        ],
    }


def _difference(difference: Difference, identity: str, *, in_part: bool) -> dict[str, Any]:
    parted = parting(difference.before, difference.after)
    later = shown_later(difference)
    return {
        "id": identity,
        "kind": difference.kind,
        "in_part": in_part,
        "head": difference.head,
        "code": difference.code,
        "title": title_of(difference),
        "by": difference.by,
        "detail": difference.detail,
        "faults": list(difference.faults),
        "minimal": difference.minimal,
        "confirmed": difference.confirmed,
        "first_seen": difference.histories,
        "histories": difference.count,
        "scenario": json.loads(to_json(difference.scenario)),
        "model_sees": None if parted is None else asdict(parted),
        "fails_at": None if later is None else asdict(later),
    }
