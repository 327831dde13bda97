"""What people see, compared with stored text, character by character.

After a change on purpose, write the texts anew and read the difference before you keep it:

    SIXFOLD_UPDATE_SNAPSHOTS=1 .venv/bin/pytest tests/snapshots && git diff tests/snapshots
"""

import io
import os
from pathlib import Path

from rich.console import Console

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Options
from sixfold.harness.faults import Fault
from sixfold.harness.play import play
from sixfold.harness.steps import (
    AdvanceClock,
    ChangeState,
    EditMessage,
    Restart,
    ToolCall,
    ToolRound,
    UserTurn,
)
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.models.langchain_summarization import CANDIDATE as SUMMARIZATION
from sixfold.reports.picture import timeline
from sixfold.reports.terminal import print_result

from ..helpers import agent_of, explore, scenario_of

FOLDER = Path(__file__).parent
WIDTH = 80


def assert_snapshot(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("SIXFOLD_UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def printed_run() -> str:
    result = Campaign([DEERFLOW, DEERFLOW_4667], Options(seed=0, max_histories=40)).run(explore)
    console = Console(
        file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False
    )
    print_result(console, result, replay="sixfold replay .sixfold/runs/latest")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_terminal_report() -> None:
    assert_snapshot("run.txt", printed_run())


def test_terminal_report_keeps_to_its_width() -> None:
    assert [line for line in printed_run().splitlines() if len(line) > WIDTH] == []


def test_picture_of_4667() -> None:
    story = scenario_of(UserTurn(faults=(Fault("skip", "before_agent"),)), UserTurn())
    history = play(agent_of(DEERFLOW_4667), story).history
    assert_snapshot("picture-4667.txt", drawn(timeline(history)))


def test_picture_of_a_compaction() -> None:
    story = scenario_of(
        UserTurn(rounds=(ToolRound(calls=(ToolCall(), ToolCall())),)),
        AdvanceClock(),
        ChangeState(),
        Restart(),
        EditMessage(),
        UserTurn(faults=(Fault("raise", "summariser"),)),
        UserTurn(),
    )
    history = play(agent_of(SUMMARIZATION), story).history
    assert_snapshot("picture-compaction.txt", drawn(timeline(history)))


def drawn(rows: list[tuple[str, str, int]]) -> str:
    return "".join(f"{index:>3} {who}: {what}\n" for who, what, index in rows)
