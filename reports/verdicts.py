"""The verdicts of a run as JSON, as the run saved them: docs/schemas/verdicts.schema.json describes them."""

from __future__ import annotations

from .stored_run import StoredRun


def files(run: StoredRun) -> dict[str, str]:
    """Return `verdicts.json`, byte for byte."""
    return {"verdicts.json": run.verdicts_json}
