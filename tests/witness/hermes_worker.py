"""Plays hermes-agent's own `ContextCompressor`, in the environment in which it is installed.

Each line of the standard input is a round as JSON, each line of the output what became of it. Nothing of
Sixfold is imported here. The auxiliary model is replaced by a script: it answers, fails, or answers nothing.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

from agent import context_compressor

ANSWER = "SCRIPTED SUMMARY"

Message = dict[str, Any]


class Played:
    """One session of the real compressor; `_i` names the messages and survives all that it does to them."""

    def __init__(self, options: dict[str, Any], failure: str) -> None:
        self.compressor = context_compressor.ContextCompressor(model="witness", quiet_mode=True, **options)
        self.failure = failure
        self.messages: list[Message] = []
        self.asked: dict[str, Any] | None = None
        self.generate = self.compressor._generate_summary
        self.compressor._generate_summary = self.summarise
        context_compressor.call_llm = self.answer

    def summarise(self, turns: list[Message], **options: Any) -> str | None:
        self.asked = {
            "turns": [turn.get("_i") for turn in turns],
            "previous": bool(self.compressor._previous_summary),
        }
        return self.generate(turns, **options)

    def answer(self, **_options: Any) -> Any:
        if self.failure == "error":
            raise RuntimeError("the model answered with nonsense")
        if self.failure == "network":
            raise ConnectionError("connection refused")
        content = "" if self.failure == "empty" else ANSWER
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=content))])

    def play(self, more: list[Message], name: str) -> dict[str, Any]:
        self.messages += more
        before = {message["_i"]: json.dumps(message.get("content")) for message in self.messages}
        self.asked = None
        try:
            result = self.compressor.compress(self.messages, force=True)
        except Exception as error:  # noqa: BLE001  whatever the compressor raises is an outcome
            return {"outcome": type(error).__name__, "asked": self.asked, "kept": []}
        made = self.compressor._last_compression_made_progress
        result = result if made else self.messages
        for message in result:
            message.setdefault("_i", name)
        self.messages = result
        return {
            "outcome": "compacted" if made else "unchanged",
            "asked": self.asked,
            "kept": [told(message, before) for message in result],
        }


def told(message: Message, before: dict[Any, str]) -> dict[str, Any]:
    """Tell what became of a message: its name, role, marks, calls, and whether its content changed."""
    content = json.dumps(message.get("content"))
    was = before.get(message["_i"])
    return {
        "name": message["_i"],
        "role": message["role"],
        "marked": bool(message.get(context_compressor.COMPRESSED_SUMMARY_METADATA_KEY)),
        "content": "new" if was is None else "same" if was == content else "changed",
        "calls": [call["id"] for call in message.get("tool_calls") or []],
    }


def speak(marks: dict[str, str]) -> None:
    """Let the real compressor use these words around a summary: their length counts in the tail.

    The line that it adds to a summary itself, the last request, is left out for the same reason.
    """
    for name, words in marks.items():
        assert hasattr(context_compressor, name), name
        setattr(context_compressor, name, words)
    if not marks:
        return
    context_compressor.ContextCompressor._ground_historical_task_snapshot = classmethod(
        lambda cls, summary, messages: summary
    )


def main() -> None:
    out, sys.stdout = sys.stdout, sys.stderr
    speak(json.loads(sys.stdin.readline()))
    session: Played | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "window" in asked:
            made = context_compressor.ContextCompressor(
                model="witness",
                quiet_mode=True,
                config_context_length=asked["window"],
                max_tokens=asked["output"] or None,
            )
            reply: dict[str, Any] = {"threshold": made.threshold_tokens, "tail": made.tail_token_budget}
        else:
            if "options" in asked:
                session = Played(asked["options"], asked["failure"])
            assert session is not None
            reply = session.play(asked["messages"], asked["name"])
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
