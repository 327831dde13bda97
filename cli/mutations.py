"""Mutations: the mistakes that middleware is really written with, made in its syntax tree one at a time.

Each rule takes a node and yields what may stand in its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

# Nothing of LangChain may be imported from here: it may be what is to be mutated.
from ..harness.harmless import harmless

Rule = Callable[[ast.AST], Iterator[ast.AST]]

_MESSAGE = "Message"
_REMOVAL = "RemoveMessage"
_HOOK = re.compile(r"a?(before|after)_(agent|model)")
_METADATA = frozenset({"additional_kwargs", "name", "response_metadata"})
_BOUNDS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
}


def _called(node: ast.AST) -> str:
    """Return the name of what a call calls, without its module; empty for all else."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_message(node: ast.AST) -> bool:
    return _called(node).endswith(_MESSAGE) and _called(node) != _REMOVAL


def _removes(node: ast.AST) -> bool:
    return any(_called(part) == _REMOVAL for part in ast.walk(node))


def _is_number(node: ast.AST | None, value: int) -> bool:
    try:
        return node is not None and ast.literal_eval(ast.unparse(node)) == value
    except (ValueError, SyntaxError, TypeError):
        return False


def _moved(node: ast.expr, by: int) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + by)
    sign = ast.Add() if by > 0 else ast.Sub()
    return ast.BinOp(deepcopy(node), sign, ast.Constant(abs(by)))


def _without(call: ast.Call, names: frozenset[str]) -> ast.Call:
    changed = deepcopy(call)
    changed.keywords = [keyword for keyword in changed.keywords if keyword.arg not in names]
    return changed


def head_instead_of_tail(node: ast.AST) -> Iterator[ast.AST]:
    """Scan from the head where the tail is meant."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) == "reversed":
        yield node.args[0]
    if (
        isinstance(node, ast.Call)
        and _called(node) == "range"
        and any(_is_number(a, -1) for a in node.args[2:])
    ):
        yield ast.Call(ast.Name("reversed", ast.Load()), [deepcopy(node)], [])
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if _is_number(node.slice, -1):
            yield ast.Subscript(deepcopy(node.value), ast.Constant(0), ast.Load())
        elif isinstance(node.slice, ast.Slice) and _is_number(node.slice.step, -1):
            yield deepcopy(node.value)


def append_instead_of_replace(node: ast.AST) -> Iterator[ast.AST]:
    """Write a message without an id: the reducer appends it, wherever it was to go."""
    if isinstance(node, ast.Call) and _is_message(node) and any(k.arg == "id" for k in node.keywords):
        yield _without(node, frozenset({"id"}))


def id_derived_anew(node: ast.AST) -> Iterator[ast.AST]:
    """Write a message under an id that is derived from the right one."""
    if isinstance(node, ast.Call) and _is_message(node):
        for number, keyword in enumerate(node.keywords):
            if keyword.arg == "id":
                changed = deepcopy(node)
                value = ast.FormattedValue(changed.keywords[number].value, -1)
                changed.keywords[number].value = ast.JoinedStr([value, ast.Constant("-anew")])
                yield changed


def removal_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Write what is new, and keep what it was to replace."""
    if isinstance(node, ast.List):
        for number, element in enumerate(node.elts):
            if _removes(element):
                changed = deepcopy(node)
                del changed.elts[number]
                yield changed
    if isinstance(node, ast.ListComp) and _called(node.elt) == _REMOVAL:
        yield ast.List([], ast.Load())


def _cut(node: ast.AST, by: int) -> Iterator[ast.AST]:
    if isinstance(node, ast.Slice):
        for side in ("lower", "upper"):
            bound = getattr(node, side)
            if bound is not None:
                changed = deepcopy(node)
                setattr(changed, side, _moved(bound, by))
                yield changed


def cut_one_later(node: ast.AST) -> Iterator[ast.AST]:
    """Cut one message later."""
    yield from _cut(node, 1)


def cut_one_earlier(node: ast.AST) -> Iterator[ast.AST]:
    """Cut one message earlier."""
    yield from _cut(node, -1)


