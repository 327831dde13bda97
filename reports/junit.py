"""JUnit XML: a test suite for each candidate, a test case for each check that was judged.

The dialect is that of Jenkins' xUnit plugin (junit-10.xsd), which Jenkins, GitLab and Azure read. A check
that was violated is a failure, one whose verdict is in doubt is skipped, with the reason. Test cases have the
same names in every run, so that servers can show their history.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ..harness.findings import Finding
from ..harness.harmless import harmless
from ..harness.rules import RULES, rule_by_code
from .findings_in_words import counted, doubts, not_judged, sentence, story
from .stored_run import StoredCandidate, StoredRun

FILE = "junit.xml"

#: Virtual time passes in a run; a real one would differ each time.
_NO_TIME = "0"


def files(run: StoredRun) -> dict[str, str]:
    """Return the run as one file of JUnit XML."""
    return {FILE: render(run)}


def render(run: StoredRun) -> str:
    """Return the run as JUnit XML. All text in it is legal in XML 1.0."""
    root = Element("testsuites", name="sixfold", time=_NO_TIME)
    for candidate in run.candidates:
        _add_suite(root, candidate, run)
    root.attrib |= {
        name: str(sum(int(suite.get(name, "0")) for suite in root))
        for name in ("tests", "failures", "errors")
    }
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_suite(root: Element, candidate: StoredCandidate, run: StoredRun) -> None:
    suite = SubElement(root, "testsuite", name=harmless(candidate.name), time=_NO_TIME)
    properties = SubElement(suite, "properties")
    for name, value in _properties(candidate, run):
        SubElement(properties, "property", name=harmless(name, 200), value=harmless(value))
    for code in _codes(candidate, run):
        _add_case(suite, code, candidate, run)
    suite.attrib |= {
        "tests": str(len(suite.findall("testcase"))),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": "0",
        "skipped": str(len(suite.findall("testcase/skipped"))),
    }


def _properties(candidate: StoredCandidate, run: StoredRun) -> Iterator[tuple[str, str]]:
    yield "seed", str(run.seed)
    yield "histories", str(run.histories)
    yield "complete", str(run.complete).lower()
    yield "target", candidate.target
    yield "source", candidate.source
    for number, verdict in candidate.verdicts.items():
        yield f"invariant {number}", str(verdict)
    for package, version in sorted(run.versions.items()):
        yield f"version of {package}", version


def _codes(candidate: StoredCandidate, run: StoredRun) -> list[str]:
    """Return the codes that were judged, and those of findings that this version does not know."""
    known = [rule.code for rule in RULES if rule.invariant in candidate.verdicts]
    found = [
        finding.signature.code for finding in run.findings if finding.signature.candidate == candidate.name
    ]
    return known + sorted(set(found) - set(known))


def _add_case(suite: Element, code: str, candidate: StoredCandidate, run: StoredRun) -> None:
    name = harmless(code, 60)
    case = SubElement(suite, "testcase", name=name, classname=harmless(candidate.name), time=_NO_TIME)
    mine = [f for f in run.findings if (f.signature.candidate, f.signature.code) == (candidate.name, code)]
    certain = [finding for finding in mine if finding.confirmed is not None]
    if certain:
        failure = SubElement(case, "failure", type=name, message=_message(certain))
        failure.text = "\n".join(line for finding in certain for line in [*story(finding, run), ""])
        return
    reasons = [sentence(finding) for finding in mine] + _doubts(code, candidate, run)
    if reasons:
        skipped = SubElement(case, "skipped", message=harmless(f"inconclusive: {'; '.join(reasons)}", 1000))
        skipped.text = "\n".join(line for finding in mine for line in [*story(finding, run), ""])
    waived = candidate.waivers.get(code, 0)
    if waived:
        SubElement(case, "system-out").text = f"waived by the contract (histories: {waived})"


def _message(findings: list[Finding]) -> str:
    first, *more = findings
    rest = (
        f" (and {counted(len(more), 'further finding')}: {', '.join(f.id for f in more[:20])})"
        if more
        else ""
    )
    return f"{first.id} {sentence(first)}{rest}"


def _doubts(code: str, candidate: StoredCandidate, run: StoredRun) -> list[str]:
    missing = not_judged(code, run.versions)
    return ([] if missing is None else [missing]) + doubts(candidate, _invariant(code))


def _invariant(code: str) -> int:
    rule = rule_by_code(code)
    return 0 if rule is None else rule.invariant
