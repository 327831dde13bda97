"""Candidates: what is tested, and the contract it declares.

A contract says what the candidate does on purpose. It turns a check into a visible waiver or
narrows its definition; it never hides a consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware

from .environment import Environment
from .errors import TargetError
from .faults import DEFAULT_WORLD, FaultKind
from .plain import PlainTarget
from .steps import StackForm

if TYPE_CHECKING:
    Middleware = AgentMiddleware[Any, Any, Any]
else:
    # The number of type parameters differs between LangChain versions.
    Middleware = AgentMiddleware


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a candidate declares about itself.

    `injects_into_history`: dynamic state is written into messages of the state (waives
    `1.state-in-history`). `freezes_state`: injected state is not refreshed when it changes (waives
    `1.stale-state`). `id_swap`: a reminder takes the id of the latest user message, whose words get
    a derived id; allowed on the latest user message only. `compacts`: older messages are replaced
    by a summary. `edits_requests`: requests are edited on their way to the model. `clears_tool_results`:
    old tool results lose their content (waives their recall). `drops_history`: old messages are
    forgotten without a summary (waives `6.recall`). `cuts_inside_turns`: parts of finished turns are
    dropped on purpose (waives `4.cut-inside-turn` for them, never for the current turn).
    `redacts`: parts of what was said are replaced in place (waives `2.content-changed` where the message
    itself stays).
    `shows_state`: the current state is in every request (makes `1.state-missing` apply). `keeps_head`:
    the beginning of the conversation survives compaction (waives `4.hole`). `system_anywhere`: system
    messages stand anywhere in a request, and another part of the system gathers them at its front
    (waives `4.rejected-request` for them).
    `repairs_tool_calls`: calls without results and results out of place are repaired for each request, so
    the candidate is held to them even when the scenario made them. `outside` lists what does
    not happen in the candidate's world: kinds of steps, `suffixed_ids` (user messages whose ids end as
    ids that the candidate derives), and `empty_ids` (user messages whose id is the empty string).
    `stands` lists the ways to put its middleware together that the candidate promises to stand (see
    `Configure`); in others it is not played.
    `suffers` lists the fault kinds that can happen in the candidate's world.
    """

    injects_into_history: bool = False
    freezes_state: bool = False
    id_swap: bool = False
    compacts: bool = False
    edits_requests: bool = False
    clears_tool_results: bool = False
    drops_history: bool = False
    cuts_inside_turns: bool = False
    redacts: bool = False
    repairs_tool_calls: bool = False
    shows_state: bool = False
    keeps_head: bool = False
    system_anywhere: bool = False
    outside: frozenset[str] = frozenset()
    stands: frozenset[StackForm] = frozenset()
    suffers: frozenset[FaultKind] = DEFAULT_WORLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A named way to build a stack of middleware, with its contract.

    `build` gets a fresh `Environment` and returns the middleware in order (the empty list for
    `control`); it is called for every history and after every restart. `source` says where the
    rules or the code come from (project, file, symbol, version). `target` is what a user types to
    get this candidate again. `wiring` shows how it was constructed, when that was not its author's choice;
    `plain` how a program without Sixfold makes it, None when none can.
    """

    name: str
    build: Callable[[Environment], Sequence[Middleware]] = field(repr=False)
    contract: Contract = Contract()
    source: str = ""
    target: str = ""
    wiring: str = ""
    plain: PlainTarget | None = None


CONTROL = Candidate(
    name="control",
    build=lambda _environment: (),
    source="no middleware at all: what the reducer and the agent do by themselves",
    target="control",
)


def check_names(candidates: Sequence[Candidate]) -> None:
    """Raise `TargetError` when two candidates have the same name: everything is counted by it."""
    for number, candidate in enumerate(candidates):
        if any(candidate.name == other.name for other in candidates[:number]):
            raise TargetError(
                f"two candidates are called {candidate.name!r}",
                place=candidate.target or candidate.name,
                remedy="Give each a name of its own; control takes part in every run.",
            )
