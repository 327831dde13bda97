"""The article's production system, rule by rule, on the folded history."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from sixfold.harness.faults import Fault
from sixfold.harness.history import Fold, Requested
from sixfold.harness.play import play
from sixfold.harness.scenario import Scenario
from sixfold.harness.steps import ChangeState, ToolRound, UserMessage, UserTurn
from sixfold.models.production import (
    CANVAS,
    ENVELOPE,
    FOLD,
    METADATA,
    PRODUCTION,
    THRESHOLD,
    record_of,
    replayed,
)
from sixfold.models.production_flaws import FLAWS

from ..helpers import agent_of, codes, scenario_of

FAILING = (Fault("raise", "source", for_good=True),)


def requests_of(scenario: Scenario) -> list[Requested]:
    records = play(agent_of(CANVAS), scenario).history.records
    return [record for record in records if isinstance(record, Requested)]


def folds_of(candidate: object, scenario: Scenario) -> list[Fold]:
    records = play(agent_of(candidate), scenario).history.records  # type: ignore[arg-type]
    return [record for record in records if isinstance(record, Fold)]


def test_production_P1_every_request_shows_the_canvas_as_it_is_now() -> None:
    first, second = requests_of(scenario_of(UserTurn(), ChangeState(), UserTurn()))
    assert "⟦s1⟧" in first.system
    assert "⟦s2⟧" in second.system
    assert "⟦s1⟧" not in second.system


def test_production_P1_a_failed_read_is_said_and_the_last_snapshot_follows() -> None:
    last = requests_of(scenario_of(UserTurn(), ChangeState(), UserTurn(faults=FAILING)))[-1]
    assert "may be stale" in last.system
    assert "⟦s1⟧" in last.system


def test_production_P2_the_envelope_stands_in_the_message_it_came_with() -> None:
    state = folds_of(ENVELOPE, scenario_of(UserTurn(), UserTurn()))[-1].state
    words = [view for view in state if view.role == "human"]
    assert [view.id for view in words] == ["u1", "u2"]
    assert all(view.text.endswith("<attachments>1 file</attachments>") for view in words)


def test_production_P2_the_envelope_is_off_where_the_message_is_told_anew() -> None:
    text = HumanMessage("hello\n<attachments>1 file</attachments>", additional_kwargs={"envelope": True})
    block = {"type": "text", "text": "<attachments>1 file</attachments>"}
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    blocks = HumanMessage([picture, block], additional_kwargs={"envelope": True})
    quoted = HumanMessage("what is\n<attachments>1 file</attachments>")
    assert replayed(text).content == "hello"
    assert replayed(blocks).content == [picture]
    assert replayed(quoted) is quoted


def test_production_P2_the_record_holds_the_users_words_without_envelopes() -> None:
    turns = [UserTurn(rounds=(ToolRound(),)) for _ in range(3)]
    state = folds_of(PRODUCTION, scenario_of(*turns))[-1].state
    [record] = [view for view in state if view.name == "record"]
    assert "⟦u1⟧" in record.text
    assert "<attachments>" not in record.text


def test_production_P3_late_metadata_changes_neither_id_nor_place_nor_words() -> None:
    folds = folds_of(METADATA, scenario_of(UserTurn(), UserTurn()))
    before = next(fold for fold in folds if fold.by == "model")
    after = next(fold for fold in folds if fold.by.endswith("after_agent"))
    assert [view.id for view in after.state] == [view.id for view in before.state]
    assert after.state[0].text == before.state[0].text
    assert "file_size" in after.state[0].extra


def test_production_P4_finished_turns_become_one_record_and_the_current_turn_stays() -> None:
    turns = [UserTurn(rounds=(ToolRound(),)) for _ in range(3)]
    state = folds_of(FOLD, scenario_of(*turns))[-1].state
    records = [view for view in state if view.name == "record"]
    assert len(records) == 1
    assert {"u1", "a1", "u2", "a2"} <= set(records[0].mentions.utterances)
    assert state[1].says == "u3"


def test_production_P4_a_stored_record_is_never_touched_again() -> None:
    turns = [UserTurn(rounds=(ToolRound(),)) for _ in range(8)]
    folds = folds_of(FOLD, scenario_of(*turns))
    texts: dict[str, str] = {}
    for fold in folds:
        for view in fold.state:
            if view.name == "record":
                assert texts.setdefault(str(view.id), view.text) == view.text
    assert len(texts) > 1


def test_production_P4_the_record_goes_turn_by_turn() -> None:
    call = {"name": "lookup", "args": {}, "id": "c1", "type": "tool_call"}
    first = [HumanMessage("one"), AIMessage("", tool_calls=[call]), ToolMessage("got", tool_call_id="c1")]
    text = record_of([*first, AIMessage("done"), HumanMessage("two"), AIMessage("x" * 700)])
    assert text.splitlines() == [
        "Record of earlier turns:",
        "Turn:",
        "- user: one",
        "- agent: ",
        "- tool: got",
        "- agent: done",
        "Turn:",
        "- user: two",
        "- agent: " + "x" * 600,
    ]


def test_production_P4_the_same_turns_give_the_same_bytes() -> None:
    turns = [UserTurn(rounds=(ToolRound(),)) for _ in range(3)]
    states = [folds_of(FOLD, scenario_of(*turns))[-1].state for _ in range(2)]
    assert states[0] == states[1]


def test_production_P4_up_to_the_threshold_nothing_is_folded() -> None:
    turns = [UserTurn()] * (THRESHOLD // 2)
    assert not [v for v in folds_of(FOLD, scenario_of(*turns))[-1].state if v.name == "record"]


def test_production_P4_long_words_are_clipped() -> None:
    long = UserTurn(messages=(UserMessage(words=200),))
    state = folds_of(FOLD, scenario_of(long, *[UserTurn()] * (THRESHOLD // 2)))[-1].state
    [record] = [view for view in state if view.name == "record"]
    line = next(line for line in record.text.splitlines() if "⟦u1⟧" in line)
    assert len(line) == len("- user: ") + 300


def test_production_P1_a_canvas_that_looks_empty_after_a_failed_read_is_found() -> None:
    [empty] = [flaw for flaw in FLAWS if flaw.candidate.name == "production-empty-canvas"]
    scenario = scenario_of(UserTurn(), UserTurn(faults=FAILING))
    assert "1.state-missing" in codes(empty.candidate, scenario)
    assert not codes(CANVAS, scenario)
