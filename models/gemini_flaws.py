"""Naive variants of Gemini CLI's compression: what its split point and its two refusals avoid.

None of them is a public bug of Gemini CLI; each is what one writes first, on an otherwise correct system.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from .flaws import Flaw
from .gemini import GEMINI, SHARE_TO_COMPRESS, Compression, GeminiCompression, candidate, is_context
from .gemini_history import Content, find_split_point, is_prompt, size_of


class CutAnywhere(GeminiCompression):
    """Cuts where the share is reached, whatever item stands there."""

    def split(self, contents: Sequence[Content]) -> int:
        """Return the first index with the share before it."""
        wanted = sum(map(size_of, contents)) * SHARE_TO_COMPRESS
        before = 0
        for index, content in enumerate(contents):
            if before >= wanted:
                return index
            before += size_of(content)
        return len(contents)


class OpenCallMayGo(GeminiCompression):
    """Lets everything go where no prompt has the share before it, also while a call waits for its result."""

    def split(self, contents: Sequence[Content]) -> int:
        """Return the split point, without a look at what the history ends with."""
        split = find_split_point(contents, SHARE_TO_COMPRESS)
        before = sum(map(size_of, contents[:split]))
        reached = before >= sum(map(size_of, contents)) * SHARE_TO_COMPRESS
        return split if reached and is_prompt(contents[min(split, len(contents) - 1)]) else len(contents)


class EmptySnapshotCommitted(GeminiCompression):
    """Puts the summariser's first answer in the place of the history, without a look at it."""

    def snapshot(self, plan: Compression) -> str:
        """Return the first answer."""
        return str(self.environment.model.invoke(self.first_request(plan)).text)

    async def asnapshot(self, plan: Compression) -> str:
        """Return the first answer."""
        return str((await self.environment.model.ainvoke(self.first_request(plan))).text)

    def is_useless(self, snapshot: str) -> bool:
        """Say that every snapshot will do."""
        return False


class ContextLost(GeminiCompression):
    """Puts the environment context in at the beginning of a session only, and not in front of a snapshot."""

    def restored(self, front: list[BaseMessage]) -> list[BaseMessage]:
        """Return what stands in front, without the context."""
        return [message for message in front if not is_context(message)]


def _flaw(name: str, cls: type[GeminiCompression], what: str, *codes: str) -> Flaw:
    return Flaw(
        candidate=candidate(f"gemini-{name}", cls, f"; {what}"),
        correct=GEMINI,
        codes=codes,
        origin=f"naive variant: {what}",
    )


FLAWS = (
    _flaw(
        "cut-inside-turn",
        CutAnywhere,
        "the cut falls where the share is reached, not on a prompt",
        "4.question-lost",
    ),
    _flaw(
        "open-call",
        OpenCallMayGo,
        "everything may go although a tool call is open",
        "4.question-lost",
    ),
    _flaw(
        "empty-snapshot",
        EmptySnapshotCommitted,
        "an empty snapshot replaces the history",
        "5.failed-summary-committed",
    ),
    _flaw(
        "context-lost",
        ContextLost,
        "the environment context is not put in front again",
        "1.state-missing",
    ),
)
