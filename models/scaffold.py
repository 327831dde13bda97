"""Scaffolds: the adapter file and the test file that `sixfold init` writes for a target.

Everything here is text made from text: nothing is written, and names from outside are escaped.
"""

from __future__ import annotations

import inspect
import keyword
import re
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable

from ..harness.errors import TargetError
from ..harness.supply import Call, call_of

#: The longest annotation or default that is quoted in a comment.
_LONGEST = 80

#: Where an object lies in memory is another place in every run.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

#: Names that the adapter itself uses.
_TAKEN = frozenset(
    {
        *("Any", "Path", "Environment", "Candidate", "Contract", "CANDIDATE"),
        *("build", "fill_in", "find", "resolve", "as_middleware"),
    }
)


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Two files for a target: the adapter, its test, and the arguments that are still to be filled in."""

    adapter_name: str
    adapter: str
    test_name: str
    test: str
    missing: tuple[str, ...]


def stem_of(name: str) -> str:
    """Return the name of a module for something called `name`: `ReminderMiddleware` gives `reminder`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    stem = re.sub(r"\W+", "_", words).strip("_").lower()
    return stem.removesuffix("_middleware") or "target"


def scaffold(thing: Any, target: str) -> Scaffold:
    """Return the files for `thing`, which `target` names. Raises `TargetError` for an odd constructor."""
    name = target.rpartition(":")[2].rpartition(".")[2]
    if not _importable(name):
        raise TargetError(
            f"{name!r} is no name in Python", place=target, remedy="Give it one, and name that."
        )
    stem = f"sixfold_{stem_of(name)}"
    if isinstance(thing, type):
        call = call_of(thing, target)
        adapter = _constructing(thing, call, target, name, stem)
        missing = tuple(parameter.name for parameter in call.missing)
    else:
        adapter, missing = _resolving(target, name, stem), ()
    return Scaffold(f"{stem}.py", adapter, f"test_{stem}.py", _test(name, stem), missing)


def _importable(path: str) -> bool:
    """Tell whether an import statement can name `path`."""
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in path.split("."))


def _constructing(cls: type[Any], call: Call, target: str, name: str, stem: str) -> str:
    """Return the adapter that constructs a class, argument by argument."""
    imports = {line for argument in call.supplied for line in argument.supply.imports}
    loaded = ""
    path, _, inside = target.rpartition(":")
    called = f"{name}_" if name in _TAKEN else name
    if path.endswith(".py") or inside != name or not _importable(path):
        imports.add("from sixfold.models.resolve import find")
        loaded = f"{called} = find({_located(target)})\n\n\n"
    else:
        imports.add(f"from {path} import {name}" + (f" as {called}" if called != name else ""))
    lines = [*_given(call), *_to_fill_in(call), *_left_alone(call)]
    made = f"{called}(\n" + "".join(f"            {line}\n" for line in lines) + "        )"
    if not lines:
        made = f"{called}()"
    if issubclass(cls, Runnable):
        imports.add("from sixfold.harness.nodes import as_middleware")
        made = f"as_middleware({made})"
    fill_in = _FILL_IN if call.missing else ""
    factory = (
        "def build(environment: Environment) -> list[Any]:\n"
        '    """Build it anew, for every history and after every restart."""\n'
        f"    return [\n        {made}\n    ]\n\n\n"
    )
    imports.add("from sixfold.harness.environment import Environment")
    return _adapter(imports, f"{loaded}{fill_in}{factory}", "build", target, name, stem)


def _given(call: Call) -> list[str]:
    positional = [argument for argument in call.supplied if argument.positional]
    named = [argument for argument in call.supplied if not argument.positional]
    return [
        *(f"{argument.supply.shown}," for argument in positional),
        *(f"{argument.name}={argument.supply.shown}," for argument in named),
    ]


