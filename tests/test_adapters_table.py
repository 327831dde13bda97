"""docs/adapters.md is what runs on the installed packages found, line by line.

After a change on purpose, or a new version of a package, write the file anew, read the difference and look
at each new finding by hand (tests/reviewed.py) before you keep it:

    SIXFOLD_UPDATE_DOCS=1 .venv/bin/pytest -n0 tests/test_adapters_table.py && git diff docs/adapters.md
"""

import functools
import os
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import Contract
from sixfold.harness.events import CandidateResult, Options, RunResult
from sixfold.harness.findings import Finding
from sixfold.harness.invariants.registry import INVARIANTS
from sixfold.harness.on_wire import WIRE_ONLY
from sixfold.models.catalogue import CATALOGUE, MISSING
from sixfold.models.installed import LANGCHAIN, REAL, Adapter

from .helpers import explore, serialisers_for
from .reviewed import REVIEWED
from .short import short

FILE = Path(__file__).resolve().parents[1] / "docs" / "adapters.md"
UPDATING = bool(os.environ.get("SIXFOLD_UPDATE_DOCS"))
HISTORIES = 300
#: Whole agents are played in their own graph, which takes many times as long.
FEWER = {"deepagents.create_deep_agent": 60}

#: Adapters that stand in the catalogue under names of their own, as they need no other package.
OTHERS = (
    Adapter("langchain.summarization", "langchain_summarization", "langchain", "SummarizationMiddleware"),
    Adapter(
        "langchain.context_editing", "langchain_context_editing", "langchain", "ContextEditingMiddleware"
    ),
)
ADAPTERS = (*OTHERS, *LANGCHAIN, *REAL)

#: What one quick run of the suite plays again; all others are played by the slow test.
QUICK = ("langchain.tool_call_limit", "langchain.human_rejects")

HEAD = f"""# Adapters for installed packages

Middleware of published packages that a run can take by name: `sixfold run deepagents.summarization`. Those of
LangChain are always there; `pip install 'sixfold[real]'` brings deepagents and langmem. The table is written
by a test run of {HISTORIES} histories for each adapter, 60 for a whole agent (seed 0, default settings, the
providers' serialisers included), with the thresholds of the adapter's file in `models/`. A contract declares
what the middleware does on purpose by its own documentation, and nothing else.
"""

FOOT = """
## What has no adapter

- `langgraph-supervisor`: its `create_supervisor` builds a graph of its own around `create_react_agent`, which
  takes no middleware, and its work is done by tools that transfer to other agents, which the scripted model
  never calls. Its only part that works on the history is a `pre_model_hook`, and any of these is a target.
- `hermes-agent` pins an old `openai`: beside the current LangChain only its version 0.16 can be installed,
  and that with an old `langchain-openai`. So the extra `real` leaves it out, and `make witness` holds its
  re-creation against the real one in an environment of its own: [hermes.md](hermes.md).
"""


def contract_of(contract: Contract) -> str:
    declared = [f.name for f in fields(Contract) if getattr(contract, f.name) is True]
    return ", ".join(f"`{name}`" for name in declared) or "nothing"


@functools.cache
def played(adapter: Adapter) -> tuple[RunResult, CandidateResult]:
    with serialisers_for(WIRE_ONLY):
        result = Campaign([adapter()], Options(max_histories=FEWER.get(adapter.name, HISTORIES))).run(explore)
    return result, next(c for c in result.candidates if c.name == adapter.name)


def described(adapter: Adapter, verdicts: str) -> str:
    what = f"{adapter.package} {version(adapter.package)} | `{adapter.symbol}`"
    return f"| `{adapter.name}` | {what} | {contract_of(adapter().contract)} | {verdicts} |"


def row(adapter: Adapter) -> str:
    _, candidate = played(adapter)
    return described(adapter, " | ".join(candidate.verdicts[number].value for number in INVARIANTS))


def key_of(finding: Finding) -> tuple[str, str, str]:
    signature = finding.signature
    faults = "+".join(signature.faults)
    return signature.candidate, signature.code, faults


def findings(adapter: Adapter) -> list[str]:
    result, _ = played(adapter)
    lines = {}
    for finding in result.findings:
        if finding.confirmed is not None:
            key = key_of(finding)
            said = REVIEWED.get(key, "NOT LOOKED AT")
            lines.setdefault(key, f"- `{key[1]}`: {short(finding.scenario)}. {said}")
    return [lines[key] for key in sorted(lines)]


def table() -> str:
    head = "| adapter | package | class | contract | 1 | 2 | 3 | 4 | 5 | 6 |"
    parts = [HEAD, f"\n{head}\n{'|---' * 10}|\n", *(f"{row(adapter)}\n" for adapter in ADAPTERS)]
    parts.append("\n## Findings\n")
    for adapter in ADAPTERS:
        lines = findings(adapter)
        if lines:
            parts += [f"\n### {adapter.name}\n\n", *(f"{line}\n" for line in lines)]
    return "".join([*parts, FOOT])


def known(adapter: Adapter, text: str) -> str:
    """Return the row of the adapter; skip when its package, or the measured version of it, is missing."""
    if not adapter.installed:
        pytest.skip(f"{adapter.package} is not installed; the extra `{adapter.extra}` brings it")
    [line] = [line for line in text.splitlines() if line.startswith(f"| `{adapter.name}` |")]
    measured = line.split(" | ")[1]
    if measured != f"{adapter.package} {version(adapter.package)}":
        pytest.skip(f"{measured} was measured, and {version(adapter.package)} is installed")
    return line


@pytest.fixture(scope="module")
def written() -> str:
    if UPDATING:
        FILE.write_text(table(), encoding="utf-8")
    return FILE.read_text(encoding="utf-8")


def test_table_has_every_adapter_once(written: str) -> None:
    assert written.startswith(HEAD)
    assert written.endswith(FOOT)
    rows = [line.split("`")[1] for line in written.splitlines() if line.startswith("| `")]
    assert rows == [adapter.name for adapter in ADAPTERS]
    packages = ("langchain.", "langchain_core.", "deepagents.", "langmem.")
    installed = [name for name in (*CATALOGUE, *MISSING) if name.startswith(packages)]
    assert sorted(rows) == sorted(installed)


def test_every_finding_was_looked_at(written: str) -> None:
    assert "NOT LOOKED AT" not in written
    said = written.partition("## Findings")[2]
    for (adapter, code, _), words in REVIEWED.items():
        assert f"### {adapter}\n" in said
        assert any(line.startswith(f"- `{code}`: ") and words in line for line in said.splitlines())


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_contract_in_the_table_is_the_declared_one(written: str, adapter: Adapter) -> None:
    line = known(adapter, written)
    assert line.split(" | ")[3] == contract_of(adapter().contract)


@pytest.mark.parametrize(
    "adapter", [a for a in ADAPTERS if a.name in QUICK], ids=lambda adapter: adapter.name
)
def test_row_is_current(written: str, adapter: Adapter) -> None:
    assert known(adapter, written) == row(adapter)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_row_and_findings_are_current(written: str, adapter: Adapter) -> None:
    assert known(adapter, written) == row(adapter)
    for line in findings(adapter):
        assert line in written
