"""The article's claims on the reviewed systems, each on generated histories of its system.

A claim that measurement contradicts is told in docs/systems.md, with the scenario that shows it; here it may
be contradicted by nothing else.
"""

from functools import cache

import pytest

from sixfold.harness.differential import try_out
from sixfold.harness.on_wire import WIRE_ONLY
from sixfold.harness.rules import RULES
from sixfold.models.catalogue import CATALOGUE

from ..claims import CLAIMS, Claim
from ..helpers import agent_of, explored, serialisers_for
from ..systems.measured import PRESENT, SYSTEMS
from ..systems.page import FILE

WRITTEN = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
KNOWN = [claim for claim in CLAIMS if claim.system in PRESENT]

# Histories that each system plays every day, and in the slow run; every third with its variants.
DAILY, MANY = 50, 300
COMPARE_EVERY = 3


@cache
def seen_on(system: str, histories: int = DAILY) -> frozenset[str]:
    """Return the codes that generated histories show on the system, whether violated or waived."""
    candidate = CATALOGUE[system]()
    agent = agent_of(candidate)
    seen: set[str] = set()
    with serialisers_for(WIRE_ONLY):
        for number, scenario in enumerate(explored(histories, candidate=candidate)):
            trial = try_out(agent, scenario, comparing=number % COMPARE_EVERY == 0)
            seen.update(item.violation.code for item in trial.judged)
    return frozenset(seen)


def told_against(claim: Claim) -> set[str]:
    """Return the codes with which the page says that the claim is contradicted."""
    part = WRITTEN.partition("### Where measurement contradicts the article\n")[2].partition("\n## ")[0]
    begin = f"- The article says of `{claim.system}`: {claim.claim}. "
    lines = [line.removeprefix(begin) for line in part.splitlines() if line.startswith(begin)]
    return {code for code in claim.codes if any(f"`{code}`: " in line for line in lines)}


@pytest.mark.parametrize("claim", KNOWN, ids=lambda claim: f"{claim.system}: {claim.claim}")
def test_claim_is_contradicted_by_nothing_that_the_page_does_not_tell(claim: Claim) -> None:
    assert set(claim.codes) & seen_on(claim.system) <= told_against(claim)


@pytest.mark.slow
@pytest.mark.parametrize("claim", KNOWN, ids=lambda claim: f"{claim.system}: {claim.claim}")
def test_claim_is_contradicted_by_nothing_else_in_many_histories(claim: Claim) -> None:
    assert set(claim.codes) & seen_on(claim.system, MANY) <= told_against(claim)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.system}: {claim.claim}")
def test_claim_names_a_reviewed_system_and_checks_that_exist(claim: Claim) -> None:
    assert claim.system in SYSTEMS
    assert claim.codes
    assert set(claim.codes) <= {rule.code for rule in RULES}


def test_a_flawed_system_contradicts_its_claims() -> None:
    """The same claims, held against the systems with their flaws: they can be contradicted."""
    anchored = next(claim for claim in CLAIMS if claim.system == "deerflow")
    assert set(anchored.codes) & seen_on("deerflow-4667")
    untouched = next(claim for claim in CLAIMS if claim.system == "letta")
    assert set(untouched.codes) & seen_on("letta-memory-in-history")
