"""`sixfold import`: turn real histories into scenarios, and play them on targets."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..harness.checkpoints import Unread, from_checkpoints, is_database
from ..harness.checkpoints_postgres import from_postgres
from ..harness.errors import SixfoldError
from ..harness.foreign import Conversation, from_dump
from ..harness.harmless import harmless
from ..harness.postgres_url import is_url, read_url
from ..harness.redaction import Redaction
from ..harness.retelling import Retold
from ..harness.run_folder import write_together
from ..harness.scenario import Scenario, to_json
from ..reports.terminal import say
from .console import console
from .given import Given
from .run import run_command


def import_command(
    source: str,
    *,
    thread: str | None,
    redact: bool,
    into: Path | None,
    targets: Sequence[str],
    timeout: float,
    isolated: bool,
    report_dir: Path,
) -> None:
    """Write a scenario for each conversation in a file, or in the PostgreSQL database of a URL.

    With targets, play them and shrink what fails.
    """
    place, name, read = _reader(source)
    try:
        conversations, skipped = read(thread)
    except SixfoldError as error:
        if not redact:
            raise
        remedy = "Import without --redact to see where, and what helps."
        raise SixfoldError(error.cause, place=place, remedy=remedy) from error
    told = [conversation.retold() for conversation in conversations]
    folder = into or Path(".sixfold/imported") / _slug(name)
    out = console(sys.stdout)
    hidden = Redaction()
    scenarios: list[Scenario] = []
    files: dict[Path, str] = {}
    for number, (conversation, retold) in enumerate(zip(conversations, told, strict=True), 1):
        label = f"conversation {number}" if redact else conversation.name
        stem = f"{number:04}" if redact else f"{number:04}-{_slug(conversation.name)}"
        file = folder / f"{stem}.json" if retold.scenario.steps else None
        if file is not None:
            files[file] = to_json(retold.scenario)
            scenarios.append(retold.scenario)
        if redact:
            files[folder / f"{stem}.redacted.json"] = _dump(hidden.messages(list(conversation.messages)))
        _show(out, label, conversation, retold, file)
    for unread in skipped:
        who = "a thread" if redact else harmless(unread.thread, 100)
        out.print(Text(f"not read: {who}: {harmless(unread.cause, 300)}", style="yellow"))
    write_together(files)
    if not scenarios:
        raise SixfoldError(
            "no conversation has a message of the user",
            place=place,
            remedy="Import other conversations.",
        )
    if targets:
        distinct = list(dict.fromkeys(scenarios))
        say(out, f"playing {len(distinct)} distinct scenarios on {', '.join(map(harmless, targets))}")
        run_command(
            list(targets),
            seed=0,
            max_histories=len(distinct),
            budget=None,
            invariants=(),
            report_dir=report_dir,
            output_format="terminal",
            timeout=timeout,
            isolated=isolated,
            generate=Given(distinct),
        )


_Found = tuple[list[Conversation], list[Unread]]


def _reader(source: str) -> tuple[str, str, Callable[[str | None], _Found]]:
    """Return the place as it may be shown, a name for files, and what reads all threads or one."""
    if is_url(source):
        url = read_url(source)
        return url.place, url.database, partial(from_postgres, url)
    path = Path(source)
    return source, path.stem, partial(_read_file, path)


def _read_file(path: Path, thread: str | None = None) -> _Found:
    if not path.is_file():
        raise SixfoldError("there is no such file", place=str(path), remedy="Give a JSON file or a database.")
    if is_database(path):
        return from_checkpoints(path, thread)
    found = from_dump(path)
    chosen = [each for each in found if thread is None or each.name == thread]
    if not chosen:
        names = ", ".join(each.name for each in found[:5])
        raise SixfoldError(f"there is no thread {thread!r}", place=str(path), remedy=f"There are {names}, …")
    return chosen, []


def _show(out: Console, label: str, conversation: Conversation, retold: Retold, file: Path | None) -> None:
    out.print(Text(harmless(label, 100), style="bold"))
    counts = f"{retold.messages} messages, {retold.turns} turns, {retold.calls} tool calls"
    say(out, f"{counts} → {harmless(str(file), 400) if file else 'nothing to play'}", 2)
    for line in (*conversation.remarks, *retold.lost):
        say(out, f"not expressed: {harmless(line, 200)}", 2)


def _dump(messages: list[object]) -> str:
    return json.dumps({"messages": messages}, ensure_ascii=False, indent=2) + "\n"


def _slug(name: str) -> str:
    """Return a name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "unnamed"
