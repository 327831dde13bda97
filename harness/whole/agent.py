"""A whole agent as a candidate: the graph that its own factory compiles, built anew for every history.

Every history is played in that graph, under LangGraph's scheduler: there is no faster lane, and a finding
is confirmed by having been found.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.channels import LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel import Pregel

from ..agent import Agent, Running, lookup_tool, made_by
from ..candidate import Candidate
from ..environment import Environment
from ..errors import TargetError
from ..faults import FaultKind, FaultPlace
from ..lanes.foreign import ForeignWiring
from ..observed import ObservedSession
from ..script import CalledTool
from ..session import Session
from ..steps import StackForm
from .model import WholeAgentModel
from .session import ObservedWholeSession, WholeSession
from .trying import Nodes, try_agent

#: What can happen around a graph that nothing of ours stands in: its dependencies fail, the process dies.
WHOLE_WORLD: frozenset[FaultKind] = frozenset({"raise", "timeout", "bad_summary", "crash"})

_PLACES: frozenset[FaultPlace] = frozenset({"source", "summariser", "token_counter", "model", "tool"})


@dataclass(slots=True)
class WholeAgent(Agent):
    """A whole agent. `graph` is the one of the running history; its checkpointer is `saver`."""

    saver: Any = None
    nodes: Nodes = field(default_factory=lambda: Nodes([], []))
    tool: CalledTool | None = None

    #: Histories are played in the graph itself, whatever lane is asked for.
    graph_only = True

    @property
    def hooked(self) -> bool:
        """Whether there is code of a candidate between the scripted model and the state: always."""
        return True

    @property
    def session_type(self) -> type[Session]:
        """The kind of session that plays this agent."""
        return WholeSession

    @property
    def observed_type(self) -> type[ObservedSession]:
        """The kind of session that shows each model request to an observer."""
        return ObservedWholeSession

    @property
    def remark(self) -> str:
        """What readers of a report must know of the way it is played."""
        tool = (
            "it has no tool that Sixfold can call, so there are no tool rounds"
            if self.tool is None
            else f"its tool rounds call {self.tool.name}"
        )
        return (
            "a whole agent: every history was played in its own graph, so each finding is confirmed as it is "
            "found, and no lanes are compared; this is many times slower than the reducer lane (--budget "
            f"bounds it); no fault strikes inside its nodes; {tool}"
        )

    def new_saver(self) -> Any:
        """Return the checkpointer of the running history, with which the graph was compiled."""
        return self.saver

    def open(self, session: Session) -> None:
        """Let `session` play: a fresh graph over an empty checkpointer."""
        self.saver = InMemorySaver()
        self.attach(session)
        self.renew(session)

    def attach(self, session: Session) -> None:
        """Let everything report to `session`."""
        self.running.session = session
        self.model.attach(session)
        if isinstance(session, WholeSession):
            session.tool = self.tool

    def renew(self, session: Session) -> None:
        """Compile the graph again, as a new process would."""
        environment = session.environment
        environment.checkpointer = self.saver
        environment.tools = (self.model.lookup,)  # type: ignore[attr-defined]
        self.graph = graph_of(self.candidate, environment)

    def arranged(self, stack: StackForm) -> Agent:
        """Return the agent: what it is made of cannot be put together in another way."""
        return self

    def places(self) -> frozenset[FaultPlace]:
        """Return the places at which a fault can strike."""
        return _PLACES

    def with_delta_channel(self) -> Agent | None:
        """Return None: the agent chose its channels."""
        return None


def graph_of(candidate: Candidate, environment: Environment) -> Any:
    """Return the graph that the factory compiles. Raises `TargetError` when it is none that can be run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = made_by(candidate, environment, "in_order")
    place = candidate.target or candidate.name
    if len(made) != 1 or not isinstance(made[0], Pregel):
        raise TargetError(
            "the factory does not return a compiled graph every time",
            place=place,
            remedy="Build the same agent for every history; what varies belongs into its behaviour.",
        )
    graph: Any = made[0]
    channel = graph.channels.get("messages")
    if channel is None or isinstance(channel, LastValue):
        raise TargetError(
            "the agent's state has no key messages"
            if channel is None
            else "the agent's state key messages has no reducer, so each turn would forget the ones before",
            place=place,
            remedy="Give the state messages: Annotated[list[AnyMessage], add_messages], as in MessagesState.",
        )
    return graph


def build_whole_agent(candidate: Candidate, *, window: int) -> WholeAgent:
    """Build the whole agent of `candidate` and try it. Raises `TargetError` when it cannot be run."""
    model = WholeAgentModel.create(max_input_tokens=window)
    running = Running()
    model.lookup = lookup_tool(running)
    contract = replace(candidate.contract, suffers=candidate.contract.suffers & WHOLE_WORLD)
    candidate = replace(candidate, contract=contract)
    graph = graph_of(candidate, Environment(model=model, checkpointer=InMemorySaver(), tools=(model.lookup,)))
    place = candidate.target or candidate.name
    tried = try_agent(lambda environment: graph_of(candidate, environment), model, place)
    model.learned = tried.learned
    return WholeAgent(
        candidate,
        model,
        [],
        graph,
        ForeignWiring(graph),
        running,
        runs_sync=tried.runs_sync,
        runs_async=tried.runs_async,
        nodes=tried.nodes,
        tool=tried.tool,
    )
