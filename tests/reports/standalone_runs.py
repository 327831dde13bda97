"""A stored run of one finding, made from a scenario: what a search would have shrunk to it."""

from pathlib import Path

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import Candidate
from sixfold.harness.differential import try_out
from sixfold.harness.findings import Finding, Signature
from sixfold.harness.scenario import Scenario
from sixfold.harness.stack import needed_members
from sixfold.reports.stored_run import StoredRun

VERSIONS = {"langchain": "1.0", "langgraph": "1.0"}


def found(candidate: Candidate, code: str, scenario: Scenario, *, last: bool = False) -> Finding:
    """Return the first (or last) violation of `code` as a confirmed finding. Fails when there is none."""
    agent = build_agent(candidate, direct=True)
    trial = try_out(agent, scenario)
    item = [each for each in trial.judged if each.violation.code == code and each.ruling == "violated"][-last]
    graph = try_out(build_agent(candidate, direct=False), scenario, lane="graph")
    faults = tuple(sorted({fault.kind for fault in trial.history.fired()}))
    members = needed_members(
        agent, scenario, lambda a, s: any(key[0] == code for key in try_out(a, s).violated())
    )
    return Finding(
        Signature(candidate.name, code, item.violation.place, faults),
        scenario,
        trial.history,
        item.violation.record,
        item.violation.detail,
        True,
        any(key[0] == code for key in graph.violated()),
        (),
        1,
        members,
        (),
        trial.reading.ledger,
    )


def run_of(candidate: Candidate, *findings: Finding) -> StoredRun:
    """Return a run that found `findings` on `candidate`."""
    plain = {} if candidate.plain is None else {candidate.name: candidate.plain}
    return StoredRun(
        Path("."),
        0,
        VERSIONS,
        {candidate.name: candidate.target},
        {candidate.name: candidate.source},
        findings,
        plain=plain,
    )
