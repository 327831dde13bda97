"""Putting a stand-alone file together: docstring, imports, the parts that it uses, and the test."""

from __future__ import annotations

import re
import textwrap

from ..harness.agent import SYSTEM_PROMPT
from ..harness.findings import Finding
from ..harness.rules import rule_by_code
from ..harness.script import PROVIDER
from . import standalone_parts as parts
from .standalone_claim import Claim
from .standalone_faults import plan_name
from .standalone_story import Story
from .standalone_target import TargetCode
from .standalone_text import comment, indented, literal, prose
from .stored_run import StoredRun

#: Names that files may use, and where each comes from.
_IMPORTS: tuple[tuple[str, str], ...] = (
    ("langchain.agents", "create_agent"),
    ("langchain.agents.middleware", "AgentMiddleware"),
    ("langchain_core.language_models.chat_models", "BaseChatModel"),
    ("langchain_core.messages", "AIMessage"),
    ("langchain_core.messages", "AIMessageChunk"),
    ("langchain_core.messages", "HumanMessage"),
    ("langchain_core.messages", "HumanMessageChunk"),
    ("langchain_core.messages", "RemoveMessage"),
    ("langchain_core.messages", "SystemMessage"),
    ("langchain_core.messages", "ToolMessage"),
    ("langchain_core.messages", "convert_to_messages"),
    ("langchain_core.outputs", "ChatGeneration"),
    ("langchain_core.outputs", "ChatResult"),
    ("langchain_core.tools", "InjectedToolCallId"),
    ("langchain_core.tools", "tool"),
    ("langgraph.checkpoint.memory", "InMemorySaver"),
    ("langgraph.graph.message", "REMOVE_ALL_MESSAGES"),
    ("langgraph.types", "Overwrite"),
)
_STANDARD: tuple[tuple[str, str], ...] = (
    ("asyncio.", "import asyncio"),
    ("importlib.util.", "import importlib.util"),
    ("re.", "import re"),
    ("sys.", "import sys"),
    ("suppress(", "from contextlib import suppress"),
    ("Path(", "from pathlib import Path"),
    ("Annotated[", "from typing import Annotated"),
)

#: Characters of a line of a docstring.
_PROSE = 100

#: Tokens of the context window that Sixfold's fake models announce.
_PROFILE = 'profile={"max_input_tokens": 120}'


def compose(
    finding: Finding, run: StoredRun, story: Story, asserted: Claim, target: TargetCode, why: str
) -> str:
    """Return the text of the file. Equal findings give equal bytes."""
    used = set(asserted.parts) | set(target.parts)
    if story.faults.summariser:
        used.add("summary_model")
    if used & {"summary_model", "count_tokens", "call_problems", "on_wire"}:
        used.add("text_of")
    top = "\n\n".join(part.strip("\n") + "\n" for part in _parts(story, used))
    test = "\n".join(_test(finding, story, asserted, target, used)) + "\n"
    constants = "\n".join(_constants(story, target))
    if "load" in used:
        constants = f"{parts.LOAD_FILE.strip()}\n\n\n{constants}"
    body = "\n\n\n".join(part.strip("\n") for part in (constants, top, test) if part.strip())
    return (
        "\n".join([_docstring(finding, run, target, why), "", *_imports(body, target), "", "", body]) + "\n"
    )


def _docstring(finding: Finding, run: StoredRun, target: TargetCode, why: str) -> str:
    signature = finding.signature
    rule = rule_by_code(signature.code)
    versions = " and ".join(
        f"{n} {prose(run.versions[n], 40)}" for n in ("langchain", "langgraph") if n in run.versions
    )
    asked = prose(run.targets.get(signature.candidate, signature.candidate), 200)
    lines = [f'"""{prose(rule.title if rule else signature.code).capitalize()}.', ""]
    lines += [*textwrap.wrap(why, _PROSE), ""]
    lines += [f"Target: {asked}", f"Seen with: {versions}", ""]
    lines += ["This test fails while the bug is there, and passes once it is fixed:", ""]
    lines += [f"    pytest test_repro_{finding.id}.py", ""]
    if target.needs_sixfold:
        lines += [
            "The target exists in Sixfold only (a re-created system, or a factory that takes Sixfold's",
            "environment), so this file needs Sixfold, too.",
        ]
    else:
        lines += ["It needs pytest, LangChain, LangGraph and the target, and no network."]
    return "\n".join([*lines, '"""'])


def _imports(body: str, target: TargetCode) -> list[str]:
    code = "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("#"))
    standard = [line for mark, line in _STANDARD if re.search(rf"(?<![\w.]){re.escape(mark)}", code)]
    own = [line for line in target.imports if line.startswith("import ")]
    standard = sorted({*standard, *own}, key=lambda line: (line.startswith("from"), line))
    modules: dict[str, list[str]] = {}
    for module, name in _IMPORTS:
        if re.search(rf"\b{name}\b", code):
            modules.setdefault(module, []).append(name)
    for line in target.imports:
        if line.startswith("from "):
            module, _, name = line[5:].partition(" import ")
            modules.setdefault(module, []).append(name)
    third = [f"from {m} import {', '.join(sorted(set(names)))}" for m, names in sorted(modules.items())]
    return [*standard, *[""] * bool(standard), *third]


def _constants(story: Story, target: TargetCode) -> list[str]:
    lines = list(target.top)
    if story.results:
        lines += [""] * bool(lines) + ["#: What the tool answers.", "RESULTS = {"]
        lines += [f"    {literal(token)}: {literal(text)}," for token, text in story.results.items()]
        lines += ["}"]
    if story.faults.tool:
        lines += ["", "#: What the tool raises at its next calls.", "lookup_failures = []"]
    if story.faults.token_counter:
        lines += ["", "#: What the token counter raises at its next calls.", "count_failures = []"]
    return lines


