"""Adapters for installed packages: loaded when asked for, with a clear error when a package is missing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from langchain.agents import middleware

from ..harness.candidate import Candidate
from ..harness.errors import TargetError


def source(package: str, symbol: str) -> str:
    """Return where an adapted class comes from: package, version, class."""
    return f"{package} {version(package)} {symbol}, installed"


@dataclass(frozen=True, slots=True)
class Adapter:
    """The loader of an adapter: a module of this folder that imports `symbol` of `package`.

    `name` is the candidate's, `extra` the extra of Sixfold that brings the package (empty: Sixfold
    needs it anyway).
    """

    name: str
    module: str
    package: str
    symbol: str
    extra: str = ""

    @property
    def installed(self) -> bool:
        """Tell whether the package is installed and, of LangChain, has the class. Imports nothing else."""
        try:
            version(self.package)
        except PackageNotFoundError:
            return False
        return self.package != "langchain" or hasattr(middleware, self.symbol)

    @property
    def source(self) -> str:
        """Where the adapted class comes from, or what to install to have it. Imports nothing."""
        return source(self.package, self.symbol) if self.installed else f"not installed: {self._remedy()}"

    def __call__(self) -> Candidate:
        """Return the candidate. Raises `TargetError`, with what to install, when its package is missing."""
        if not self.installed:
            raise TargetError(
                f"{self.name} needs {self.symbol} of the package {self.package}, which is not installed",
                place=self.name,
                remedy=self._remedy(),
            )
        try:
            module = import_module(f".{self.module}", __package__)
        except ImportError as error:
            has = f"{self.package} {version(self.package)}"
            raise TargetError(
                f"{has} has no {self.symbol} as this adapter knows it: {error}",
                place=self.name,
                remedy=self._remedy(),
            ) from error
        return next(c for c in vars(module).values() if isinstance(c, Candidate) and c.name == self.name)

    def _remedy(self) -> str:
        if self.extra:
            return f"pip install 'sixfold[{self.extra}]', or pip install --upgrade {self.package}"
        return f"pip install --upgrade {self.package}"


#: Adapters for the middleware of LangChain itself, and for a function of its core.
LANGCHAIN: tuple[Adapter, ...] = (
    Adapter("langchain.todo", "langchain_todo", "langchain", "TodoListMiddleware"),
    Adapter("langchain.tool_call_limit", "langchain_limits", "langchain", "ToolCallLimitMiddleware"),
    Adapter("langchain.model_call_limit", "langchain_limits", "langchain", "ModelCallLimitMiddleware"),
    Adapter("langchain.pii", "langchain_pii", "langchain", "PIIMiddleware"),
    *(
        Adapter(name, "langchain_human_in_the_loop", "langchain", "HumanInTheLoopMiddleware")
        for name in (
            "langchain.human_approves",
            "langchain.human_edits",
            "langchain.human_rejects",
            "langchain.human_decides",
        )
    ),
    Adapter("langchain.model_fallback", "langchain_model_fallback", "langchain", "ModelFallbackMiddleware"),
    Adapter("langchain.model_retry", "langchain_model_retry", "langchain", "ModelRetryMiddleware"),
    Adapter("langchain.tool_retry", "langchain_tool_retry", "langchain", "ToolRetryMiddleware"),
    Adapter("langchain_core.trim_messages", "langchain_core_trim", "langchain-core", "trim_messages"),
)

#: Adapters for what the extra `real` brings.
REAL: tuple[Adapter, ...] = (
    Adapter(
        "deepagents.summarization",
        "deepagents_summarization",
        "deepagents",
        "SummarizationMiddleware",
        "real",
    ),
    Adapter(
        "deepagents.patch_tool_calls", "deepagents_patch", "deepagents", "PatchToolCallsMiddleware", "real"
    ),
    Adapter("deepagents.memory", "deepagents_memory", "deepagents", "MemoryMiddleware", "real"),
    Adapter("deepagents.filesystem", "deepagents_filesystem", "deepagents", "FilesystemMiddleware", "real"),
    Adapter("deepagents.create_deep_agent", "deepagents_agent", "deepagents", "create_deep_agent", "real"),
    Adapter("langmem.summarization", "langmem_summarization", "langmem", "SummarizationNode", "real"),
)
