"""The real agent of a candidate, built once by `create_agent` around interposers.

Both lanes drive this one graph: the graph lane through LangGraph's scheduler and a checkpointer,
the reducer lane by calling its nodes, edges and channels directly.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, get_type_hints

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AnyMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel import Pregel
from typing_extensions import Required, TypedDict

from .brought import put_in_place
from .candidate import Candidate, Middleware
from .chat_model import DirectFakeChatModel, FakeChatModel
from .collector import freeze_what_is_imported
from .environment import SMALL_WINDOW, Environment
from .errors import SixfoldError, TargetError
from .faults import DEPENDENCIES, HOOKS, FaultPlace
from .interposer import Interposer, interpose
from .interrupts import is_the_users
from .invariants.checks import SECOND_INSTANCE
from .lanes.plain_model import PlainModel
from .lanes.wiring import DELTAS, Wiring
from .observed import ObservedSession
from .session import Session
from .steps import StackForm

SYSTEM_PROMPT = "You are a careful assistant."


def made_by(candidate: Candidate, environment: Environment, form: StackForm) -> list[Any]:
    """Return what the candidate's factory makes. Raises `TargetError` when it fails."""
    place = candidate.target or candidate.name
    try:
        with environment.clock.running():
            stack = list(candidate.build(environment))
            if form == "twice":
                stack += candidate.build(environment)
            if form == "reversed":
                stack.reverse()
            return stack
    except SixfoldError:
        raise
    except BaseException as error:
        if is_the_users(error):
            raise
        raise TargetError(
            f"building the middleware raised {type(error).__name__}: {error}",
            place=place,
            remedy="Correct the constructor arguments, or write a factory that takes the Environment.",
        ) from error


def _build(candidate: Candidate, environment: Environment, form: StackForm) -> list[Middleware]:
    """Return the stack that the candidate's factory makes. Raises `TargetError` when it is none."""
    return _checked(candidate, made_by(candidate, environment, form))


def _checked(candidate: Candidate, stack: list[Any]) -> list[Middleware]:
    place = candidate.target or candidate.name
    for member in stack:
        if not isinstance(member, AgentMiddleware):
            raise TargetError(
                f"the factory returned {type(member).__name__}, which is not an AgentMiddleware",
                place=place,
                remedy="Return middleware instances, in the order in which create_agent would get them.",
            )
    return stack


@dataclass(slots=True)
class Running:
    """The session that plays now, for the fake tool, which is built before any session."""

    session: Session | None = None

    def now(self) -> Session:
        """Return the session. Raises `RuntimeError` when none is played."""
        if self.session is None:
            raise RuntimeError("the fake tool was called outside of a session")
        return self.session


def _overrides(interposer: Interposer, method: str) -> bool:
    return getattr(type(interposer), method) is not getattr(AgentMiddleware, method)


def _only(interposer: Interposer, has: str, lacks: str) -> bool:
    """Tell whether the interposer has a hook in one form only. `{}` stands for the hook's name."""
    names = ("model", "tool") if has.startswith("wrap") else (*HOOKS, "wrap_tool_call")
    return any(
        _overrides(interposer, has.format(name)) and not _overrides(interposer, lacks.format(name))
        for name in names
    )


