"""The JSON report: one document, the same for the same run, scenarios included."""

import json

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Options
from sixfold.harness.scenario import from_json
from sixfold.reports.json_report import render
from sixfold.strategies.scenarios import explore

from ..planted import PLANTED


def rendered(seed: int = 1) -> str:
    return render(
        Campaign([PLANTED["2.duplicate"].flawed], Options(seed=seed, max_histories=20)).run(explore)
    )


def test_equal_runs_give_equal_bytes() -> None:
    assert rendered() == rendered()


def test_document_holds_verdicts_and_scenarios() -> None:
    data = json.loads(rendered())
    assert data["options"]["seed"] == 1
    assert [candidate["name"] for candidate in data["candidates"]] == ["control", "flawed-2.duplicate"]
    assert data["candidates"][1]["verdicts"]["2"] == "violated"
    assert data["findings"]
    for finding in data["findings"]:
        assert from_json(json.dumps(finding["scenario"])).steps
