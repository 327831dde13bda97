"""Run folders for the proof: a real one, and one with many findings made from it."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import CONTROL
from sixfold.harness.events import Event, Found, Options, RunFinished, RunStarted
from sixfold.harness.history import Fold, History, Requested
from sixfold.harness.run_folder import RunFolder
from sixfold.harness.views import Views
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.models.langchain_context_editing import CANDIDATE as CONTEXT_EDITING
from sixfold.models.langchain_summarization import CANDIDATE as SUMMARIZATION
from sixfold.reports.stored_run import StoredRun
from sixfold.strategies.scenarios import explore

#: Ends a script, a style, a comment, an attribute; leads elsewhere; turns text around; and is far too long.
HOSTILE = (
    "</script></style>--><script>throw 1</script><img src=http://example.invalid/x onerror='throw 2'>"
    "\"' onload=throw(3) \u202egnp.x\u2028\ud800 {{ 7 * 7 }} " + "W" * 1_000_000
)

CANDIDATES = (CONTROL, DEERFLOW, DEERFLOW_4667, SUMMARIZATION, CONTEXT_EDITING)


def real_and_large(base: Path, *, findings: int) -> tuple[Path, Path]:
    """Fuzz the default candidates; return the run's folder, and that of a run with so many findings.

    The second has the findings of the first, over and over, each at a place of its own, so with an id of
    its own and with all its histories.
    """
    heard: list[Event] = []
    folder = RunFolder(base, "real")
    Campaign(list(CANDIDATES), Options(), [folder, heard.append]).run(explore)
    large = RunFolder(base, "large")
    [started] = [event for event in heard if isinstance(event, RunStarted)]
    [finished] = [event for event in heard if isinstance(event, RunFinished)]
    found = [event for event in heard if isinstance(event, Found)]
    assert found, "the run found nothing: there is nothing to show"
    many = [_elsewhere(event, number) for number, event in enumerate(islice(cycle(found), findings))]
    large(started)
    for event in many:
        large(event)
    large(RunFinished(replace(finished.result, findings=tuple(event.finding for event in many))))
    return folder.path, large.path


def _elsewhere(event: Found, number: int) -> Found:
    signature = event.finding.signature
    place = signature if number == 0 else replace(signature, by=f"{signature.by}, place {number}")
    return Found(replace(event.finding, signature=place), event.beside)


def poisoned(run: StoredRun) -> StoredRun:
    """Return the run with hostile text wherever a candidate or a model can write."""
    return replace(
        run,
        candidates=tuple(replace(each, name=HOSTILE, source=HOSTILE) for each in run.candidates),
        targets={HOSTILE: HOSTILE},
        findings=tuple(
            replace(
                finding,
                detail=HOSTILE,
                held_by=(HOSTILE, *finding.held_by),
                members=(HOSTILE,),
                history=_poisoned_history(finding.history),
            )
            for finding in run.findings
        ),
    )


def _poisoned_history(history: History) -> History:
    records = [
        record._replace(state=_poisoned_views(record.state))
        if isinstance(record, Fold)
        else record._replace(messages=_poisoned_views(record.messages))
        if isinstance(record, Requested)
        else record
        for record in history.records
    ]
    return History(HOSTILE, history.lane, records)


def _poisoned_views(views: Views) -> Views:
    return tuple(view._replace(id=f"{view.id}{HOSTILE}", text=HOSTILE) for view in views)
