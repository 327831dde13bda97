"""deer-flow's request repairs, re-created: dangling tool calls and system-message coalescing.

Both edit the request on its way to the model and never the state. A strict provider wants each tool
call answered exactly once, directly behind the message that made it, and one leading system message.

Source: bytedance/deer-flow at f1f4af99b (2026-08-22), rules D10 and D11 of its public behaviour.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from ..harness.candidate import Candidate, Contract, Middleware
from ..harness.environment import Environment
from ..harness.faults import DEFAULT_WORLD
from .deerflow import date_of, is_reminder
from .flaws import Flaw

if TYPE_CHECKING:
    Request = ModelRequest[Any]
else:
    # Before LangChain 1.1 the class takes no type parameter.
    Request = ModelRequest

#: The public bugs of the repair, by the pull request that mended each: results stay where they stand
#: (#2939), one result for each call id (#3143), results without a call stay (#4080).
RepairFlaw = Literal["2939", "3143", "4080"]


def calls_of(message: BaseMessage) -> list[str]:
    """Return the ids of a message's tool calls: structured, invalid, or else the provider's raw view."""
    if not isinstance(message, AIMessage):
        return []
    calls: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    calls = calls or list(message.additional_kwargs.get("tool_calls") or [])
    return [str(call.get("id")) for call in calls]


def synthetic(call: str) -> ToolMessage:
    """Return the result of a call that never got one."""
    return ToolMessage("[Tool call was interrupted.]", id=f"{call}__synthetic", tool_call_id=call)


def _owners(messages: Sequence[BaseMessage]) -> dict[tuple[int, int], ToolMessage]:
    """Return the result of each call, by the index of the calling message and the call's place in it.

    A result belongs to the nearest open call before it, else to the first one behind it: call ids may
    come back in later turns, and in one message.
    """
    made: dict[str, list[tuple[int, int]]] = {}
    for index, message in enumerate(messages):
        for place, call in enumerate(calls_of(message)):
            made.setdefault(call, []).append((index, place))
    owners: dict[tuple[int, int], ToolMessage] = {}
    for index, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            continue
        call = message.tool_call_id
        open_calls = [made_at for made_at in made.get(call, ()) if made_at not in owners]
        nearest = max((at for at, _ in open_calls if at < index), default=None)
        if open_calls:
            owners[next(c for c in open_calls if nearest in (None, c[0]))] = message
    return owners


class DanglingCallRepair(Middleware):
    """Per request, gives every tool call exactly one adjacent result and drops the others (rule D11).

    `flaw` is the public number of one bug to leave in.
    """

    def __init__(self, *, flaw: RepairFlaw | None = None) -> None:
        self._flaw = flaw

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Repair the request."""
        return handler(self._repaired(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Repair the request."""
        return await handler(self._repaired(request))

    def _repaired(self, request: Request) -> Request:
        messages = list(request.messages)
        if self._flaw == "2939":
            repaired = self._without_moving(messages)
        elif self._flaw == "3143":
            repaired = self._one_for_each_id(messages)
        else:
            repaired = self._grouped(messages)
        return request if repaired == messages else request.override(messages=repaired)

    def _grouped(self, messages: Sequence[BaseMessage]) -> list[Any]:
        owners = _owners(messages)
        placed = {id(result) for result in owners.values()}
        repaired: list[BaseMessage] = []
        for index, message in enumerate(messages):
            if isinstance(message, ToolMessage):
                if self._flaw == "4080" and id(message) not in placed:
                    repaired.append(message)
                continue
            repaired.append(message)
            repaired += [
                owners.get((index, place)) or synthetic(call) for place, call in enumerate(calls_of(message))
            ]
        return repaired

    def _without_moving(self, messages: Sequence[BaseMessage]) -> list[Any]:
        answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
        repaired: list[BaseMessage] = []
        for message in messages:
            repaired.append(message)
            repaired += [synthetic(call) for call in calls_of(message) if call not in answered]
        return repaired

    def _one_for_each_id(self, messages: Sequence[BaseMessage]) -> list[Any]:
        results = {m.tool_call_id: m for m in reversed(messages) if isinstance(m, ToolMessage)}
        repaired: list[BaseMessage] = []
        done: set[str] = set()
        for message in messages:
            if isinstance(message, ToolMessage):
                continue
            repaired.append(message)
            for call in calls_of(message):
                if call not in done:
                    done.add(call)
                    repaired.append(results.get(call) or synthetic(call))
        return repaired


class RepairAppended(Middleware):
    """The public bug #904: synthetic results were written to the state, where the reducer appends them."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Write a result for each call that has none."""
        messages: list[BaseMessage] = state["messages"]
        answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
        missing = [call for message in messages for call in calls_of(message) if call not in answered]
        return {"messages": [synthetic(call) for call in missing]} if missing else None


class SystemCoalescing(Middleware):
    """Per request, merges all system messages into the leading one; the newest date survives (rule D10)."""

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Any]) -> Any:
        """Coalesce the request."""
        return handler(self._coalesced(request))

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Any]]) -> Any:
        """Coalesce the request."""
        return await handler(self._coalesced(request))

    def _coalesced(self, request: Request) -> Request:
        systems = [message for message in request.messages if isinstance(message, SystemMessage)]
        if not systems:
            return request
        dated = [message for message in systems if is_reminder(message) and date_of(message) is not None]
        kept = [message for message in systems if message not in dated[:-1]]
        leading = [] if request.system_message is None else [request.system_message]
        text = "\n\n".join(message.text for message in (*leading, *kept))
        others: list[Any] = [
            message for message in request.messages if not isinstance(message, SystemMessage)
        ]
        return request.override(system_message=SystemMessage(text), messages=others)


# No fault is a wrap that did not run: a request without it is not made.
_CONTRACT = Contract(edits_requests=True, repairs_tool_calls=True, suffers=DEFAULT_WORLD - {"skip"})
_SOURCE = "bytedance/deer-flow DanglingToolCallMiddleware at f1f4af99b, re-created"


def _candidate(name: str, flaw: RepairFlaw | None, what: str) -> Candidate:
    def build(_environment: Environment) -> list[Middleware]:
        return [DanglingCallRepair(flaw=flaw)]

    return Candidate(name=name, build=build, contract=_CONTRACT, source=_SOURCE + what, target=name)


DEERFLOW_REPAIR = _candidate("deerflow.repair", None, "")
DEERFLOW_2939 = _candidate("deerflow-2939", "2939", "; order of results as before pull request #2939")
DEERFLOW_3143 = _candidate("deerflow-3143", "3143", "; call ids as before pull request #3143")

DEERFLOW_904 = Candidate(
    name="deerflow-904",
    build=lambda _environment: [RepairAppended()],
    # It never put results in order; that is another public bug (#2939).
    contract=replace(_CONTRACT, outside=frozenset({"load_turn"})),
    source=f"{_SOURCE}; results appended as before pull request #904",
    target="deerflow-904",
)

FLAWS = (
    Flaw(
        candidate=DEERFLOW_2939,
        correct=DEERFLOW_REPAIR,
        codes=("4.orphan-result",),
        origin="bytedance/deer-flow #2939: a result stays where it is, and not behind its call",
    ),
    Flaw(
        candidate=DEERFLOW_3143,
        correct=DEERFLOW_REPAIR,
        codes=("4.unanswered-call",),
        origin="bytedance/deer-flow #3143: one result for all calls with the same id",
    ),
    Flaw(
        candidate=DEERFLOW_904,
        correct=DEERFLOW_REPAIR,
        codes=("4.orphan-result",),
        origin="bytedance/deer-flow #904: synthetic results are appended to the state",
    ),
)
