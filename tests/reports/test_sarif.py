"""SARIF: valid, with stable fingerprints, and messages that no viewer turns into links or placeholders."""

import json
from dataclasses import replace
from typing import Any

import pytest

from sixfold.harness.rules import RULES
from sixfold.reports.sarif import FILE, FINGERPRINT, files, plain, uri
from sixfold.reports.stored_run import StoredRun

from .runs import SCHEMAS, validator


def logged(run: StoredRun) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(files(run)[FILE])
    return log


def assert_valid(log: dict[str, Any]) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-subset.json").read_text(encoding="utf-8"))
    assert [f"{error.json_path}: {error.message}" for error in validator(schema).iter_errors(log)] == []


def results(run: StoredRun) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = logged(run)["runs"][0]["results"]
    return found


def test_a_real_run_is_valid(real_run: StoredRun) -> None:
    assert_valid(logged(real_run))


def test_hostile_text_is_valid(hostile_run: StoredRun) -> None:
    assert_valid(logged(hostile_run))


def test_hostile_messages_hold_no_link_and_no_placeholder(hostile_run: StoredRun) -> None:
    run = logged(hostile_run)["runs"][0]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert len(run["results"]) == len(hostile_run.findings)
    for told in [*run["results"], *notes]:
        text = told["message"]["text"]
        assert "](" not in text
        unescaped = text.replace("{{", "").replace("}}", "")
        assert not {"{", "}"} & set(unescaped)
        assert "\n" not in text


def test_rules_are_the_checks_with_their_help(real_run: StoredRun) -> None:
    rules = logged(real_run)["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    for rule, told in zip(RULES, rules, strict=True):
        assert rule.why in told["fullDescription"]["text"]
        assert "way out" in told["help"]["text"]


def test_results_are_the_findings(real_run: StoredRun) -> None:
    told = results(real_run)
    assert [each["partialFingerprints"] for each in told] == [{FINGERPRINT: f.id} for f in real_run.findings]
    for each, finding in zip(told, real_run.findings, strict=True):
        assert each["ruleId"] == finding.signature.code == RULES[each["ruleIndex"]].code
        assert each["level"] == "error"
        assert finding.detail in each["message"]["text"]
        assert each["properties"]["confirmed"] is True


def test_an_inconclusive_finding_is_a_warning(real_run: StoredRun) -> None:
    [told] = results(replace(real_run, findings=(replace(real_run.findings[0], confirmed=None),)))
    assert told["level"] == "warning"
    assert "inconclusive" in told["message"]["text"]


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ("src/mine.py:Mine", "src/mine.py"),
        ("./src/my own.py:Mine.inner", "src/my%20own.py"),
        ("/home/x/mine.py:Mine", "file:///home/x/mine.py"),
        ("100%/a#b?c.py:M", "100%25/a%23b%3Fc.py"),
        ("é.py:M", "%C3%A9.py"),
        ("a:b.py:M", "a%3Ab.py"),
    ],
)
def test_a_file_is_located_by_its_path(real_run: StoredRun, target: str, where: str) -> None:
    run = replace(real_run, targets=dict.fromkeys(real_run.targets, target))
    for told in results(run):
        [location] = told["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == where
    assert_valid(logged(run))


@pytest.mark.parametrize("target", ["deerflow", "pkg.module:Name", "a\u202eb.py:M", "a\nb.py:M", "mine.py"])
def test_what_is_no_file_is_located_by_its_name(real_run: StoredRun, target: str) -> None:
    [told, *_] = results(replace(real_run, targets=dict.fromkeys(real_run.targets, target)))
    [location] = told["locations"]
    assert "physicalLocation" not in location
    assert location["logicalLocations"]


def test_what_is_inconclusive_is_told(real_run: StoredRun) -> None:
    doubtful = replace(real_run.candidates[1], deterministic=False, unreached=("compaction",))
    run = replace(real_run, candidates=(doubtful,), findings=())
    [first, second] = logged(run)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "deerflow is inconclusive: not deterministic" in first["message"]["text"]
    assert "never reached: compaction" in second["message"]["text"]


def test_plain_text_escapes_what_sarif_reads() -> None:
    assert plain("{0} [a](b)") == "{{0}} [a] (b)"
    assert uri("a b/c.py") == "a%20b/c.py"


def test_the_schema_refuses_what_is_not_sarif(real_run: StoredRun) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-subset.json").read_text(encoding="utf-8"))
    log = logged(real_run)
    log["runs"][0]["results"][0]["severity"] = "high"
    assert not validator(schema).is_valid(log)
    log = logged(real_run)
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator(schema).is_valid(log)
