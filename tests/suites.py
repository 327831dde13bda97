"""Runs a suite of somebody else: files in a folder, and pytest in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = "sixfold.cli.pytest_plugin"

#: Packages beside Sixfold have plugins that take seconds to load; those that its users need are named.
NO_OTHER_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
OTHERS = ("-p", "_hypothesis_pytestplugin", "-p", "xdist.plugin")


def write(folder: Path, **files: str) -> None:
    """Write modules into the folder, by name."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the folder, with the plugin by its module, whether or not it is an entry point."""
    named = ["-p", "no:sixfold", "-p", PLUGIN, *OTHERS]
    # Where Hypothesis takes itself to run on a CI server it has other defaults.
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200", **NO_OTHER_PLUGINS}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *named, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


#: A middleware in the style of the article: a reminder takes the id of the latest user message.
REMINDER = """
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, SystemMessage


class Reminder(AgentMiddleware):
    def before_agent(self, state, runtime):
        messages = state["messages"]
        if any(m.additional_kwargs.get("reminder") for m in messages):
            return None
        target = next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)
        if target is None:
            return None
        return {
            "messages": [
                SystemMessage("Be brief.", id=target.id, additional_kwargs={"reminder": True}),
                HumanMessage(target.content, id=f"{target.id}__user"),
            ]
        }
"""

HISTORY = """
from langchain_core.messages import AIMessage, HumanMessage

HISTORY = [
    HumanMessage("make me a product intro video", id="m1"),
    AIMessage("done", id="a1"),
    HumanMessage("remove the subtitles", id="m2"),
]
"""

#: The two tests of the article, in its style: one asserts the shape, one folds.
SHAPE = """
from history import HISTORY
from reminder import Reminder


def test_reminder_takes_an_id_and_words_follow():
    first, second = Reminder().before_agent({"messages": HISTORY}, None)["messages"]
    assert second.id == f"{first.id}__user"
    assert first.additional_kwargs["reminder"]
"""

FOLDS = """
from history import HISTORY
from langgraph.graph.message import add_messages
from reminder import Reminder


def test_the_question_stays_the_last_one():
    update = Reminder().before_agent({"messages": HISTORY}, None)
    folded = add_messages(HISTORY, update["messages"])
    assert [m.content for m in folded if m.type == "human"][-1] == "remove the subtitles"
"""
