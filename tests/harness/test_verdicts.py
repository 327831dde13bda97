"""The algebra of verdicts: shards may be merged in any order and grouping."""

from hypothesis import given
from hypothesis import strategies as st

from sixfold.harness.verdicts import Verdict, merge

verdicts = st.sampled_from(Verdict)


@given(verdicts, verdicts, verdicts)
def test_merge_is_associative(a: Verdict, b: Verdict, c: Verdict) -> None:
    assert merge([merge([a, b]), c]) == merge([a, merge([b, c])]) == merge([a, b, c])


@given(verdicts, verdicts)
def test_merge_is_commutative(a: Verdict, b: Verdict) -> None:
    assert merge([a, b]) == merge([b, a])


@given(verdicts)
def test_merge_is_idempotent(a: Verdict) -> None:
    assert merge([a, a]) == merge([a]) == a


@given(verdicts)
def test_holds_is_neutral(a: Verdict) -> None:
    assert merge([a, Verdict.HOLDS]) == a


@given(st.lists(verdicts, max_size=8), st.lists(verdicts, max_size=8))
def test_violation_is_never_lost(some: list[Verdict], others: list[Verdict]) -> None:
    assert merge([*some, Verdict.VIOLATED, *others]) == Verdict.VIOLATED


def test_nothing_seen_proves_nothing() -> None:
    assert merge([]) == Verdict.INCONCLUSIVE
