"""SARIF 2.1.0 (OASIS standard): rules are checks, results are findings; for code scanning and editors.

A finding is located in the file of its target, or by the target's name where it is no file: Sixfold finds
what a middleware does, not the line that does it.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from ..harness.findings import Finding
from ..harness.harmless import harmless
from ..harness.invariants.registry import INVARIANTS
from ..harness.rules import RULES
from .explanations import EXPLANATIONS, explain
from .findings_in_words import counted, doubts, is_confirmed, replay_of, sentence, target_file
from .stored_run import StoredRun

FILE = "sixfold.sarif"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

#: The kind and version of fingerprint under which a result carries the id of its finding.
FINGERPRINT = "sixfoldFinding/v1"

_PLACES = {rule.code: place for place, rule in enumerate(RULES)}


def files(run: StoredRun) -> dict[str, str]:
    """Return the run as one SARIF log."""
    return {FILE: json.dumps(log(run), indent=2) + "\n"}


def log(run: StoredRun) -> dict[str, Any]:
    """Return the run as a SARIF log."""
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "Sixfold", "rules": [_rule(place) for place in range(len(RULES))]}
                },
                "invocations": [
                    {"executionSuccessful": True, "toolExecutionNotifications": _notifications(run)}
                ],
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, run) for finding in run.findings],
                "properties": _facts(run),
            }
        ],
    }


def plain(text: str, limit: int = 1000) -> str:
    """Return `text` for a plain text message: neither a placeholder nor an embedded link (SARIF 3.11)."""
    return harmless(text, limit).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _rule(place: int) -> dict[str, Any]:
    rule = RULES[place]
    more = EXPLANATIONS.get(rule.code)
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": f"{rule.why} Invariant {rule.invariant}: {INVARIANTS[rule.invariant]}."},
        "help": {"text": rule.why if more is None else explain(rule)},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": [f"invariant-{rule.invariant}"], "problem.severity": "error"},
    }


def _result(finding: Finding, run: StoredRun) -> dict[str, Any]:
    signature = finding.signature
    known = {"ruleIndex": _PLACES[signature.code]} if signature.code in _PLACES else {}
    needs = f"faults {', '.join(signature.faults)}" if signature.faults else "no fault"
    told = f"{sentence(finding)} (candidate {harmless(signature.candidate, 60)}, needs {needs}; "
    return {
        "ruleId": harmless(signature.code, 60),
        **known,
        "level": "warning" if finding.confirmed is None else "error",
        "message": {"text": plain(f"{told}{is_confirmed(finding)})")},
        "locations": [_location(run.targets.get(signature.candidate, signature.candidate))],
        "partialFingerprints": {FINGERPRINT: finding.id},
        "properties": {
            "candidate": harmless(signature.candidate),
            "showsAt": harmless(signature.by),
            "faults": list(signature.faults),
            "confirmed": finding.confirmed,
            "minimal": finding.minimal,
            "firstSeenInHistory": finding.histories,
            "heldBy": [harmless(name) for name in finding.held_by],
            "members": [harmless(name) for name in finding.members],
            "scenario": f"scenarios/{finding.id}.json",
            "replay": replay_of(finding, run),
        },
    }


def _location(target: str) -> dict[str, Any]:
    path = target_file(target)
    named = {"logicalLocations": [{"fullyQualifiedName": harmless(target)}]}
    if path is None:
        return named
    # The line is not known; code scanning refuses a result without one.
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri(path)}, "region": {"startLine": 1}},
        **named,
    }


def uri(path: str) -> str:
    """Return a path as a URI reference: relative as it is, absolute with its scheme."""
    plain_path = path.removeprefix("./")
    return f"{'file://' if plain_path.startswith('/') else ''}{quote(plain_path, safe='/')}"


def _notifications(run: StoredRun) -> list[dict[str, Any]]:
    """Return what makes verdicts inconclusive: no results at all are no pass then."""
    found = []
    for candidate in run.candidates:
        reasons = dict.fromkeys(
            reason for number in candidate.verdicts for reason in doubts(candidate, number)
        )
        for reason in reasons:
            text = plain(f"{harmless(candidate.name, 60)} is inconclusive: {reason}", 1500)
            found.append({"level": "warning", "message": {"text": text}})
    return found


def _facts(run: StoredRun) -> dict[str, Any]:
    return {
        "seed": run.seed,
        "histories": run.histories,
        "complete": run.complete,
        "versions": {harmless(name, 200): harmless(version, 200) for name, version in run.versions.items()},
        "summary": f"{counted(len(run.findings), 'finding')} on {counted(len(run.candidates), 'candidate')}",
        "candidates": [
            {
                "name": harmless(candidate.name),
                "target": harmless(candidate.target),
                "verdicts": {str(number): str(verdict) for number, verdict in candidate.verdicts.items()},
            }
            for candidate in run.candidates
        ],
    }
