"""What a rule of a system is tested on: states, requests and summaries of a played scenario."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.graph.message import add_messages

from sixfold.harness.candidate import Candidate
from sixfold.harness.history import Fold, Requested, Summarised
from sixfold.harness.play import play
from sixfold.harness.steps import Step
from sixfold.harness.views import View, Views

from ..helpers import agent_of, scenario_of


def _records(candidate: Candidate, steps: tuple[Step, ...]) -> list[object]:
    return list(play(agent_of(candidate), scenario_of(*steps)).history.records)


def final_state(candidate: Candidate, *steps: Step) -> Views:
    """Return the messages in state after the last fold."""
    return [r for r in _records(candidate, steps) if isinstance(r, Fold)][-1].state


def folds(candidate: Candidate, *steps: Step) -> list[Fold]:
    """Return all folds, in order."""
    return [r for r in _records(candidate, steps) if isinstance(r, Fold)]


def requests(candidate: Candidate, *steps: Step) -> list[Requested]:
    """Return all requests of the agent's model, in order."""
    return [r for r in _records(candidate, steps) if isinstance(r, Requested)]


def summaries(candidate: Candidate, *steps: Step) -> list[Summarised]:
    """Return all calls of the summariser, in order."""
    return [r for r in _records(candidate, steps) if isinstance(r, Summarised)]


def ids(views: Views) -> list[str | None]:
    """Return the ids of the messages, in order."""
    return [view.id for view in views]


def said(views: Views) -> list[str]:
    """Return the utterances that the messages carry, in order."""
    return [view.says for view in views if view.says is not None]


def users(views: Views) -> list[View]:
    """Return the messages in the user's role."""
    return [view for view in views if view.role == "human"]


def folded(before: list[BaseMessage], update: list[BaseMessage]) -> list[Any]:
    """Return the messages after the real reducer has folded an update into those before."""
    return list(add_messages(list(before), list(update)))  # type: ignore[arg-type]
