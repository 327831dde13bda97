"""Each mutation makes its mistake, at its place, and nothing else."""

import ast
import subprocess
import sys

import pytest

from sixfold.cli.mutations import RULES, Mutant, mutants, mutated

from ..suites import REMINDER

HOOKS = """
class Mine(AgentMiddleware):
    def before_model(self, state, runtime):
        {}
"""

CASES = [
    ("head-instead-of-tail", "for m in reversed(ms): f(m)", "for m in ms: f(m)"),
    ("head-instead-of-tail", "return ms[-1]", "return ms[0]"),
    ("head-instead-of-tail", "return ms[::-1]", "return ms"),
    (
        "head-instead-of-tail",
        "return range(len(ms) - 1, -1, -1)",
        "return reversed(range(len(ms) - 1, -1, -1))",
    ),
    ("append-instead-of-replace", "return HumanMessage('x', id=i)", "return HumanMessage('x')"),
    (
        "id-derived-anew",
        "return messages.AIMessage('x', id=i)",
        "return messages.AIMessage('x', id=f'{i}-anew')",
    ),
    ("removal-dropped", "return [RemoveMessage(id=A), *kept]", "return [*kept]"),
    ("removal-dropped", "return [RemoveMessage(id=m.id) for m in ms]", "return []"),
    ("removal-dropped", "return [*[RemoveMessage(id=m.id) for m in ms], s]", "return [s]"),
    ("cut-one-later", "return ms[cut:]", "return ms[cut + 1:]"),
    ("cut-one-later", "return ms[:3]", "return ms[:4]"),
    ("cut-one-earlier", "return ms[cut:]", "return ms[cut - 1:]"),
    ("bound-moved", "return len(ms) >= self.limit", "return len(ms) > self.limit"),
    ("guard-dropped", "if not ms: return None", "pass"),
    ("filter-dropped", "return [m for m in ms if ours(m)]", "return [m for m in ms]"),
    (
        "order-swapped",
        "return [HumanMessage('a'), HumanMessage('b')]",
        "return [HumanMessage('b'), HumanMessage('a')]",
    ),
    ("order-swapped", "return [s] + ms", "return ms + [s]"),
    ("metadata-dropped", "return HumanMessage('x', name='summary', id=i)", "return HumanMessage('x', id=i)"),
    ("copy-dropped", "return list(ms)", "return ms"),
    ("hook-skipped", "return f(ms)", "return None"),
]


def found(body: str, rule: str) -> list[Mutant]:
    return [mutant for mutant in mutants(HOOKS.format(body), frozenset({"Mine"})) if mutant.rule == rule]


@pytest.mark.parametrize(("rule", "before", "after"), CASES)
def test_a_rule_makes_its_mistake(rule: str, before: str, after: str) -> None:
    made = {
        ast.unparse(mutated(HOOKS.format(before), frozenset({"Mine"}), rule, mutant.number))
        for mutant in found(before, rule)
    }
    assert ast.unparse(ast.parse(HOOKS.format(after))) in made


def test_every_rule_has_a_case_and_a_meaning() -> None:
    assert {rule for rule, _, _ in CASES} == set(RULES)
    assert all(rule.__doc__ for rule in RULES.values())


@pytest.mark.parametrize(
    "body",
    [
        "return RemoveMessage(id=i)",
        "return ms[0]",
        "return range(3)",
        "return ['a', 'b']",
        "return a == b",
        "return 'text'",
    ],
)
def test_what_is_no_place_for_a_mistake_is_left_alone(body: str) -> None:
    assert {m.rule for m in mutants(HOOKS.format(body), frozenset({"Mine"}))} == {"hook-skipped"}


def test_other_classes_are_left_alone() -> None:
    assert mutants(REMINDER, frozenset()) == []
    names = {mutant.rule for mutant in mutants(REMINDER, frozenset({"Reminder"}))}
    assert {"head-instead-of-tail", "id-derived-anew", "guard-dropped", "order-swapped"} <= names


def test_mutants_are_numbered_and_every_one_differs() -> None:
    every = mutants(REMINDER, frozenset({"Reminder"}))
    assert len({mutant.id for mutant in every}) == len(every)
    texts = [ast.unparse(mutated(REMINDER, frozenset({"Reminder"}), m.rule, m.number)) for m in every]
    assert ast.unparse(ast.parse(REMINDER)) not in texts
    assert len(set(texts)) == len(texts)
    with pytest.raises(LookupError):
        mutated(REMINDER, frozenset({"Reminder"}), "head-instead-of-tail", 99)


def test_langchain_itself_can_be_mutated() -> None:
    # What is imported before the mutation is installed stays as it is.
    script = "import sys, sixfold.cli.mutant; print(sorted({'langchain', 'langgraph'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
