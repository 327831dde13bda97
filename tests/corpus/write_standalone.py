"""The stand-alone file of one finding, written by the versions at hand; it goes to stdout as JSON.

Called as `python -m tests.corpus.write_standalone TARGET CODE`, with the scenario as JSON on stdin, by the
interpreter of a side environment.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from sixfold.harness.scenario import from_json
from sixfold.models.resolve import resolve
from sixfold.reports.standalone import Written, written
from tests.reports.standalone_runs import found, run_of


def main(target: str, code: str) -> None:
    candidate = resolve(target)
    finding = found(candidate, code, from_json(sys.stdin.read()))
    file = written(finding, run_of(candidate, finding))
    assert isinstance(file, Written), file
    print(json.dumps(asdict(file)))


if __name__ == "__main__":
    main(*sys.argv[1:])
