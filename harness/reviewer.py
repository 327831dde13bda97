"""The reviewer: what the user answers when an agent asks with `interrupt()`.

Source: `langgraph.types.interrupt`; `langchain.agents.middleware.human_in_the_loop`, of which `HITLRequest`
asks about the calls of one answer at once, and `ToolApprovalRequest` about a single one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

#: Decisions that come with words of the reviewer.
_WORDED = ("reject", "respond")

#: Questions of one turn that are answered before its user gives up: more than a turn has tool calls.
MAX_QUESTIONS = 100

_NUMBER = re.compile(r"\d+")


class Asking(Protocol):
    """What can stop a turn to ask, and go on with the answer."""

    @property
    def asks(self) -> bool:
        """Whether the turn was stopped by questions."""

    def resume(self) -> bool:
        """Answer them and go on; return whether the turn was stopped again."""


def question_of(stop: GraphInterrupt) -> Interrupt:
    """Return what an interrupt asks."""
    asked = stop.args[0] if stop.args else ()
    return asked[0] if asked else Interrupt(None)


def answer_all(lane: Asking, submit: Callable[[], bool]) -> bool:
    """Submit, answer questions until the turn is over, and return whether it was stopped all the same."""
    stopped = submit()
    for _ in range(MAX_QUESTIONS):
        if not (stopped and lane.asks):
            break
        stopped = lane.resume()
    return stopped


def answer(question: Interrupt) -> Any:
    """Return what the user answers: a decision on each tool call, and yes to everything else."""
    asked = question.value
    if not isinstance(asked, dict):
        return True
    if asked.get("type") == "tool_approval":
        return _decided(_allowed_by(getattr(question, "response_schema", None)), asked, 0)
    if isinstance(asked.get("action_requests"), list):
        allowed = [config["allowed_decisions"] for config in asked.get("review_configs", ())]
        return {
            "decisions": [
                _decided(allowed[place] if place < len(allowed) else (), action, place)
                for place, action in enumerate(asked["action_requests"])
            ]
        }
    return True


def _allowed_by(schema: Any) -> list[str]:
    """Return the decisions that the JSON schema of an answer allows."""
    if not isinstance(schema, dict):
        return []
    several = schema.get("discriminator", {}).get("mapping", {})
    only = schema.get("properties", {}).get("type", {}).get("const")
    return list(several) or ([only] if isinstance(only, str) else [])


def _decided(allowed: Sequence[str], action: Any, place: int) -> dict[str, Any]:
    """Return the decision on one call.

    Calls get the decisions that are allowed one after the other, by the numbers in what they ask for: a call
    gets the same one in every replay, and the calls of a turn get all of them. An edited call keeps its
    arguments, as the script knows no others.
    """
    numbers = [int(number) for number in _NUMBER.findall(str(action.get("args", "")))]
    known = [decision for decision in allowed if decision in (*_WORDED, "edit", "approve")] or ["approve"]
    said = known[(sum(numbers) if numbers else place) % len(known)]
    if said == "edit":
        return {"type": said, "edited_action": {"name": action["name"], "args": action["args"]}}
    return {"type": said, "message": "Not this time."} if said in _WORDED else {"type": said}
