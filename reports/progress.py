"""Progress bars: of a run (histories, distinct failures), and of stand-alone files that are being run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..harness.events import Event, Progressed, RunStarted, Stage


class ProgressBar:
    """A listener that draws a bar on `console` while its `with` block runs."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("histories, {task.fields[distinct]} distinct failures"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=None, distinct=0)

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        """Follow the run."""
        match event:
            case RunStarted(options=options):
                self._progress.update(self._task, total=options.max_histories)
            case Progressed(histories=histories, of=of, distinct=distinct):
                self._progress.update(self._task, completed=histories, total=of, distinct=distinct)
            case Stage(name=name):
                self._progress.update(self._task, description=name)
            case _:
                pass


@contextmanager
def counting(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    """Draw a bar on `console` while the block runs, if it is a terminal; yields what moves it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)
