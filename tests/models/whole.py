"""Whole agents as users write them: factories of compiled graphs with middleware or nodes of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.messages import HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from pydantic import BaseModel


@tool
def send_mail(text: str) -> str:
    """Send a mail."""
    raise AssertionError("a tool that acts must not be called")


@tool
def search(query: str, limit: int = 3) -> str:
    """Search for something."""
    return "nothing is known of it"


@tool
def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"sunny in {city}"


class Report(BaseModel):
    """A structured answer."""

    text: str
    score: int


def summarising(model: Any, checkpointer: Any) -> Any:
    """LangChain's own summariser, inside an agent with tools of its own."""
    middleware = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 2))
    return create_agent(
        model, [send_mail, search], system_prompt="Help.", middleware=[middleware], checkpointer=checkpointer
    )


def with_our_tool(model: Any, tools: list[Any], checkpointer: Any) -> Any:
    """The same agent with the tool that Sixfold supplies."""
    middleware = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 2))
    return create_agent(
        model, tools, system_prompt="Help.", middleware=[middleware], checkpointer=checkpointer
    )


def stack(environment: Any) -> Any:
    """The summariser alone, as a stack."""
    return SummarizationMiddleware(environment.model, trigger=("messages", 5), keep=("messages", 2))


def _trimming(trim: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def make(model: Any, checkpointer: Any) -> Any:
        bound = model.bind_tools([search])
        builder = StateGraph(MessagesState)
        builder.add_node("trim", trim)
        builder.add_node("bot", lambda state: {"messages": [bound.invoke(state["messages"])]})
        builder.add_node("tools", ToolNode([search]))
        builder.add_edge(START, "trim")
        builder.add_edge("trim", "bot")
        builder.add_conditional_edges("bot", tools_condition)
        builder.add_edge("tools", "bot")
        return builder.compile(checkpointer=checkpointer)

    return make


def _last_four(state: Any) -> Any:
    return {"messages": [RemoveMessage(id=m.id) for m in state["messages"][:-4]]}


def _ends_a_turn(message: Any) -> bool:
    return message.type == "ai" and not message.tool_calls and not message.invalid_tool_calls


def _last_two_turns(state: Any) -> Any:
    """Cut where the last turn but one begins: at words of the user behind an answer that ended a turn."""
    messages = state["messages"]
    begins = [
        place + 1
        for place, message in enumerate(messages[:-1])
        if messages[place + 1].type == "human" and _ends_a_turn(message)
    ]
    cut = begins[-2] if len(begins) > 1 else 0
    gone = [m for m in messages[:cut] if m.type != "system"]
    return {"messages": [RemoveMessage(id=m.id) for m in gone]}


cuts_inside_turns = _trimming(_last_four)
cuts_between_turns = _trimming(_last_two_turns)


class _WithSummary(MessagesState):
    summary: str


def two_nodes(model: Any, checkpointer: Any) -> Any:
    """One plain model, which answers in one node and summarises in another."""

    def talk(state: Any) -> Any:
        known = state.get("summary", "")
        before = [SystemMessage(f"Before: {known}")] if known else []
        return {"messages": [model.invoke(before + state["messages"])]}

    def condense(state: Any) -> Any:
        asked = HumanMessage(f"Extend this summary: {state.get('summary', '')}")
        answer = model.invoke([*state["messages"], asked])
        gone = [RemoveMessage(id=m.id) for m in state["messages"][:-2]]
        return {"summary": answer.content, "messages": gone}

    builder = StateGraph(_WithSummary)
    builder.add_node(talk)
    builder.add_node(condense)
    builder.add_edge(START, "talk")
    builder.add_conditional_edges(
        "talk", lambda state: "condense" if len(state["messages"]) > 6 else END, ["condense", END]
    )
    return builder.compile(checkpointer=checkpointer)


def react(model: Any, checkpointer: Any) -> Any:
    """A `pre_model_hook` that shows the model the last three messages only."""

    def last_three(state: Any) -> Any:
        return {"llm_input_messages": state["messages"][-3:]}

    return create_react_agent(model, [get_weather], pre_model_hook=last_three, checkpointer=checkpointer)


def idle(model: Any, checkpointer: Any) -> Any:
    """An agent that leaves its history alone."""
    return create_agent(model, [get_weather], checkpointer=checkpointer)


def structured(model: Any, checkpointer: Any) -> Any:
    """Answers are objects, asked for as a tool call."""
    return create_agent(model, [get_weather], response_format=Report, checkpointer=checkpointer)


def structured_by_the_provider(model: Any, checkpointer: Any) -> Any:
    """Answers are objects, asked for as JSON."""
    return create_agent(
        model, [get_weather], response_format=ProviderStrategy(Report), checkpointer=checkpointer
    )


def structured_at_the_end(model: Any, checkpointer: Any) -> Any:
    """An object is asked for behind the last answer."""
    return create_react_agent(model, [get_weather], response_format=Report, checkpointer=checkpointer)


def nested(model: Any, checkpointer: Any) -> Any:
    """A router that asks for an object, in front of an agent that is a node."""

    class Step(BaseModel):
        step: str

    class State(MessagesState):
        step: str

    def route(state: Any) -> Any:
        return {"step": model.with_structured_output(Step).invoke(state["messages"]).step}

    builder = StateGraph(State)
    builder.add_node(route)
    builder.add_node("inner", create_agent(model, [get_weather]))
    builder.add_edge(START, "route")
    builder.add_edge("route", "inner")
    return builder.compile(checkpointer=checkpointer)


def only_async(model: Any, checkpointer: Any) -> Any:
    """A node that has no synchronous form."""

    async def bot(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node(bot)
    builder.add_edge(START, "bot")
    return builder.compile(checkpointer=checkpointer)


def of_the_environment(environment: Any) -> Any:
    """A factory that takes the environment."""
    return create_agent(environment.model, list(environment.tools), checkpointer=environment.checkpointer)


class Changes(AgentMiddleware[Any, Any, Any]):
    """Changes a message of the state in place."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        """Write into the first message."""
        state["messages"][0].content = "something else"


def changing(model: Any, checkpointer: Any) -> Any:
    """An agent with a middleware that changes messages behind the reducer's back."""
    return create_agent(model, [get_weather], middleware=[Changes()], checkpointer=checkpointer)


def failing(model: Any, checkpointer: Any) -> Any:
    """A node that fails from the second turn on."""

    def fragile(state: Any) -> Any:
        if len(state["messages"]) > 1:
            raise LookupError("the node broke")

    builder = StateGraph(MessagesState)
    builder.add_node("fragile", fragile)
    builder.add_node("bot", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_edge(START, "fragile")
    builder.add_edge("fragile", "bot")
    return builder.compile(checkpointer=checkpointer)


class ClosesGaps(AgentMiddleware[Any, Any, Any]):
    """Answers calls that were left without a result, behind the call, as deepagents does."""

    def before_agent(self, state: Any, runtime: Any) -> Any:
        """Write the history anew when a call has no answer."""
        answered = {m.tool_call_id for m in state["messages"] if m.type == "tool"}
        closed: list[Any] = []
        for message in state["messages"]:
            closed.append(message)
            for call in getattr(message, "tool_calls", []):
                if call["id"] not in answered:
                    closed.append(ToolMessage("cancelled", tool_call_id=call["id"]))
        if len(closed) == len(state["messages"]):
            return None
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *closed]}


def closing_gaps(model: Any, tools: list[Any], checkpointer: Any) -> Any:
    """An agent that repairs its history at the beginning of a turn."""
    return create_agent(model, tools, middleware=[ClosesGaps()], checkpointer=checkpointer)
