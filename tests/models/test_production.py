"""The article's production system, rule by rule, on the folded history."""

from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, Requested
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import ChangeState, ToolRound, UserMessage, UserTurn
from sixfold.models.production import CANVAS, ENVELOPE, FOLD, METADATA, THRESHOLD

from ..helpers import agent_of, scenario_of

FAILING = (Fault("raise", "source", for_good=True),)


def requests_of(scenario: Scenario) -> list[Requested]:
    records = play(agent_of(CANVAS), scenario).history.records
    return [record for record in records if isinstance(record, Requested)]


def folds_of(candidate: object, scenario: Scenario) -> list[Fold]:
    records = play(agent_of(candidate), scenario).history.records  # type: ignore[arg-type]
    return [record for record in records if isinstance(record, Fold)]


def test_p1_every_request_shows_the_canvas_as_it_is_now() -> None:
    first, second = requests_of(scenario_of(UserTurn(), ChangeState(), UserTurn()))
    assert "⟦s1⟧" in first.system
    assert "⟦s2⟧" in second.system
    assert "⟦s1⟧" not in second.system


def test_p1_a_failed_read_is_said_and_the_last_snapshot_follows() -> None:
    last = requests_of(scenario_of(UserTurn(), ChangeState(), UserTurn(faults=FAILING)))[-1]
    assert "may be stale" in last.system
    assert "⟦s1⟧" in last.system


def test_p2_the_envelope_stands_in_the_message_it_came_with() -> None:
    state = folds_of(ENVELOPE, scenario_of(UserTurn(), UserTurn()))[-1].state
    words = [view for view in state if view.role == "human"]
    assert [view.id for view in words] == ["u1", "u2"]
    assert all(view.text.endswith("<attachments>1 file</attachments>") for view in words)


def test_p3_late_metadata_changes_neither_id_nor_place_nor_words() -> None:
    folds = folds_of(METADATA, scenario_of(UserTurn(), UserTurn()))
    before = next(fold for fold in folds if fold.by == "model")
    after = next(fold for fold in folds if fold.by.endswith("after_agent"))
    assert [view.id for view in after.state] == [view.id for view in before.state]
    assert after.state[0].text == before.state[0].text
    assert "file_size" in after.state[0].extra


def test_p4_finished_turns_become_one_record_and_the_current_turn_stays() -> None:
    turns = [UserTurn(rounds=(ToolRound(),)) for _ in range(3)]
    state = folds_of(FOLD, scenario_of(*turns))[-1].state
    records = [view for view in state if view.name == "record"]
    assert len(records) == 1
    assert {"u1", "a1", "u2", "a2"} <= set(records[0].mentions.utterances)
    assert state[1].says == "u3"


def test_p4_a_stored_record_is_never_touched_again() -> None:
    turns = [UserTurn(rounds=(ToolRound(),)) for _ in range(8)]
    folds = folds_of(FOLD, scenario_of(*turns))
    texts: dict[str, str] = {}
    for fold in folds:
        for view in fold.state:
            if view.name == "record":
                assert texts.setdefault(str(view.id), view.text) == view.text
    assert len(texts) > 1


def test_p4_long_words_are_clipped() -> None:
    long = UserTurn(messages=(UserMessage(words=200),))
    state = folds_of(FOLD, scenario_of(long, *[UserTurn()] * (THRESHOLD // 2)))[-1].state
    [record] = [view for view in state if view.name == "record"]
    line = next(line for line in record.text.splitlines() if "⟦u1⟧" in line)
    assert len(line) == len("- user: ") + 300
