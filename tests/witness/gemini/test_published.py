"""The re-created Gemini CLI against the published one: the same histories, function by function.

Needs node, and SIXFOLD_GEMINI_CLI_CORE naming the folder of an installed npm package
`@google/gemini-cli-core` (0.61.0): without them it is skipped.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from sixfold.harness.agent import build_agent
from sixfold.harness.candidate import Candidate
from sixfold.harness.environment import count_tokens
from sixfold.harness.play import play
from sixfold.models.gemini import SHARE_TO_COMPRESS, Compression, GeminiCompression
from sixfold.models.gemini_history import find_split_point, items_of
from sixfold.models.gemini_nodes import (
    Strategy,
    calls_of,
    consumed,
    hardened,
    nodes_of,
    replaced,
    summary_node,
)

from ...helpers import explored
from ...models.summariser import environment_with

ASK = Path(__file__).with_name("ask.mjs")
HISTORIES = 300


def package() -> Path:
    """Return the folder of the published package, or skip."""
    folder = os.environ.get("SIXFOLD_GEMINI_CLI_CORE", "")
    if not folder:
        pytest.skip("SIXFOLD_GEMINI_CLI_CORE does not name an installed @google/gemini-cli-core")
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    return Path(folder)


def published(questions: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the published package's answers."""
    lines = "\n".join(json.dumps(question, ensure_ascii=False) for question in questions)
    command = ["node", str(ASK), str(package())]
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def generated() -> tuple[tuple[BaseMessage, ...], ...]:
    """Return the histories that the model is about to be called with, of many scenarios, each once."""
    seen: dict[str, tuple[BaseMessage, ...]] = {}

    class Collecting(GeminiCompression):
        def plan(self, state: Any) -> Any:
            messages = tuple(m for m in state["messages"] if not isinstance(m, SystemMessage))
            seen.setdefault(repr([(m.type, m.id, m.content) for m in messages]), messages)
            return super().plan(state)

    agent = build_agent(
        Candidate(name="collecting", build=lambda environment: [Collecting(environment, scale=1 / 8_000)]),
        direct=True,
    )
    for scenario in explored(HISTORIES):
        play(agent, scenario)
    return tuple(messages for messages in seen.values() if messages)


def contents_of(messages: Sequence[BaseMessage]) -> list[Any]:
    return [item.content() for item in items_of(messages)]


def test_split_points_are_those_of_the_published_function() -> None:
    package()
    contents = [contents_of(messages) for messages in generated()]
    questions = [
        {"task": "split", "contents": each, "share": share}
        for each in contents
        for share in (0.2, 0.5, SHARE_TO_COMPRESS)
    ]
    ours = [find_split_point(question["contents"], question["share"]) for question in questions]
    assert len(set(ours)) > 5
    assert published(questions) == ours


@pytest.mark.parametrize(("strategy", "free"), [("incremental", 0), ("freeNTokens", 20), ("max", 0)])
def test_rolling_summaries_are_those_of_the_published_processor(strategy: Strategy, free: int) -> None:
    package()
    questions: list[dict[str, Any]] = []
    ours: list[Any] = []
    for messages in generated():
        times = {str(m.id): float(place) for place, m in enumerate(messages)}
        nodes = nodes_of(messages, times)
        if len(set(times)) < len(messages):
            continue
        questions.append(
            {
                "task": "roll",
                "strategy": strategy,
                "free": free,
                "nodes": [
                    {"id": n.id, "type": n.type, "timestamp": n.timestamp, "cost": count_tokens([n.message])}
                    for n in nodes
                ],
            }
        )
        folded = consumed(nodes, strategy, free, count_tokens)
        after: Sequence[BaseMessage] = messages
        if folded:
            summary = summary_node("a summary", folded)
            after = replaced(messages, folded, summary)
            times[summary.id] = summary.timestamp
        ours.append([{"id": n.id, "type": n.type, "timestamp": n.timestamp} for n in nodes_of(after, times)])
    assert any(node["type"] == "ROLLING_SUMMARY" for each in ours for node in each)
    assert published(questions) == ours


def outline(contents: Sequence[Any]) -> list[tuple[str, list[str]]]:
    """Return role and parts of each item: the text of a prompt or answer, the id of a call or result."""
    told: list[tuple[str, list[str]]] = []
    for content in contents:
        parts = []
        for part in content["parts"]:
            kind = next(key for key in ("functionCall", "functionResponse", "text") if key in part)
            inserted = kind == "text" and "⟦" not in part["text"]
            parts.append(
                "" if inserted else f"{kind} {part[kind] if kind == 'text' else part[kind].get('id')}"
            )
        if told and told[-1][0] == content["role"]:
            told[-1][1].extend(parts)
        else:
            told.append((content["role"], parts))
    return [(role, [part for part in parts if part]) for role, parts in told]


def is_comparable(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether calls can be told apart by their ids, and no answer follows another that calls."""
    made = [call["id"] for m in messages if isinstance(m, AIMessage) for call in calls_of(m)]
    in_a_row = any(
        isinstance(a, AIMessage) and isinstance(b, AIMessage) and calls_of(a) for a, b in pairwise(messages)
    )
    return all(made) and len(set(made)) == len(made) and not in_a_row


def test_requests_are_hardened_as_by_the_published_function() -> None:
    package()
    parted = [messages[cut:] for messages in generated() for cut in (0, 2, 3) if messages[cut:]]
    parted = [messages for messages in parted if is_comparable(messages)]
    questions = [{"task": "harden", "contents": contents_of(messages)} for messages in parted]
    ours = [outline(contents_of(hardened(messages))) for messages in parted]
    assert sum(each != outline(question["contents"]) for each, question in zip(ours, questions, strict=True))
    for mine, theirs, question in zip(ours, published(questions), questions, strict=True):
        assert mine == outline(theirs), outline(question["contents"])


def test_a_turn_over_the_threshold_has_the_snapshot_before_it_summarised_again() -> None:
    # What a run finds on the re-created system as 5.regenerated.
    package()
    history: list[BaseMessage] = [
        HumanMessage("<state_snapshot>what was done</state_snapshot>", id="snapshot"),
        AIMessage("Understood.", id="acknowledgement"),
        HumanMessage("the question", id="u2"),
        AIMessage("I look", id="a2", tool_calls=[{"name": "lookup", "args": {}, "id": "c1"}]),
    ]
    [theirs] = published([{"task": "compress", "contents": contents_of(history), "used": 600_000}])
    environment, model = environment_with("a snapshot")
    ours = GeminiCompression(environment, window=2)
    compression = ours.plan({"messages": [*history, ToolMessage("found", tool_call_id="c1")]})
    assert isinstance(compression, Compression)
    ours.snapshot(compression)
    assert len(theirs["asked"]) == len(model.asked) == 2
    assert theirs["asked"][0][:-1] == contents_of(model.asked[0][:-1]) == contents_of(history[:2])
    assert theirs["history"][2:] == contents_of(history[2:])
