"""JUnit XML: valid for CI servers, legal XML 1.0 whatever it reports, and honest about what is in doubt."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from sixfold.harness.rules import RULES
from sixfold.harness.verdicts import Verdict
from sixfold.reports.junit import FILE, files
from sixfold.reports.stored_run import StoredRun

from .runs import SCHEMAS

ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: The verdicts of a candidate that has ended its process too often: one is certain, the others are not.
GIVEN_UP = dict.fromkeys(range(1, 6), Verdict.INCONCLUSIVE) | {6: Verdict.VIOLATED}


def parsed(run: StoredRun) -> Element:
    text = files(run)[FILE]
    assert ILLEGAL.search(text) is None
    return ElementTree.fromstring(text.encode())


def cases(run: StoredRun, candidate: str) -> dict[str, Element]:
    [suite] = [suite for suite in parsed(run).iter("testsuite") if suite.get("name") == candidate]
    return {str(case.get("name")): case for case in suite.iter("testcase")}


def assert_valid(run: StoredRun) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="the extra `dev` is not installed")
    schema = xmlschema.XMLSchema(SCHEMAS / "junit-10-subset.xsd")
    assert list(map(str, schema.iter_errors(ElementTree.tostring(parsed(run), encoding="unicode")))) == []


def test_a_real_run_is_valid(real_run: StoredRun) -> None:
    assert_valid(real_run)


def test_hostile_text_is_valid_and_only_text(hostile_run: StoredRun) -> None:
    root = parsed(hostile_run)
    known = {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "skipped",
        "system-out",
    }
    assert {element.tag for element in root.iter()} <= known
    assert_valid(hostile_run)


def test_a_suite_for_each_candidate_and_a_case_for_each_check(real_run: StoredRun) -> None:
    assert [s.get("name") for s in parsed(real_run)] == ["control", "deerflow", "deerflow-4667"]
    assert list(cases(real_run, "control")) == [rule.code for rule in RULES]


def test_findings_are_failures_of_their_check(real_run: StoredRun) -> None:
    failed = {name: case.find("failure") for name, case in cases(real_run, "deerflow-4667").items()}
    codes = {finding.signature.code for finding in real_run.findings}
    assert {name for name, failure in failed.items() if failure is not None} == codes
    for finding in real_run.findings:
        failure = failed[finding.signature.code]
        assert failure is not None
        assert finding.id in str(failure.get("message"))
        assert f"sixfold replay $RUN/scenarios/{finding.id}.json deerflow-4667" in str(failure.text)
        assert "turn 1: user: [u1" in str(failure.text)


def test_counts_are_those_of_the_cases(real_run: StoredRun) -> None:
    for suite in parsed(real_run):
        for count, tag in (
            ("tests", "testcase"),
            ("failures", "testcase/failure"),
            ("skipped", "testcase/skipped"),
        ):
            assert int(str(suite.get(count))) == len(suite.findall(tag))
    root = parsed(real_run)
    assert int(str(root.get("failures"))) == len(root.findall("testsuite/testcase/failure")) > 0


def test_seed_and_versions_are_properties(real_run: StoredRun) -> None:
    suite = parsed(real_run)[0]
    told = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert told["seed"] == "0"
    assert told["histories"] == "40"
    assert told["version of langchain"] == real_run.versions["langchain"]


def only(run: StoredRun, **changes: object) -> StoredRun:
    candidate = replace(run.candidates[1], **changes)  # type: ignore[arg-type]
    return replace(run, candidates=(candidate,), findings=())


@pytest.mark.parametrize(
    ("changes", "skipped", "reason"),
    [
        ({"deterministic": False}, {1, 2, 3, 4, 5, 6}, "not deterministic"),
        ({"disagreement": "6.lanes: they differ"}, {1, 2, 3, 4, 5, 6}, "6.lanes: they differ"),
        ({"unreached": ("compaction",)}, {4, 5}, "never reached: compaction"),
        (
            {"verdicts": GIVEN_UP, "warnings": ("given up after 3 histories that ended its process",)},
            {1, 2, 3, 4, 5},
            "given up after 3 histories",
        ),
        ({"verdicts": GIVEN_UP}, {1, 2, 3, 4, 5}, "not played to the end"),
    ],
)
def test_what_is_in_doubt_is_skipped_with_the_reason(
    real_run: StoredRun, changes: dict[str, object], skipped: set[int], reason: str
) -> None:
    run = replace(only(real_run, **changes), versions={})
    seen = cases(run, "deerflow")
    told = {
        name: str(element.get("message")) for name, case in seen.items() for element in case.iter("skipped")
    }
    assert {int(name[0]) for name in told} == skipped
    assert set(told) == {rule.code for rule in RULES if rule.invariant in skipped}
    assert all(reason in message for message in told.values())


def test_an_inconclusive_finding_is_skipped_and_no_failure(real_run: StoredRun) -> None:
    finding = replace(real_run.findings[0], confirmed=None)
    case = cases(replace(real_run, findings=(finding,)), "deerflow-4667")[finding.signature.code]
    assert case.find("failure") is None
    skipped = case.find("skipped")
    assert skipped is not None
    assert str(skipped.get("message")).startswith("inconclusive: ")
    assert finding.id in str(skipped.text)


def test_what_no_serialiser_could_judge_is_skipped(real_run: StoredRun) -> None:
    missing = {"langchain-openai": "not installed", "langchain-anthropic": "not installed"}
    skipped = cases(replace(real_run, versions=missing), "control")["4.rejected-request"].find("skipped")
    assert skipped is not None
    assert "sixfold[providers]" in str(skipped.get("message"))
    installed = {**missing, "langchain-openai": "1.0"}
    assert (
        cases(replace(real_run, versions=installed), "control")["4.rejected-request"].find("skipped") is None
    )


def test_a_waiver_passes_and_says_so(real_run: StoredRun) -> None:
    case = cases(real_run, "deerflow")["1.state-in-history"]
    assert case.find("failure") is None
    assert str(case.findtext("system-out")).startswith("waived by the contract (histories: ")


def test_only_judged_invariants_have_cases(real_run: StoredRun) -> None:
    seen = cases(only(real_run, verdicts={4: Verdict.HOLDS}), "deerflow")
    assert {name[0] for name in seen} == {"4"}


def test_a_check_of_a_later_version_is_not_lost(real_run: StoredRun) -> None:
    finding = real_run.findings[0]
    later = replace(finding, signature=replace(finding.signature, code="2.unheard-of"))
    case = cases(replace(real_run, findings=(later,)), "deerflow-4667")["2.unheard-of"]
    assert case.find("failure") is not None


def test_the_schema_refuses_what_is_not_junit(tmp_path: Path) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="the extra `dev` is not installed")
    schema = xmlschema.XMLSchema(SCHEMAS / "junit-10-subset.xsd")
    assert not schema.is_valid(
        "<testsuites name='x' time='0' tests='1' failures='0' errors='0'><case/></testsuites>"
    )
    assert not schema.is_valid("<testsuites name='x' time='soon' tests='1' failures='0' errors='0'/>")
