"""Stand-alone files against published versions: they fail where the bug is, and pass where it is fixed.

Written by the version with the bug in a side environment, and run there and in that of the fixed version
with Sixfold made impossible to import.
"""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from sixfold.harness.scenario import to_json
from sixfold.reports.fresh_process import rerun
from sixfold.reports.standalone import Written

from .cases import CASES
from .environments import ROOT, environment_variables, python_of

TOOL_CALL_LIMIT = """
from langchain.agents.middleware import ToolCallLimitMiddleware

LIMIT = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
"""
CONTEXT_EDITING = """
from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

EDITING = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=10, keep=1)])
"""

#: Case, target, and the source of the target's file (empty: an installed one).
RELEASED = {
    "L4": ("langchain.summarization", ""),
    "L13": ("{folder}/target.py:LIMIT", TOOL_CALL_LIMIT),
    "L9": ("{folder}/target.py:EDITING", CONTEXT_EDITING),
}


def python_at(requirements: tuple[str, ...]) -> str:
    return str(python_of(requirements[0].replace("==", "-"), requirements))


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASED)
def test_the_file_fails_with_the_bug_and_passes_with_the_fix(name: str, tmp_path: Path) -> None:
    target, source = RELEASED[name]
    (tmp_path / "target.py").write_text(source)
    case = CASES[name]
    assert case.fixed is not None
    python = python_at(case.bug.requirements)
    done = subprocess.run(
        [python, "-m", "tests.corpus.write_standalone", target.format(folder=tmp_path), case.codes[0]],
        cwd=ROOT,
        env=environment_variables(),
        input=to_json(case.trigger),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    file = Written(**json.loads(done.stdout.splitlines()[-1]))
    assert not file.needs_sixfold
    script = replace(file.script, name="test_it.py")
    assert rerun([script], python=python) == ("",)
    assert rerun([script], python=python_at(case.fixed.requirements)) == ("it passes",)
