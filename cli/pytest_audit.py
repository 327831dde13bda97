"""`pytest --sixfold-audit`: what a project's own tests make of the updates of its middleware."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ..harness.auditing import Watch
from ..harness.harmless import harmless
from ..harness.run_folder import write_atomically

#: Under which name a test's report carries what the test did; xdist sends it along.
_KEY = "sixfold_audit"

#: Version of the JSON report.
SCHEMA_VERSION = 1

#: What each verdict says, in the order in which they are told.
MEANINGS = {
    "folded": "an update went through a real reducer",
    "shape-only": "updates were looked at, and never folded",
    "result ignored": "nobody looked into the updates, and nothing folded them",
    "no update": "the hooks returned nothing",
}

#: Tests that are listed by name for each verdict; the JSON report has all of them.
_LISTED = 50


class Audit:
    """The audit of one run; under xdist, workers watch and the controller tells."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._watch = Watch()
        self._tests: dict[str, dict[str, Any]] = {}
        self._without = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin with a test."""
        self._watch.begin()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
        """Send what the test did along with its last report."""
        report = yield
        if call.when == "teardown":
            told = self._watch.end()
            setattr(report, _KEY, {**asdict(told), "verdict": told.verdict})
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test did."""
        told = getattr(report, _KEY, None)
        if told is None:
            return
        if told["verdict"] is None:
            self._without += 1
        else:
            self._tests[report.nodeid] = told

    def counts(self) -> dict[str, int]:
        """Return the number of tests by verdict."""
        found = Counter(told["verdict"] for told in self._tests.values())
        return {verdict: found[verdict] for verdict in MEANINGS}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the report, where it was asked for."""
        path: Path | None = self._config.option.sixfold_audit_report
        if path is not None and not hasattr(self._config, "workerinput"):
            data = {
                "sixfold_audit": SCHEMA_VERSION,
                "counts": self.counts(),
                "tests_without_hooks": self._without,
                "tests": [{"test": name, **told} for name, told in sorted(self._tests.items())],
            }
            write_atomically(path, json.dumps(data, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the section."""
        write = terminalreporter.write_line
        terminalreporter.section("sixfold audit")
        counts = self.counts()
        for verdict, meaning in MEANINGS.items():
            write(f"{verdict + ':':<16}{counts[verdict]:>5}  {meaning}")
        write(f"{'no hook:':<16}{self._without:>5}  the test called no node hook of a middleware")
        for verdict in ("shape-only", "result ignored"):
            names = sorted(name for name, told in self._tests.items() if told["verdict"] == verdict)
            if names:
                write("")
                write(f"{verdict}, so blind for what the reducer does with the update:")
            for name in names[:_LISTED]:
                write(f"  {harmless(name, 300)}  ({', '.join(_calls(self._tests[name]))})")
            if len(names) > _LISTED:
                write(f"  … and {len(names) - _LISTED} more")


def _calls(told: dict[str, Any]) -> Iterator[str]:
    for hook, count in sorted(told["calls"].items()):
        yield harmless(hook, 100) + (f" ×{count}" if count > 1 else "")