@dataclass(slots=True)
class Agent:
    """A candidate with its compiled graph; played by one session at a time.

    `runs_sync` tells whether every hook has a synchronous form, `runs_async` whether every wrapping hook
    has an asynchronous one (node hooks need none).
    """

    candidate: Candidate
    model: FakeChatModel
    interposers: list[Interposer]
    graph: Any
    wiring: Wiring
    running: Running
    runs_sync: bool
    runs_async: bool
    stack: StackForm = "in_order"
    twin: Agent | None = field(default=None, repr=False, compare=False)
    variants: dict[StackForm, Agent] = field(default_factory=dict, repr=False, compare=False)

    #: Whether histories can be played in the agent's own graph only.
    graph_only: ClassVar[bool] = False

    @property
    def hooked(self) -> bool:
        """Whether there is code of a candidate that could change messages."""
        return bool(self.interposers)

    @property
    def session_type(self) -> type[Session]:
        """The kind of session that plays this agent."""
        return Session

    @property
    def observed_type(self) -> type[ObservedSession]:
        """The kind of session that shows each model request to an observer."""
        return ObservedSession

    @property
    def remark(self) -> str:
        """What readers of a report must know of the way it is played; mostly nothing."""
        return ""

    def new_saver(self) -> Any:
        """Return the checkpointer of one lane."""
        return InMemorySaver()

    def attach(self, session: Session) -> None:
        """Let everything report to `session`."""
        self.running.session = session
        self.model.attach(session)
        for interposer in self.interposers:
            interposer.session = session

    def open(self, session: Session) -> None:
        """Let `session` play: fresh middleware, everything reports to it."""
        self.attach(session)
        self.renew(session)

    def arranged(self, stack: StackForm) -> Agent:
        """Return the agent with the candidate's middleware put together in another way, compiled once.

        It shares model and tool: play one of the two at a time. Raises `TargetError` when `create_agent`
        refuses the stack.
        """
        if (
            stack == self.stack
            or not self.interposers
            or (stack == "reversed" and len(self.interposers) == 1)
        ):
            return self
        if stack not in self.variants:
            prototypes = _build(self.candidate, Environment(model=self.model), stack)
            self.variants[stack] = _arrange(prototypes, self.candidate, self.model, self.running, stack)
        variant = self.variants[stack]
        return (variant.with_delta_channel() or variant) if self.wiring.keeps_deltas else variant

    def places(self) -> frozenset[FaultPlace]:
        """Return the places at which a fault can strike this candidate."""
        hooks = {
            hook
            for hook in HOOKS
            for interposer in self.interposers
            if _overrides(interposer, hook) or _overrides(interposer, f"a{hook}")
        }
        wraps_tools = any(
            _overrides(i, name) for i in self.interposers for name in ("wrap_tool_call", "awrap_tool_call")
        )
        return frozenset(hooks | set(DEPENDENCIES)) if hooks or wraps_tools else frozenset()

    def with_delta_channel(self) -> Agent | None:
        """Return the agent with its messages in a `DeltaChannel`, compiled once.

        None when this LangGraph has no such channel, when a member of the stack asks for it anyway, or
        when LangChain does not let the agent choose. It shares the interposers: play one of the two at a
        time.
        """
        if DELTAS is None or self.wiring.keeps_deltas:
            return None
        if self.twin is None:
            fields = get_type_hints(AgentState, include_extras=True)
            fields["messages"] = Required[Annotated[list[AnyMessage], DELTAS.channel(DELTAS.reducer)]]
            schema = TypedDict("AgentStateInDeltas", fields)  # type: ignore[misc]
            graph = _compile(self.model, self.interposers, self.running, state_schema=schema)
            self.twin = replace(self, graph=graph, wiring=Wiring(graph, self.wiring.plain_model))
        return self.twin if self.twin.wiring.keeps_deltas else None

    def renew(self, session: Session) -> None:
        """Give the session new middleware instances, as a new process would."""
        stack = _build(self.candidate, session.environment, self.stack)
        if [type(member) for member in stack] != [type(i.inner) for i in self.interposers]:
            raise TargetError(
                "the factory does not return the same middleware every time",
                place=self.candidate.target or self.candidate.name,
                remedy="Build the same stack for every history; what varies belongs into its behaviour.",
            )
        for interposer, member in zip(self.interposers, stack, strict=True):
            interposer.inner = member
            put_in_place(self.wiring.tool_node, member, interposer.running)


def lookup_tool(running: Running) -> BaseTool:
    """Return the tool that says what the script of the running session wants it to say."""

    @tool
    def lookup(token: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
        """Look something up."""
        return running.now().tool_result(token, tool_call_id)

    return lookup


def _compile(model: FakeChatModel, members: list[Interposer], running: Running, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_agent(
            model,
            [lookup_tool(running)],
            system_prompt=SYSTEM_PROMPT,
            middleware=members,
            checkpointer=InMemorySaver(),
            **more,
        )


def build_agent(candidate: Candidate, *, direct: bool, window: int = SMALL_WINDOW) -> Agent:
    """Build the agent of `candidate`.

    `direct` leaves out LangChain's callback machinery around the fake model (reducer lane); `window`
    is the context window that the fake model announces, in tokens. Raises `TargetError` when the
    candidate cannot be built. A factory that compiles a graph makes a whole agent, which is played in that
    graph.
    """
    model = (DirectFakeChatModel if direct else FakeChatModel).create(max_input_tokens=window)
    running = Running()
    environment = Environment(model=model, checkpointer=InMemorySaver(), tools=(lookup_tool(running),))
    made = made_by(candidate, environment, "in_order")
    if len(made) == 1 and isinstance(made[0], Pregel):
        from .whole.agent import build_whole_agent  # it is built from this module

        return build_whole_agent(candidate, window=window)
    return _arrange(_checked(candidate, made), candidate, model, running, "in_order")


def _arrange(
    prototypes: list[Middleware],
    candidate: Candidate,
    model: FakeChatModel,
    running: Running,
    form: StackForm,
) -> Agent:
    try:
        interposers = [interpose(member, index) for index, member in enumerate(prototypes)]
        if form == "twice":
            for second in interposers[len(interposers) // 2 :]:
                second.label += SECOND_INSTANCE
        graph = _compile(model, interposers, running)
    except Exception as error:
        raise TargetError(
            f"create_agent refused the middleware: {type(error).__name__}: {error}",
            place=candidate.target or candidate.name,
            remedy="Check that the same stack works in your own create_agent call.",
        ) from error
    wraps = any(_overrides(i, name) for i in interposers for name in ("wrap_model_call", "awrap_model_call"))
    plain = None
    if not wraps and isinstance(model.scripted, DirectFakeChatModel):
        plain = PlainModel(model.scripted, SystemMessage(SYSTEM_PROMPT))
    freeze_what_is_imported()
    return Agent(
        candidate,
        model,
        interposers,
        graph,
        Wiring(graph, plain),
        running,
        runs_sync=not any(_only(interposer, "a{}", "{}") for interposer in interposers),
        runs_async=not any(_only(interposer, "wrap_{}_call", "awrap_{}_call") for interposer in interposers),
        stack=form,
    )
