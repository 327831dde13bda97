"""What clients write to the state, as literal code of a stand-alone file."""

from __future__ import annotations

from langchain_core.messages import HumanMessage

from ..harness.steps import DeleteTurn, EditMessage, LateResults, TrimState
from ..harness.views import View
from .standalone_claim import is_random_id
from .standalone_story import Unsupported
from .standalone_text import comment, listed, literal, message_literal


def known_id(view: View) -> str:
    """Return the id of a message that a client names. Raises `Unsupported` for a random one."""
    if view.id is None or is_random_id(view.id):
        raise Unsupported("a client names a message by a random id")
    return view.id


def client_write(
    step: EditMessage | DeleteTurn | LateResults | TrimState, written: tuple[View, ...]
) -> tuple[list[str], str]:
    """Return the lines before the update of a client, and the expression of the messages it writes."""
    match step:
        case EditMessage():
            messages = [HumanMessage(view.text, id=known_id(view)) for view in written]
            edits = [message_literal(message) for message in messages]
            return [comment("The user edits an old message, under its own id.")], listed(edits)
        case LateResults():
            results = [
                f"ToolMessage({literal(view.text)}, id={literal(known_id(view))}, "
                f'name="lookup", tool_call_id={literal(view.answers)})'
                for view in written
            ]
            return [comment("Tool results come in late.")], listed(results)
        case TrimState(how=how):
            kept = literal([known_id(view) for view in written if view.role != "remove"])
            lines = [
                comment("A client clears the history but for these messages."),
                'kept = agent.get_state(thread).values["messages"]',
                f"kept = [message for message in kept if message.id in {kept}]",
            ]
            overwrites = how == "overwrite"
            return lines, "Overwrite(kept)" if overwrites else "[RemoveMessage(REMOVE_ALL_MESSAGES), *kept]"
        case DeleteTurn():
            removals = [f"RemoveMessage({literal(known_id(view))})" for view in written]
            return [comment("A client removes an old turn.")], listed(removals)
