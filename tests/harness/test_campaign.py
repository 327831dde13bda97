"""A campaign: nothing masks anything, and doubt in the harness itself ends the run."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from sixfold.cli.run import exit_code
from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import CONTROL, Candidate, Contract
from sixfold.harness.errors import ExitCode, HarnessBrokenError, TargetError
from sixfold.harness.events import Disagreed, Event, HarnessBroke, Options, RunResult
from sixfold.harness.invariants import registry
from sixfold.harness.invariants.checks import Check, Violation
from sixfold.harness.lanes.reducer import ReducerLane
from sixfold.harness.verdicts import Verdict

from ..helpers import explore
from ..planted import PLANTED

OPTIONS = Options(seed=3, max_histories=60)


def run(*candidates: Candidate, listener: Callable[[Event], None] = lambda event: None) -> RunResult:
    return Campaign(candidates, OPTIONS, [listener]).run(explore)


def test_three_flaws_give_three_findings_in_one_run() -> None:
    members = ["1.state-in-history", "2.duplicate", "5.prefix-broken"]
    stack = Candidate(
        name="three-flaws",
        build=lambda environment: [m for c in members for m in PLANTED[c].flawed.build(environment)],
    )
    result = run(stack)
    assert {finding.signature.code for finding in result.findings} >= set(members)
    assert len({finding.id for finding in result.findings}) == len(result.findings)
    for finding in result.findings:
        assert finding.minimal
        assert finding.confirmed
        assert "control" in finding.held_by


def test_findings_of_several_candidates_do_not_mask_each_other() -> None:
    alone = run(PLANTED["2.duplicate"].flawed).findings
    together = run(PLANTED["2.duplicate"].flawed, PLANTED["1.state-in-history"].flawed).findings
    assert {f.signature for f in alone} < {f.signature for f in together}


_calls = itertools.count()


class Erratic(AgentMiddleware[Any, Any, Any]):
    """Its prompt depends on how often the process has called it."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(system_message=SystemMessage(f"call {next(_calls)}")))


def test_candidate_that_is_not_deterministic_is_inconclusive() -> None:
    result = run(Candidate(name="erratic", build=lambda environment: [Erratic()]))
    [erratic] = [candidate for candidate in result.candidates if candidate.name == "erratic"]
    assert not erratic.deterministic
    assert set(erratic.verdicts.values()) == {Verdict.INCONCLUSIVE}
    assert result.findings
    assert all(finding.confirmed is None for finding in result.findings)
    assert exit_code(result) is ExitCode.INCONCLUSIVE


def test_finding_beside_an_erratic_candidate_still_counts() -> None:
    erratic = Candidate(name="erratic", build=lambda environment: [Erratic()])
    assert exit_code(run(erratic, PLANTED["2.duplicate"].flawed)) is ExitCode.FINDINGS


class Idle(AgentMiddleware[Any, Any, Any]):
    """Has a hook and never uses it."""

    def before_model(self, state: Any, runtime: Any) -> None:
        return None


def test_candidate_that_never_did_anything_is_inconclusive() -> None:
    result = run(Candidate(name="idle", build=lambda environment: [Idle()]))
    [idle] = [candidate for candidate in result.candidates if candidate.name == "idle"]
    assert set(idle.verdicts.values()) == {Verdict.INCONCLUSIVE}
    assert idle.unreached == ("changed something",)


