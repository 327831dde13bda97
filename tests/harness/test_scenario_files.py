"""Scenario files: damage is refused with every problem that it has, never with another error."""

import json
from pathlib import Path
from typing import Any

import pytest

from sixfold.harness.errors import ExitCode, ScenarioFileError
from sixfold.harness.scenario import SCHEMA_VERSION, Scenario, from_json, load, to_json, to_line
from sixfold.harness.steps import UserMessage, UserTurn
from sixfold.strategies.scenarios import explore

TURN = {"kind": "user_turn"}


def file(*steps: Any, version: Any = SCHEMA_VERSION, **more: Any) -> str:
    return json.dumps({"sixfold_scenario": version, "steps": list(steps), **more})


def turn_with(**fault: Any) -> dict[str, Any]:
    return {"kind": "user_turn", "faults": [{"kind": "skip", "at": "before_agent", **fault}]}


DAMAGED = {
    "empty": ("", ["not valid JSON"]),
    "cut off": (file(TURN)[:-5], ["not valid JSON"]),
    "too deep": ("[" * 100_000, ["not valid JSON"]),
    "a number too long to read": (file(TURN).replace('"user_turn"', "9" * 5000), ["JSON"]),
    "a list": ("[]", ["sixfold_scenario"]),
    "null": ("null", ["sixfold_scenario"]),
    "no version": ('{"steps": []}', ["sixfold_scenario"]),
    "version is text": (file(version="1"), ["'1'"]),
    "version is a flag": (file(version=True), ["True"]),
    "version below one": (file(version=0), ["0"]),
    "future version": (file(version=SCHEMA_VERSION + 1), ["future", str(SCHEMA_VERSION + 1)]),
    "no steps": ('{"sixfold_scenario": 1}', ["steps"]),
    "steps are no list": ('{"sixfold_scenario": 1, "steps": {}}', ["steps"]),
    "unknown step": (file({"kind": "explode"}), ["steps.0", "explode"]),
    "step without kind": (file({}), ["steps.0", "kind"]),
    "step is text": (file("user_turn"), ["steps.0"]),
    "unknown key": (file(TURN, {**TURN, "mood": "bad"}), ["steps.1", "mood"]),
    "unknown key at the top": (file(TURN, author="me"), ["author"]),
    "wrong type": (file({**TURN, "reply_words": "2"}), ["reply_words"]),
    "fraction": (file({"kind": "advance_clock", "minutes": 1.5}), ["minutes"]),
    "flag for a number": (file({"kind": "advance_clock", "minutes": True}), ["minutes"]),
    "below its range": (file({"kind": "advance_clock", "minutes": -5_256_001}), ["minutes"]),
    "no turns ago": (file({"kind": "rewind", "turns_ago": 0}), ["turns_ago"]),
    "unknown arrangement": (file({"kind": "load_turn", "arrangement": "upside_down"}), ["arrangement"]),
    "unknown summary": (file(turn_with(summary="good")), ["faults", "summary"]),
    "above its range": (file({**TURN, "reply_words": 10_001}), ["reply_words"]),
    "no message": (file({**TURN, "messages": []}), ["messages"]),
    "no call": (file({**TURN, "rounds": [{"calls": []}]}), ["rounds", "calls"]),
    "unknown fault": (file(turn_with(kind="explode")), ["faults", "kind"]),
    "unknown place": (file(turn_with(at="nowhere")), ["faults", "at"]),
    "negative call": (file(turn_with(nth=-1)), ["nth"]),
    "not a finite number": (file({**TURN, "reply_words": float("nan")}), ["reply_words"]),
    "two problems in one step": (file({**TURN, "reply_words": -1, "mood": 1}), ["reply_words", "mood"]),
    "problems in two steps": (file({"kind": "explode"}, {**TURN, "mood": 1}), ["steps.0", "steps.1"]),
    "problems in a step and at the top": (file({**TURN, "mood": 1}, author="me"), ["mood", "author"]),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_is_refused_with_every_problem(damage: str) -> None:
    text, problems = DAMAGED[damage]
    with pytest.raises(ScenarioFileError) as raised:
        from_json(text, place="some/file.json")
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.place == "some/file.json"
    assert raised.value.remedy
    for problem in problems:
        assert problem in raised.value.cause


def test_smallest_file_is_an_empty_scenario() -> None:
    assert from_json(file()) == Scenario()


def test_defaults_may_be_left_out() -> None:
    assert from_json(file(TURN)) == from_json(file({**TURN, "rounds": [], "messages": [{"words": 2}]}))


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"\xef\xbb\xbf{}"])
def test_unreadable_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "scenario.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ScenarioFileError) as raised:
        load(path)
    assert raised.value.place == str(path)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError):
        load(tmp_path)


def test_a_line_is_read_as_the_file_is() -> None:
    scenarios = [Scenario(), Scenario((UserTurn(messages=(UserMessage(name="\ud800 \u2028\n"),)),))]
    explore(scenarios.append, seed=0, count=60)
    for scenario in scenarios:
        line = to_line(scenario)
        assert line.isascii()
        assert "\n" not in line
        assert json.loads(line) == json.loads(to_json(scenario))
