"""The run as one JSON document, scenarios included: for other programs."""

from __future__ import annotations

import json

from ..harness.events import RunResult
from ..harness.run_folder import result_data
from ..harness.scenario import to_json


def render(result: RunResult) -> str:
    """Return the run as JSON text; equal runs give equal bytes."""
    data = result_data(result)
    for entry, finding in zip(data["findings"], result.findings, strict=True):
        entry["scenario"] = json.loads(to_json(finding.scenario))
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
