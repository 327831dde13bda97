"""Runs to write reports of: a real one, and one in which everything that others wrote is hostile."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.events import Options
from sixfold.harness.run_folder import RunFolder, write_atomically
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.reports.event_lines import FILE, EventLines

from ..helpers import explore

SCHEMAS = Path(__file__).parent / "schemas"
DOCUMENTED = Path(__file__).resolve().parents[2] / "docs" / "schemas"

HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)> & ]]> --> \"'",
    "mentions": "@everyone @octocat #123 GH-123 deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "markdown": "# head\n\n| a | b |\n[link](javascript:alert(1)) ![x](http://127.0.0.1/x) **b** <details>",
    "bars": "a | b \\| c \\\\| d |\n|---|\n",
    "ticks": "`one` ``two`` ```three\n```\n~~~\n````",
    "escapes": "\x1b[31mred\x1b]0;title\x07\x1b[2J\r\n\x00\x08\x7f\x9b31m",
    "bidi": "a\u202ecod.exe\u2066\u2069\u200f\u200b\u2028\u2029\ufeff",
    "formula": '=HYPERLINK("http://127.0.0.1","x")\n+1\n-1\n@SUM(1)\t=1',
    "command": "x\n::error file=a,line=1::injected\n::add-mask::secret%0A::stop-commands::t",
    "placeholders": "{0} {{1}} %s %n ${x} {{ 7*7 }} {% raw %}",
    "shell": "x; touch pwned $(touch pwned) `touch pwned` 'q' \"q\" && true\\",
    "surrogates": "\ud800 lone \udfff \udc80 and \U0001f600 \ufffe \uffff",
    "long": "x" * 1_000_000,
    "long-lines": "a\n" * 500_000,
    "path": "../../../etc/x y%20:1,2.py:Name",
    "empty": "",
}

#: Very long text stands in the first fields of a history only, or reading it would take minutes.
_ENOUGH = 5_000_000

_WRITTEN_BY_OTHERS = {"id", "text", "name", "error", "extra", "system", "answers"}


def saved(base: Path) -> Path:
    """Run a campaign that finds something, and return its folder."""
    folder = RunFolder(base, "run")
    followers = [folder, EventLines.to_file(folder.path / FILE, place="test")]
    Campaign([DEERFLOW, DEERFLOW_4667], Options(max_histories=40), followers).run(explore)
    return folder.path


def made_hostile(source: Path, text: str, to: Path) -> Path:
    """Copy a run folder, with `text` wherever a candidate, a model, a tool or a user may have written."""
    shutil.copytree(source, to)
    data = json.loads((to / "verdicts.json").read_text(encoding="utf-8"))
    data["findings"] = data["findings"][:3]
    for candidate in data["candidates"]:
        candidate |= {"name": _after(candidate["name"], text), "target": text, "source": text}
        candidate |= {"unreached": [text], "disagreement": {"reason": text, "scenario": text}}
        candidate["violations"] = candidate["waivers"] = candidate["reached"] = {text: 1}
    for finding in data["findings"]:
        finding |= {"candidate": _after(finding["candidate"], text), "detail": text, "by": text}
        finding |= {"held_by": [text], "members": [text]}
        history = to / finding["history"]
        records = json.loads(history.read_text(encoding="utf-8"))
        _write(history, _replaced(records, iter([text] * (_ENOUGH // max(1, len(text))))))
    data["versions"] = {"langchain": text, _after("x", text): "1"}
    _write(to / "verdicts.json", data)
    return to


def _after(name: str, text: str) -> str:
    return f"{name} {text}"


def _write(path: Path, data: Any) -> None:
    write_atomically(path, json.dumps(data, ensure_ascii=False))


def _replaced(value: Any, texts: Iterator[str]) -> Any:
    if isinstance(value, list):
        return [_replaced(item, texts) for item in value]
    if not isinstance(value, dict):
        return value
    told = {
        key: next(texts, item)
        if key in _WRITTEN_BY_OTHERS and isinstance(item, str)
        else _replaced(item, texts)
        for key, item in value.items()
    }
    if isinstance(told.get("by"), str) and "." in told["by"]:
        told["by"] = f"Hook.{next(texts, '')}"
    if isinstance(told.get("calls"), list):
        told["calls"] = [next(texts, "call")]
    return told


def validator(schema: dict[str, Any], **more: Any) -> Any:
    """Return a JSON Schema validator; the test is skipped where the package is missing."""
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `dev` is not installed")
    return jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER, **more
    )


def closed(schema: Any) -> Any:
    """Return a schema that refuses what it does not name: nothing may be written without being documented."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    told = {key: closed(item) for key, item in schema.items()}
    if told.get("type") == "object" and "properties" in told and "additionalProperties" not in told:
        told["unevaluatedProperties"] = False
    return told
