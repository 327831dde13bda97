"""What a comparison says where sides differ in some histories only, and where a turn ends early."""

import json
from dataclasses import replace

from sixfold.harness.history import History, Requested, TurnEnded
from sixfold.harness.scenario import Scenario
from sixfold.harness.sides.result import ComparisonResult, Difference, DifferenceKind, SideResult
from sixfold.harness.steps import UserTurn
from sixfold.reports import comparison_json
from sixfold.reports.comparison_github import commands
from sixfold.reports.comparison_markdown import comment
from sixfold.reports.comparison_words import verdict
from sixfold.reports.side_by_side import parting, shown_later


def history(*records: Requested | TurnEnded) -> History:
    return History("mine", "reducer", list(records))


def call(turn: int, number: int, words: str) -> Requested:
    return Requested(turn, number, words, (), "")


def difference(kind: DifferenceKind, code: str, before: History, after: History, record: int) -> Difference:
    scenario = Scenario((UserTurn(),))
    return Difference(
        kind=kind, head="new", code=code, scenario=scenario, before=before, after=after, record=record
    )


#: The sides part in the second call of turn 1; a turn that goes on counts its calls anew.
OLD = history(call(1, 1, "same"), call(1, 2, "all"), call(1, 1, "again"), call(2, 1, "old end"))
NEW = history(call(1, 1, "same"), call(1, 2, "few"), call(1, 1, "again"), call(2, 1, "new end"))


def test_the_call_at_which_the_check_fails_is_shown_beside_that_where_sides_part() -> None:
    parted = parting(OLD, NEW)
    assert parted is not None
    assert (parted.turn, parted.call) == (1, 2)
    assert (parted.before, parted.after) == (("[system prompt] all",), ("[system prompt] few",))
    late = shown_later(difference("regressed", "6.recall", OLD, NEW, 3))
    assert late is not None
    assert (late.before, late.after) == (("[system prompt] old end",), ("[system prompt] new end",))
    assert shown_later(difference("regressed", "6.recall", OLD, NEW, 1)) is None
    assert shown_later(difference("changed", "", OLD, NEW, -1)) is None


def test_a_turn_that_failed_is_why_a_call_is_not_there() -> None:
    failed = history(call(1, 1, "same"), TurnEnded(1, "aborted", "ValueError: no summary"))
    parted = parting(OLD, failed)
    assert parted is not None
    assert parted.after == ("(there is no such call: the turn ended with ValueError: no summary)",)


def test_what_has_gone_both_ways_is_in_part() -> None:
    moved = difference("fixed", "3.stale-question", OLD, NEW, 3)
    found = (
        difference("regressed", "6.recall", OLD, NEW, 3),
        moved,
        replace(moved, kind="still violated", count=669),
        difference("fixed", "4.orphan-result", OLD, NEW, 1),
    )
    sides = (SideResult("old", "mine"), SideResult("new", "mine"))
    result = ComparisonResult(0, 1000, True, sides, found)
    assert verdict(result) == "1 regressed, 1 fixed, 1 fixed in part, 1 still violated"
    assert [d.code for d in result.of_kind("fixed")] == ["4.orphan-result", "3.stale-question"]
    told = json.loads(comparison_json.render([result]))["comparisons"][0]["differences"]
    assert [each["in_part"] for each in told] == [False, True, False, False]
    assert told[0]["fails_at"]["turn"] == 2
    assert "fixed in part 3.stale-question" in commands([result])
    text = comment([result])
    assert "<summary>fixed in part: 3.stale-question" in text
    assert "The check fails later, where the model sees in call 1 of turn 2:" in text
    assert "elsewhere still violated in 669 histories" in text