def bound_moved(node: ast.AST) -> Iterator[ast.AST]:
    """Take a threshold as exclusive that is inclusive, or the other way round."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BOUNDS:
        changed = deepcopy(node)
        changed.ops = [_BOUNDS[type(node.ops[0])]()]
        yield changed


def guard_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Go on where there was nothing to do."""
    if isinstance(node, ast.If) and not node.orelse and len(node.body) == 1:
        only = node.body[0]
        if isinstance(only, ast.Return) and (only.value is None or _is_none(only.value)):
            yield ast.Pass()


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def filter_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Take all messages where some were meant."""
    if isinstance(node, ast.comprehension):
        for number in range(len(node.ifs)):
            changed = deepcopy(node)
            del changed.ifs[number]
            yield changed


def order_swapped(node: ast.AST) -> Iterator[ast.AST]:
    """Write the messages of an update in the opposite order."""
    if isinstance(node, ast.List) and len(node.elts) > 1 and any(map(_is_written, node.elts)):
        yield ast.List(list(reversed(deepcopy(node).elts)), ast.Load())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _joins_lists(node):
        yield ast.BinOp(deepcopy(node.right), ast.Add(), deepcopy(node.left))


def _is_written(node: ast.AST) -> bool:
    return _is_message(node) or isinstance(node, ast.Starred)


def _joins_lists(node: ast.BinOp) -> bool:
    return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)


def metadata_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Write a message without its name or its metadata."""
    if isinstance(node, ast.Call) and _is_message(node):
        for keyword in node.keywords:
            if keyword.arg in _METADATA:
                yield _without(node, frozenset({str(keyword.arg)}))


def copy_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Work on the list of the state itself."""
    if isinstance(node, ast.Call) and _called(node) == "list" and len(node.args) == 1 and not node.keywords:
        yield node.args[0]


def hook_skipped(node: ast.AST) -> Iterator[ast.AST]:
    """Do nothing at all."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _HOOK.fullmatch(node.name):
        changed = deepcopy(node)
        changed.body = [ast.Return(ast.Constant(None))]
        yield changed


#: All rules, by the names that reports give them.
RULES: dict[str, Rule] = {
    rule.__name__.replace("_", "-"): rule
    for rule in (
        head_instead_of_tail,
        append_instead_of_replace,
        id_derived_anew,
        removal_dropped,
        cut_one_later,
        cut_one_earlier,
        bound_moved,
        guard_dropped,
        filter_dropped,
        order_swapped,
        metadata_dropped,
        copy_dropped,
        hook_skipped,
    )
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutation of a file: the rule, which of the rule's places in the file, and what it changes there."""

    rule: str
    number: int
    line: int
    before: str
    after: str

    @property
    def id(self) -> str:
        """What reports call it."""
        return f"{self.rule}@{self.line}#{self.number}"


@dataclass(slots=True)
class _Place:
    """A node of a tree, by where it hangs."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    line: int

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def _places(parent: ast.AST, line: int = 0) -> Iterator[_Place]:
    for name, value in ast.iter_fields(parent):
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(node, ast.AST):
                here = getattr(node, "lineno", line)
                yield _Place(parent, name, index, node, here)
                yield from _places(node, here)


def _variants(tree: ast.Module, only: frozenset[str]) -> Iterator[tuple[Mutant, _Place, ast.AST]]:
    """Yield every mutant of a tree, rule by rule, with its place and what is put there."""
    scopes = [
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef) or (isinstance(n, ast.ClassDef) and n.name in only)
    ]
    for name, rule in RULES.items():
        number = 0
        for scope in scopes:
            for place in _places(scope, scope.lineno):
                for changed in rule(place.node):
                    before, after = _shown(place.node), _shown(changed)
                    if before != after:
                        yield Mutant(name, number, place.line, before, after), place, changed
                        number += 1


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"def {node.name}: {harmless(ast.unparse(node.body[0]), 60)}"
    return harmless(ast.unparse(node), 120)


def mutants(source: str, classes: frozenset[str]) -> list[Mutant]:
    """Return every mutant of the classes with these names, and of the functions beside them, in order.

    Raises `SyntaxError` when `source` is no Python.
    """
    return [mutant for mutant, _, _ in _variants(ast.parse(source), classes)]


def mutated(source: str, classes: frozenset[str], rule: str, number: int) -> ast.Module:
    """Return the tree of `source` with one mutation made. Raises `LookupError` when there is none such."""
    tree = ast.parse(source)
    for mutant, place, changed in _variants(tree, classes):
        if (mutant.rule, mutant.number) == (rule, number):
            place.put(changed)
            return ast.fix_missing_locations(tree)
    raise LookupError(f"no mutation {rule}#{number}")
