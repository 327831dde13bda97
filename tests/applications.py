"""A real `create_agent` application with a scripted model, and its checkpoints as langgraph-checkpoint-sqlite
stores them (tables and serialiser of version 3.1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

TABLES = """
    CREATE TABLE checkpoints (
        thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
    CREATE TABLE writes (
        thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL,
        channel TEXT NOT NULL, type TEXT, value BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""


@tool
def find_invoice(customer: str) -> str:
    """Find the invoice of a customer."""
    return f"confidential invoice of {customer}"


class _Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def _answers() -> Iterator[AIMessage]:
    number = 0
    while True:
        number += 1
        call = {"name": "find_invoice", "args": {"customer": "Hofstadter"}, "id": f"call-{number}"}
        yield AIMessage("looking it up", tool_calls=[{**call, "type": "tool_call"}])
        yield AIMessage("the invoice is overdue")


def talk(saver: BaseCheckpointSaver[Any], threads: int, *, two_messages_in: int) -> None:
    """Hold two turns in each thread; in one of them the user sends two messages at once."""
    agent = create_agent(_Model(messages=_answers()), tools=[find_invoice], checkpointer=saver)
    for thread in range(threads):
        for turn in range(2):
            words = [{"role": "user", "content": f"please find confidential invoice {turn}"}]
            if thread == two_messages_in and turn == 0:
                words.append({"role": "user", "content": "and quickly"})
            agent.invoke({"messages": words}, {"configurable": {"thread_id": f"thread-{thread}"}})


def rows(saver: InMemorySaver, threads: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that the SQLite saver would have written."""
    serialiser = JsonPlusSerializer()
    for thread in range(threads):
        for item in saver.list({"configurable": {"thread_id": f"thread-{thread}"}}):
            kind, stored = serialiser.dumps_typed(item.checkpoint)
            yield (f"thread-{thread}", "", item.checkpoint["id"], None, kind, stored, b"{}")


def write(path: Path, stored: Sequence[tuple[Any, ...]]) -> Path:
    """Write rows of `checkpoints` to a new database."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
        database.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", stored)
        database.commit()
    return path


def application(path: Path, threads: int, *, two_messages_in: int = -1) -> Path:
    """Let the application run in memory and store what it leaves."""
    saver = InMemorySaver()
    talk(saver, threads, two_messages_in=two_messages_in)
    return write(path, list(rows(saver, threads)))


def row(kind: str, stored: bytes, thread: str = "evil") -> tuple[Any, ...]:
    """Return a row with given bytes."""
    return (thread, "", "1", None, kind, stored, b"{}")