def _parts(story: Story, used: set[str]) -> list[str]:
    provider = {"provider": parts.PROVIDER % literal(PROVIDER) if story.usage else ""}
    more = ', additional_kwargs={"tool": "lookup", "cost": 1}' if story.metadata else ""
    made = [parts.SCRIPTED_MODEL % provider]
    if "summary_model" in used:
        made.append(parts.SUMMARY_MODEL % provider)
    fails = parts.TOOL_FAILS if story.faults.tool else ""
    made.append(parts.LOOKUP % {"more": more, "fails": fails} if story.results else parts.IDLE_LOOKUP)
    if story.faults.source or (story.faults.token_counter and "count_tokens" not in used):
        made.append(parts.FAIL_FROM)
    if story.stack == "twice":
        made.append(parts.AGAIN)
    counting = parts.COUNT_FAILS if story.faults.token_counter else ""
    for name, part in (
        ("text_of", parts.TEXT_OF),
        ("count_tokens", parts.COUNT_TOKENS % {"fails": counting}),
        ("call_problems", parts.CALL_PROBLEMS),
        ("on_wire", parts.ON_WIRE),
    ):
        if name in used:
            made.append(part)
    return made + _stand_ins(story)


def _stand_ins(story: Story) -> list[str]:
    """Return the stand-ins of hooks that faults strike, in the forms that the runs need."""
    made: list[str] = []
    for wraps in (False, True):
        acts = sorted(
            {
                act
                for (_, hook), acts in story.faults.hooks.items()
                for act in acts
                if (hook == "wrap_model_call") == wraps
            }
        )
        if not acts:
            continue
        for asynchronous in (False, True):
            if asynchronous and not story.runs_async:
                continue
            made.append(_stand_in(acts, wraps=wraps, asynchronous=asynchronous))
    if not made:
        return []
    return [*made, parts.WATCH]


def _stand_in(acts: list[str], *, wraps: bool, asynchronous: bool) -> str:
    given = "request, handler" if wraps else "state, runtime"
    wait = "await " if asynchronous else ""
    values = {"passed": f"{wait}handler(request)" if wraps else "None", "call": f"{wait}hook({given})"}
    lines = "".join(parts.ACTS[act].lstrip("\n") % values for act in acts)
    return parts.STAND_IN % {
        "name": _stand_in_name(wraps=wraps, asynchronous=asynchronous),
        "how": " in its asynchronous form" if asynchronous else "",
        "a": "async " if asynchronous else "",
        "wrap": f"planned({given})",
        "acts": f"{lines}        return {values['call']}\n",
    }


def _stand_in_name(*, wraps: bool, asynchronous: bool) -> str:
    return f"{'a' * asynchronous}stand_in{'_of_wrap' * wraps}"


def _test(finding: Finding, story: Story, asserted: Claim, target: TargetCode, used: set[str]) -> list[str]:
    name = re.sub(r"\W", "_", finding.signature.code.partition(".")[2])
    lines = ["model = ScriptedModel()"]
    if "summary_model" in used:
        lines.append(f"summary_model = SummaryModel({_PROFILE})")
    if target.needs_sixfold:
        lines.append("environment = Environment(model=summary_model)")
    if story.faults.source:
        lines += ["source_failures = []", "environment.state.on_read = fail_from(source_failures)"]
    if story.faults.token_counter and target.needs_sixfold:
        lines.append("environment.on_count = fail_from(count_failures)")
    lines += [f"{plan_name(member, hook)} = []" for member, hook in sorted(story.faults.hooks)]
    lines += ["checkpointer = InMemorySaver()"] if story.restarts else []
    making = _making(finding, story, target)
    if story.restarts:
        lines += ["", "def start():", '    """Return the agent as a new process makes it."""']
        started = "\n".join([*making, f"return {_agent('checkpointer')}"]).split("\n")
        lines += [*indented(started), "", "agent = start()"]
    else:
        lines += [*making, f"agent = {_agent('InMemorySaver()')}"]
    config = '"configurable": {"thread_id": "1"}, "recursion_limit": 200'
    # Tools that are called together fail in the order of their calls.
    config += ', "max_concurrency": 1' * story.faults.tool
    lines += [f"thread = {{{config}}}", ""]
    lines += [*story.before, *asserted.before, *story.last, "", *asserted.lines]
    flat = [part for line in lines for part in line.split("\n")]
    return [f"def test_{name}():", *indented(flat)]


def _agent(checkpointer: str) -> str:
    prompt = literal(SYSTEM_PROMPT)
    return (
        f"create_agent(\n    model,\n    [lookup],\n    system_prompt={prompt},\n    middleware=middleware,\n"
        f"    checkpointer={checkpointer},\n)"
    )


def _making(finding: Finding, story: Story, target: TargetCode) -> list[str]:
    lines = list(target.make)
    if story.stack == "twice":
        lines += ["first = middleware", *target.make, "middleware = first + [again(m) for m in middleware]"]
    if story.stack == "reversed":
        lines.append("middleware.reverse()")
    for member, hook in sorted(story.faults.hooks):
        wraps = hook == "wrap_model_call"
        for asynchronous in (False, True) if story.runs_async else (False,):
            name, stand_in = "a" * asynchronous + hook, _stand_in_name(wraps=wraps, asynchronous=asynchronous)
            lines.append(
                f"watch(middleware[{member}], {literal(name)}, {plan_name(member, hook)}, {stand_in})"
            )
    if finding.members:
        # A fix may lie in any member, or in one more: the file keeps them all.
        lines.append(comment(f"Of these, it takes only {', '.join(finding.members)} to show."))
    return lines