def _to_fill_in(call: Call) -> list[str]:
    lines = []
    for parameter in call.missing:
        wanted = "" if parameter.annotation is parameter.empty else f": {_annotation(parameter)}"
        value = f'fill_in("{parameter.name}"),  # FILL IN: {parameter.name}{wanted}'
        positional = parameter.kind is parameter.POSITIONAL_ONLY
        lines.append(value if positional else f"{parameter.name}={value}")
    return lines


def _left_alone(call: Call) -> list[str]:
    if not call.left:
        return []
    return [
        "# Left to their defaults. Histories have some ten turns: lower what they would never reach. Where",
        "# tools are named, name lookup: it is the only tool that they call.",
        *(f"# {parameter.name}={_in_a_comment(repr(parameter.default))}," for parameter in call.left),
    ]


def _annotation(parameter: inspect.Parameter) -> str:
    return _in_a_comment(inspect.formatannotation(parameter.annotation))


def _in_a_comment(text: str) -> str:
    """Return `text` as one short line: what a package writes must not end the comment."""
    line = "".join(c if c.isprintable() else " " for c in _ADDRESS.sub("", text))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _located(target: str) -> str:
    """Return the expression that names `target` from the adapter's folder, wherever it is run."""
    path, _, name = target.rpartition(":")
    if not path.endswith(".py"):
        return repr(target)
    return f"str(Path(__file__).parent / {path!r}) + {f':{name}'!r}"


def _resolving(target: str, name: str, stem: str) -> str:
    """Return the adapter for all that is no class: Sixfold takes it as it is."""
    imports = {"from sixfold.models.resolve import resolve"}
    return _adapter(imports, "", f"resolve({_located(target)}).build", target, name, stem)


def _adapter(imports: set[str], body: str, build: str, target: str, name: str, stem: str) -> str:
    imports.add("from sixfold.harness.candidate import Candidate, Contract")
    if "Any" in body:
        imports.add("from typing import Any")
    if "Path(" in body + build:
        imports.add("from pathlib import Path")
    standard = sorted(line for line in imports if line.startswith(("from typing", "from pathlib")))
    others = sorted(imports - set(standard))
    head = "\n\n".join("\n".join(group) for group in (standard, others) if group)
    return (
        f'"""{name}, as a candidate for Sixfold: sixfold run {stem}.py:CANDIDATE"""\n\n'
        f"{head}\n\n\n{body}"
        "CANDIDATE = Candidate(\n"
        f"    name={name!r},\n"
        f"    build={build},\n"
        "    # Declare what it does on purpose, by its documentation, and nothing else, such as\n"
        "    # compacts=True (a summary takes the place of messages), drops_history=True,\n"
        "    # edits_requests=True, injects_into_history=True: help(Contract) has them all, and\n"
        "    # `sixfold explain CODE` says what the check of a finding judges.\n"
        "    contract=Contract(),\n"
        f"    source={target!r},\n"
        f"    target={f'{stem}.py:CANDIDATE'!r},\n"
        ")\n"
    )


def _test(name: str, stem: str) -> str:
    cls = f"Test{''.join(part.title() for part in stem.split('_')[1:])}"
    if not cls.isidentifier() or keyword.iskeyword(cls):
        cls = "TestTarget"
    return (
        f'"""{name} under Sixfold: pytest test_{stem}.py"""\n\n'
        "from pathlib import Path\n\n"
        "from hypothesis import settings\n\n"
        "from sixfold.models.resolve import resolve\n"
        "from sixfold.strategies.machine import machine_for\n\n"
        f'CANDIDATE = resolve(f"{{Path(__file__).with_name({f"{stem}.py"!r})}}:CANDIDATE")\n\n'
        f"{cls} = machine_for(CANDIDATE).TestCase\n"
        f"{cls}.settings = settings(max_examples=50, stateful_step_count=10, deadline=None)\n"
    )


_FILL_IN = '''def fill_in(argument: str) -> Any:
    """Stand for an argument that Sixfold cannot supply."""
    raise NotImplementedError(f"fill in {argument} in {__file__}")


'''
