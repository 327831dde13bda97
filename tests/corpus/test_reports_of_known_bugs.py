"""Reports of known bugs, from the run to a maintainer's machine: `make proof`.

`sixfold run` finds the bug, `sixfold report` writes every format, and the stand-alone file of the finding is
given to pytest in an environment that holds LangChain, LangGraph and pytest, and no Sixfold. It fails there
with its assertion, and passes where the bug is fixed.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from sixfold.reports.outputs import OUTPUTS

from .cases import CASES
from .environments import environment_variables, plain_python_of, python_of

pytestmark = pytest.mark.slow

TARGET = Path(__file__).parent / "targets" / "dynamic_context.py"
FILE = "app/context.py"
SIXFOLD = "from sixfold.cli.app import main; main()"
AT_HAND = tuple(f"{package}=={version(package)}" for package in ("langchain", "langgraph"))


@dataclass(frozen=True)
class Known:
    """A bug: what is run, the codes that show it, where it is fixed.

    `versions` are those that are run, empty for the ones at hand; `fixed_in` versions, or a text of the file
    and what stands there in its place. `beside` are faults that show another bug.
    """

    targets: tuple[str, ...]
    codes: tuple[str, ...]
    versions: tuple[str, ...] = ()
    fixed_in: tuple[str, ...] = ()
    fixed_by: tuple[str, str] | None = None
    beside: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()


def released(name: str) -> Known:
    case = CASES[name]
    fixed = () if case.fixed is None else case.fixed.requirements
    return Known(
        ("langchain.summarization",), case.codes, case.bug.requirements, fixed, beside=frozenset(case.beside)
    )


KNOWN = {
    "D1": Known(
        (f"{FILE}:BEFORE_4667", f"{FILE}:AFTER_4667"),
        ("3.stale-question",),
        fixed_by=(".BEFORE_4667", ".AFTER_4667"),
    ),
    "L3": released("L3"),
    "L4": released("L4"),
    "L7": released("L7"),
    "stack": Known(
        (f"{FILE}:STACK",), ("4.cut-inside-turn",), members=("DynamicContext", "SummarizationMiddleware")
    ),
}


def called(requirements: tuple[str, ...]) -> str:
    return requirements[0].replace("==", "-")


def sixfold(known: Known, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Sixfold as a user does, with the versions that have the bug."""
    if known.versions:
        python, variables = str(python_of(called(known.versions), known.versions)), environment_variables()
    else:
        python, variables = sys.executable, None
    return subprocess.run(
        [python, "-c", SIXFOLD, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@dataclass(frozen=True)
class Made:
    """A finished run of a bug with its reports, the finding, and its stand-alone file."""

    known: Known
    reports: Path
    data: dict[str, Any]
    finding: dict[str, Any]

    @property
    def file(self) -> Path:
        return self.reports / f"test_repro_{self.finding['id']}.py"


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    made: dict[str, Made] = {}

    def run(name: str) -> Made:
        if name not in made:
            made[name] = _made(KNOWN[name], tmp_path_factory.mktemp(name))
        return made[name]

    return run


def _made(known: Known, folder: Path) -> Made:
    (folder / "app").mkdir()
    shutil.copy(TARGET, folder / FILE)
    done = sixfold(known, folder, "run", *known.targets, "--max-histories", "300")
    assert done.returncode == 1, done.stderr[-2000:]
    done = sixfold(known, folder, "report", "--format", "all")
    assert done.returncode == 0, done.stderr[-2000:]
    run = folder / ".sixfold/runs/latest"
    data = json.loads((run / "verdicts.json").read_text())
    shown = [
        finding
        for finding in data["findings"]
        if finding["code"] in known.codes
        and finding["candidate"] == data["candidates"][1]["name"]
        and not known.beside & set(finding["faults"])
    ]
    assert shown, [finding["code"] for finding in data["findings"]]
    return Made(known, run / "reports", data, shown[0])


def given_to_pytest(file: Path, requirements: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Give the file to pytest where there is no Sixfold, and from another folder than the run's."""
    python = plain_python_of(called(requirements), requirements)
    without = subprocess.run(
        [python, "-c", "import sixfold"],
        env=environment_variables(),
        capture_output=True,
        check=False,
        cwd="/",
    )
    assert b"No module named 'sixfold'" in without.stderr
    return subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        cwd="/",
        env=environment_variables(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


every_bug = pytest.mark.parametrize("name", KNOWN)


@every_bug
def test_every_format_is_written(name: str, make: Callable[[str], Made]) -> None:
    made = make(name)
    written = {path.name for path in made.reports.iterdir()}
    ids = {finding["id"] for finding in made.data["findings"]}
    assert {f"{each}.md" for each in ids} == {name for name in written if name.startswith("SF-")}
    fixed = {
        "report.html",
        "junit.xml",
        "sixfold.sarif",
        "github-annotations.txt",
        "github-summary.md",
        "verdicts.json",
    }
    repros = {name for name in written if name.startswith("test_repro_")}
    assert written == fixed | repros | {f"{each}.md" for each in ids}
    assert len(OUTPUTS) == 7
    for path in made.reports.iterdir():
        assert made.finding["id"] in path.read_text() or path.name.startswith(("SF-", "test_repro_"))
    # Each issue text holds its file, or says why there is none.
    for each in ids:
        text = (made.reports / f"{each}.md").read_text()
        assert (f"test_repro_{each}.py" in repros) != ("There is no stand-alone test: `" in text)


@every_bug
def test_the_file_fails_where_there_is_no_sixfold(name: str, make: Callable[[str], Made]) -> None:
    made = make(name)
    assert "sixfold" not in made.file.read_text().lower()
    done = given_to_pytest(made.file, made.known.versions or AT_HAND)
    assert done.returncode == 1, done.stdout[-3000:]
    assert re.search(rf"^E +AssertionError: {re.escape(made.finding['code'])}: ", done.stdout, re.MULTILINE)
    assert "1 failed" in done.stdout


@pytest.mark.parametrize("name", [n for n, known in KNOWN.items() if known.fixed_in or known.fixed_by])
def test_the_file_passes_where_the_bug_is_fixed(
    name: str, make: Callable[[str], Made], tmp_path: Path
) -> None:
    made = make(name)
    known = made.known
    file, text = made.file, made.file.read_text()
    if known.fixed_by is not None:
        assert text.count(known.fixed_by[0]) == 1
        file = made.file.with_name("test_fixed.py")
        file.write_text(text.replace(*known.fixed_by))
    done = given_to_pytest(file, known.fixed_in or AT_HAND)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "1 passed" in done.stdout


def test_the_finding_of_the_stack_takes_both_of_its_members(make: Callable[[str], Made]) -> None:
    assert tuple(make("stack").finding["members"]) == KNOWN["stack"].members


def test_the_fix_of_d1_holds_on_the_history_of_the_finding(make: Callable[[str], Made]) -> None:
    assert f"{FILE}:AFTER_4667" in make("D1").finding["held_by"]
