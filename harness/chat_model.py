"""The fake chat model: scripted as an agent's model, faithful as a summariser. Never a real LLM.

`create_agent` always binds the model before it calls it, so the bound model speaks the script of
the current turn; called directly it summarises: it repeats every token it was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompt_values import PromptValue
from pydantic import Field

from .script import PROVIDER

if TYPE_CHECKING:
    from .session import Session


class FakeChatModel(BaseChatModel):
    """A chat model that answers from the running session's script.

    `profile` announces a small context window (in tokens) so that fractional thresholds are met in
    short histories.
    """

    # Ordinary fields: pydantic reads private attributes through a slow path, once a model call.
    session: Any = Field(default=None, exclude=True, repr=False)
    scripted: Any = Field(default=None, exclude=True, repr=False)
    speaks_script: bool = Field(default=False, exclude=True, repr=False)
    #: A summary model without a synchronous client refuses synchronous calls.
    only_async: bool = Field(default=False, exclude=True, repr=False)

    @classmethod
    def create(cls, *, max_input_tokens: int) -> FakeChatModel:
        """Return a summarising model whose bound form speaks the script."""
        profile: Any = {"max_input_tokens": max_input_tokens, "tool_calling": True}
        model = cls(profile=profile)
        agent = cls(profile=profile)
        agent.speaks_script = True
        model.scripted = agent
        return model

    def attach(self, session: Session | None) -> None:
        """Let the model speak for `session` until it is attached to another."""
        self.__dict__["session"] = session  # an assignment goes through pydantic, in each history anew
        if self.scripted is not None:
            self.scripted.attach(session)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        """Name the provider that the scripted usage metadata names."""
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": PROVIDER}

    @property
    def _llm_type(self) -> str:
        return "sixfold-fake"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> FakeChatModel:
        """Return the model that speaks the script."""
        return self.scripted or self

    def bind(self, **kwargs: Any) -> FakeChatModel:  # type: ignore[override]
        """Return the model that speaks the script."""
        return self.scripted or self

    def _answer(self, messages: Sequence[BaseMessage], *, synchronous: bool = True) -> AIMessage:
        if self.session is None:
            raise RuntimeError("the fake chat model was called outside of a session")
        if self.speaks_script:
            answer: AIMessage = self.session.model_called(messages)
            return answer
        return AIMessage(self.session.summarise(messages, refused=synchronous and self.only_async))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages, synchronous=False))])


class DirectFakeChatModel(FakeChatModel):
    """The same model without LangChain's callback machinery around each call (reducer lane)."""

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> AIMessage:
        """Answer at once."""
        return self._direct(input, synchronous=False)

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> AIMessage:
        """Answer at once."""
        return self._direct(input, synchronous=True)

    def _direct(self, input: Any, *, synchronous: bool) -> AIMessage:
        session = self.session
        if session is not None and type(input) is list and self.speaks_script:
            answer: AIMessage = session.model_called(input)
            return answer
        prompt: PromptValue = self._convert_input(input)
        return self._answer(prompt.to_messages(), synchronous=synchronous)
