"""What a run saved can be judged again from disk, by the same checks, with the same result."""

import json
from pathlib import Path

from sixfold.harness.campaign import Campaign
from sixfold.harness.comparisons import COMPARED
from sixfold.harness.differential import try_out
from sixfold.harness.events import Options
from sixfold.harness.invariants.reading import Reading
from sixfold.harness.invariants.registry import judge
from sixfold.harness.ledger_file import ledger_data, ledger_from
from sixfold.harness.run_folder import RunFolder
from sixfold.models.deerflow import DEERFLOW_4667
from sixfold.models.langchain_summarization import CANDIDATE as SUMMARIZATION
from sixfold.reports.stored_run import load_run

from ..helpers import agent_of, explore, explored


def test_findings_are_found_again_in_what_the_run_saved(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "run")
    candidates = {candidate.name: candidate for candidate in (DEERFLOW_4667, SUMMARIZATION)}
    Campaign(list(candidates.values()), Options(max_histories=60), [folder]).run(explore)
    findings = [f for f in load_run(folder.path).findings if f.signature.code not in COMPARED]
    assert {finding.signature.candidate for finding in findings} == set(candidates)
    for finding in findings:
        reading = Reading(finding.ledger, finding.history)
        again = judge(reading, candidates[finding.signature.candidate].contract)
        shown = {(item.violation.code, item.violation.place, item.violation.record) for item in again}
        assert (finding.signature.code, finding.signature.by, finding.record) in shown


def test_a_ledger_comes_back_as_it_was() -> None:
    spans = 0
    for scenario in explored(150, candidate=SUMMARIZATION):
        ledger = try_out(agent_of(SUMMARIZATION), scenario).reading.ledger
        spans += len(ledger.absences)
        assert ledger_from(json.loads(json.dumps(ledger_data(ledger)))) == ledger
    assert spans
