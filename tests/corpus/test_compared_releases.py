"""`sixfold compare` on published releases of LangChain: what changed between two is found by itself.

What is expected was read in the sources of the releases. 1.1.2 walks forward past tool results where 1.1.1
looked five messages around for their call: results of many parallel calls are kept with it, and one that
comes late is parted from it. 1.2.3 walks back to the nearest call instead, so turns are cut in two and a lone
summary is summarised again. 1.3.15 tries a failed summary again, and takes no error for one.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from .environments import plain_python_of

pytestmark = pytest.mark.slow

SIXFOLD = "from sixfold.cli.app import main; main()"
#: Releases before langgraph 1.1 take any later prebuilt package, and break with it.
OLD_LANGGRAPH = ("langgraph-prebuilt==1.0.8",)


@dataclass(frozen=True)
class Pair:
    """Two releases, and the checks that must be said to be fixed and to have regressed."""

    base: str
    head: str
    fixed: frozenset[str] = frozenset()
    regressed: frozenset[str] = frozenset()
    beside: tuple[str, ...] = ()


PAIRS = (
    Pair(
        "1.1.1",
        "1.1.2",
        frozenset({"4.orphan-result", "4.cut-inside-turn", "5.regenerated"}),
        frozenset({"4.orphan-result"}),
        OLD_LANGGRAPH,
    ),
    Pair(
        "1.2.2",
        "1.2.3",
        regressed=frozenset({"4.cut-inside-turn", "4.orphan-result", "5.regenerated"}),
        beside=OLD_LANGGRAPH,
    ),
    Pair("1.3.14", "1.3.15", frozenset({"5.failed-summary-committed"})),
)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.base}-{pair.head}")
def test_what_changed_between_releases_is_found(tmp_path: Path, pair: Pair) -> None:
    sides = []
    for version in (pair.base, pair.head):
        python = plain_python_of("langchain", (f"langchain=={version}", *pair.beside))
        sides.append(f"langchain.summarization,label={version},python={python}")
    command = [sys.executable, "-c", SIXFOLD, "compare", *sides, "--max-histories", "300"]
    done = subprocess.run(
        [*command, "--budget", "5m", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == (1 if pair.regressed else done.returncode), done.stderr
    [comparison] = json.loads(done.stdout)["comparisons"]
    found = comparison["differences"]
    for kind, wanted in (("fixed", pair.fixed), ("regressed", pair.regressed)):
        told = {each["code"]: each for each in found if each["kind"] == kind}
        assert wanted <= set(told), done.stdout
        for code in wanted:
            assert told[code]["confirmed"]
            assert told[code]["first_seen"] <= 200
    assert all(each["confirmed"] is not False for each in found)