class EmptyHanded(AgentMiddleware[Any, Any, Any]):
    """Returns updates in which nothing is new."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        return {"messages": []}


def test_update_without_effect_is_not_taken_for_a_change() -> None:
    result = run(Candidate(name="empty-handed", build=lambda environment: [EmptyHanded()]))
    assert exit_code(result) is ExitCode.INCONCLUSIVE


def test_goal_of_the_contract_must_be_reached() -> None:
    correct = PLANTED["2.duplicate"].correct
    compacts = Candidate(name="compacts", build=correct.build, contract=Contract(compacts=True))
    [result] = [c for c in run(compacts).candidates if c.name == "compacts"]
    assert result.unreached == ("compaction",)
    assert {n for n, v in result.verdicts.items() if v is Verdict.INCONCLUSIVE} == {4, 5}


def test_clean_candidate_holds() -> None:
    assert exit_code(run(PLANTED["2.duplicate"].correct)) is ExitCode.NOTHING_NEW


def test_control_that_violates_breaks_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Check("2.wrong", "t", "w", lambda reading, since: iter([Violation("2.wrong", 0, "user", "d")]))
    monkeypatch.setattr(registry, "worth_asking", lambda _evidence: (wrong,))
    heard: list[Event] = []
    with pytest.raises(HarnessBrokenError, match=r"control violates 2\.wrong"):
        run(listener=heard.append)
    [broke] = [event for event in heard if isinstance(event, HarnessBroke)]
    assert broke.candidate == CONTROL.name
    assert broke.scenario.steps


def _break(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Any]], list[Any]]) -> None:
    """Make the reducer lane fold other lists of messages than were written."""
    commit = ReducerLane._commit

    def broken(self: ReducerLane, writes: list[tuple[str, Any]], node: str | None = None) -> Any:
        changed = [(n, change(v) if n == "messages" and isinstance(v, list) else v) for n, v in writes]
        return commit(self, changed, node)

    monkeypatch.setattr(ReducerLane, "_commit", broken)


def _stamped(messages: list[Any]) -> list[Any]:
    return [
        m.model_copy(update={"additional_kwargs": {"lane": 1}}) if isinstance(m, AIMessage) else m
        for m in messages
    ]


def test_lane_that_changes_what_everyone_writes_breaks_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, _stamped)
    heard: list[Event] = []
    with pytest.raises(HarnessBrokenError, match=r"6\.lanes.* control"):
        run(PLANTED["3.attach-not-latest"].correct, PLANTED["1.state-in-history"].correct,
            listener=heard.append)  # fmt: skip
    [broke] = [event for event in heard if isinstance(event, HarnessBroke)]
    assert broke.candidate == CONTROL.name


def test_lane_that_drops_what_one_candidate_writes_leaves_the_others_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _break(monkeypatch, lambda messages: [] if _is_note(messages) else messages)
    heard: list[Event] = []
    noting = PLANTED["3.attach-not-latest"].correct
    result = run(noting, PLANTED["2.duplicate"].flawed, listener=heard.append)
    by_name = {candidate.name: candidate for candidate in result.candidates}
    doubt = by_name[noting.name].disagreement
    assert doubt is not None
    assert "6.lanes" in doubt.reason
    assert doubt.scenario.steps
    assert set(by_name[noting.name].verdicts.values()) == {Verdict.INCONCLUSIVE}
    assert [event.disagreement for event in heard if isinstance(event, Disagreed)] == [doubt]
    assert by_name["control"].disagreement is None
    assert any(finding.confirmed for finding in result.findings)
    assert exit_code(result) is ExitCode.FINDINGS
    assert exit_code(run(noting)) is ExitCode.INCONCLUSIVE


def _is_note(messages: list[Any]) -> bool:
    return any(isinstance(m, HumanMessage) and m.name == "note" for m in messages)


def test_only_chosen_invariants_are_judged() -> None:
    flawed = PLANTED["2.reorder"].flawed
    result = Campaign([flawed], Options(seed=1, max_histories=40, invariants=(5,))).run(explore)
    assert {finding.signature.code for finding in result.findings} == {"5.prefix-broken"}
    assert all(set(candidate.verdicts) == {5} for candidate in result.candidates)


def test_budget_ends_the_run_early() -> None:
    options = Options(max_histories=100_000, budget=0.01, batch=5)
    result = Campaign([], options).run(explore)
    assert not result.complete
    assert result.histories < 100


@pytest.mark.parametrize("name", ["same", "control"])
def test_two_candidates_of_one_name_are_refused(name: str) -> None:
    one, other = (replace(PLANTED[code].correct, name=name) for code in ("2.duplicate", "2.reorder"))
    with pytest.raises(TargetError, match=f"two candidates are called '{name}'"):
        Campaign([one, other], OPTIONS)
