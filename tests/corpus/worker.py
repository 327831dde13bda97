"""One case at one version, in a process of its own; the result goes to stdout as one line of JSON.

Called as `python -m tests.corpus.worker CASE bug|fixed`, by the interpreter of the version's environment.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import Candidate
from sixfold.harness.scenario import to_json
from sixfold.models.resolve import resolve

from .cases import CASES, Case
from .hunt import CLEAN_HISTORIES, codes_in, hunt, measured, seen


def bug(case: Case, candidate: Candidate) -> dict[str, object]:
    """Hunt for the bug; tell also whether the trigger, written by hand, shows it."""
    if case.figure:
        return {**asdict(measured(candidate, case.figure)), "trigger_shows": []}
    found = asdict(hunt(candidate, case.codes))
    shown = codes_in(build_agent(candidate, direct=True), case.trigger, comparing=True)
    return {**found, "trigger_shows": sorted(shown & set(case.codes))}


def fixed(case: Case, candidate: Candidate) -> dict[str, object]:
    """Look for the codes of the case where the bug is fixed."""
    if case.figure:
        found = measured(candidate, case.figure, most=CLEAN_HISTORIES)
        return {"codes": {} if found.code is None else {found.code: found.scenario}}
    found = seen(candidate, beside=case.beside, beside_steps=case.beside_steps)
    smallest = {code: scenario for code, scenario in found.items() if code in case.codes}
    return {"codes": {code: to_json(scenario) for code, scenario in smallest.items()}}


def main(name: str, which: str) -> None:
    case = CASES[name]
    version = case.bug if which == "bug" else case.fixed
    assert version is not None
    candidate = resolve(version.target)
    candidate = replace(candidate, name=candidate.name.rpartition(":")[2])
    result = bug(case, candidate) if which == "bug" else fixed(case, candidate)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
