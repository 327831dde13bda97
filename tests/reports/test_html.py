"""The HTML page: whole in itself, the same bytes each time, and nothing of a candidate in it but text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from sixfold.harness.campaign import Campaign
from sixfold.harness.candidate import CONTROL
from sixfold.harness.events import Options
from sixfold.harness.findings import Finding
from sixfold.harness.history import FaultFired, Fold, History, HookRan, Requested
from sixfold.harness.run_folder import RunFolder
from sixfold.harness.tokens import mentions
from sixfold.harness.views import View, Views
from sixfold.models.deerflow import DEERFLOW, DEERFLOW_4667
from sixfold.reports.html import NAME, files
from sixfold.reports.html_frames import Frame, Note, frames
from sixfold.reports.html_lanes import lane
from sixfold.reports.html_text import shown, wrapped
from sixfold.reports.stored_run import StoredRun, load_run

from ..helpers import explore

HOSTILE = (
    "</script></style></noscript>--><script>throw 1</script><img src=//example.invalid onerror='throw 2'>"
    "\"' onload=throw(3) \u202egnp.x \u2028 \ud800 \x1b[31m {{ 7 * 7 }} [link](http://x)" + "W" * 1_000_000
)

#: What a browser fetches or goes to by itself.
LOADING = {"src", "srcset", "poster", "data", "action", "formaction", "background", "ping", "xlink:href"}
VOID = {"meta", "input", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """The elements of a page, each with its attributes and the names of those around it, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self._open)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self._open)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes, _ in self.elements if name == tag)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    folder = RunFolder(tmp_path_factory.mktemp("runs"), "one")
    Campaign([CONTROL, DEERFLOW, DEERFLOW_4667], Options(max_histories=150), [folder]).run(explore)
    return load_run(folder.path)


@pytest.fixture(scope="module")
def text(run: StoredRun) -> str:
    return files(run)[NAME]


def poisoned(run: StoredRun) -> StoredRun:
    def views(old: Views) -> Views:
        return tuple(view._replace(id=f"{view.id}{HOSTILE}", text=HOSTILE) for view in old)

    def history(old: History) -> History:
        records = [
            record._replace(state=views(record.state), by=f"{record.by}{HOSTILE}")
            if isinstance(record, Fold)
            else record._replace(messages=views(record.messages))
            if isinstance(record, Requested)
            else record
            for record in old.records
        ]
        return History(HOSTILE, old.lane, records)

    def finding(old: Finding) -> Finding:
        return replace(
            old,
            signature=replace(old.signature, candidate=HOSTILE, by=HOSTILE),
            detail=HOSTILE,
            held_by=(HOSTILE,),
            members=(HOSTILE,),
            history=history(old.history),
        )

    hostile = tuple(map(finding, run.findings))
    return replace(
        run,
        versions={HOSTILE: HOSTILE},
        targets={HOSTILE: HOSTILE},
        findings=hostile,
        candidates=tuple(
            replace(each, name=HOSTILE, source=HOSTILE, disagreement=HOSTILE, unreached=(HOSTILE,))
            for each in run.candidates
        ),
        beside={new.id: run.beside[old.id] for old, new in zip(run.findings, hostile, strict=True)},
    )


def test_equal_folders_give_equal_bytes(run: StoredRun, text: str) -> None:
    assert files(load_run(run.path)) == {NAME: text}


def test_hostile_text_adds_no_element_and_no_attribute(run: StoredRun, text: str) -> None:
    hostile = files(poisoned(run))[NAME]
    assert len(hostile) < 4 * len(text)
    page = Page(hostile)
    known = Page(text)
    assert {name for name, _, _ in page.elements} == {name for name, _, _ in known.elements}
    assert sum(1 for _ in page.all("script")) == 1
    attributes = {name for _, found, _ in page.elements for name in found}
    assert attributes == {name for _, found, _ in known.elements for name in found}
    assert not {name for name in attributes if name.startswith("on") or name == "style"}
    assert "".join(page.words).count("<script>throw 1</script>") >= len(run.findings)
    assert "7 * 7" in hostile


def test_nothing_in_a_hostile_page_is_invisible(run: StoredRun) -> None:
    hostile = files(poisoned(run))[NAME]
    for unseen in ("\u202e", "\u2028", "\ud800", "\x1b"):
        assert unseen not in hostile
    assert "⟨U+202E⟩" in hostile
    assert "W" * 2_000 not in hostile


def test_the_page_loads_nothing(text: str) -> None:
    page = Page(text)
    for name, attributes, _ in page.elements:
        assert not LOADING & attributes.keys(), name
        assert name not in {"link", "iframe", "object", "embed", "img", "base"}
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r"https?:|//\w+\.", text)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(text: str) -> None:
    page = Page(text)
    [policy] = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for element in ("style", "script"):
        [body] = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert rules[f"{element}-src"] == f"'sha256-{digest}'"
    assert set(rules) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}


def test_every_finding_is_told_in_full(run: StoredRun, text: str) -> None:
    page = Page(text)
    words = "".join(page.words)
    found = [each["id"] for each in page.all("details") if each.get("class") == "finding"]
    assert found == [finding.id for finding in run.findings]
    assert found
    for finding in run.findings:
        assert finding.detail in words
        assert f"sixfold replay $RUN/scenarios/{finding.id}.json deerflow-4667" in words
    assert "skip: the hook did not run this time" in words
    assert "confirmed in create_agent" in words


def test_the_page_can_be_walked_by_ear(text: str) -> None:
    page = Page(text)
    names = Counter(name for name, _, _ in page.elements)
    assert (names["main"], names["header"], names["footer"], names["h1"]) == (1, 1, 1, 1)
    assert all(header.get("scope") in {"col", "row"} for header in page.all("th"))
    for svg in page.all("svg"):
        assert svg.get("aria-hidden") == "true" or svg.get("aria-label")
    ids = Counter(found["id"] for _, found, _ in page.elements if "id" in found)
    assert set(ids.values()) == {1}
    levels = [int(name[1]) for name, _, _ in page.elements if re.fullmatch(r"h\d", name)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_matrix_says_verdicts_in_words(run: StoredRun, text: str) -> None:
    table = re.search(r'<table class="heat">.*?</table>', text, re.DOTALL)
    assert table is not None
    words = "".join(Page(table.group()).words)
    expected = Counter(str(v) for candidate in run.candidates for v in candidate.verdicts.values())
    assert expected["violated"]
    assert expected["holds"]
    for verdict, count in expected.items():
        assert len(re.findall(rf"\b{verdict}\b", words)) == count


def test_other_candidates_have_lanes_of_their_own(run: StoredRun, text: str) -> None:
    assert all(len(run.beside[finding.id]) == len(run.candidates) - 1 for finding in run.findings)
    assert "The same history on 2 other candidates" in text
    alone = files(replace(run, beside={}))[NAME]
    assert "The same history on" not in alone
    assert alone.count('class="lane"') == len(run.findings)


def test_candidates_that_did_the_same_share_a_lane(run: StoredRun) -> None:
    finding = replace(run.findings[0], held_by=("control", "twin"))
    [control] = [each for each in run.beside[finding.id] if each.candidate == "control"]
    twin = History("twin", control.lane, [HookRan(1, "Twin.before_agent", "nothing"), *control.records])
    page = files(replace(run, findings=(finding,), beside={finding.id: (control, twin)}))[NAME]
    assert "The same history on 2 other candidates" in page
    assert "<strong>control, twin</strong>" in page


def test_a_run_without_findings_says_so(run: StoredRun) -> None:
    page = Page(files(replace(run, findings=(), beside={}))[NAME])
    words = "".join(page.words)
    assert "0 distinct findings" in words
    assert "The run has no findings." in words


def said(token: str, message_id: str | None = None) -> View:
    text = f"⟦{token}⟧ ask: harbour"
    role = {"u": "human", "a": "ai"}[token[0]]
    return View(message_id or token, role, text, None, (), None, "", mentions(text), token)


def reminder(message_id: str) -> View:
    return View(message_id, "system", "be brief", None, (), None, "", mentions(""), None)


def moved_history() -> History:
    before = (said("u1"), said("a1"), said("u2"))
    after = (reminder("u1"), said("a1"), said("u2"), said("u1", "u1__user"))
    update = (after[0], after[3])
    return History(
        "mine",
        "reducer",
        [
            Fold(2, "user", before[2:], before),
            FaultFired(2, 0, "skip", "before_agent", "Mine.before_agent"),
            Fold(2, "Mine.before_agent", update, after),
            Requested(2, 1, "", after, ""),
            Requested(2, 2, "", after[1:], "Mine.wrap_model_call"),
        ],
    )


def test_a_message_that_moves_is_the_same_message_and_says_that_it_moved() -> None:
    drawn = frames(moved_history(), {2: "2.reorder: u1 stands behind u2"}, ["u1"])
    first, fault, second, wrong, same, edited = drawn
    assert isinstance(first, Frame)
    assert isinstance(second, Frame)
    assert isinstance(edited, Frame)
    assert [(tile.key, tile.tags, tile.offends) for tile in second.tiles] == [
        ("id u1", ("written",), False),
        ("a1", (), False),
        ("u2", (), False),
        ("u1", ("moved", "new id"), True),
    ]
    assert isinstance(fault, Note)
    assert (fault.kind, fault.text[:24]) == ("fault", "skip at Mine.before_agen")
    assert isinstance(wrong, Note)
    assert (wrong.kind, wrong.text) == ("violation", "2.reorder: u1 stands behind u2")
    assert isinstance(same, Note)
    assert (same.what, same.text) == ("model call 1", "sees exactly this")
    assert edited.who == ("model call 2", "sees 3 of 4")


def test_what_the_model_sees_is_drawn_when_the_frame_above_is_not_it() -> None:
    before = (said("u1"),)
    after = (*before, said("a1.1"))
    records = [
        Fold(1, "user", before, before),
        Requested(1, 1, "", before, ""),
        Fold(1, "model", after[1:], after),
        Requested(1, 2, "", after, ""),
    ]
    _, same, seen = frames(History("mine", "reducer", list(records)))
    assert isinstance(same, Note)
    assert isinstance(seen, Frame)
    assert (seen.is_view, seen.who) == (True, ("model call 2", "sees"))
    assert [tile.label for tile in seen.tiles] == ["u1", "a1.1"]


def test_a_line_joins_a_moved_message_with_where_it_was() -> None:
    drawn = lane("mine", "violates", frames(moved_history()))
    [moved] = [link for link in drawn.links if link.moved]
    boxes = [box for box in drawn.boxes if box.tile.key == "u1"]
    assert [box.colour for box in boxes] == [1, 1, 1]
    assert moved.colour == 1
    start, end = re.findall(r"M(\d+) (\d+)C.* (\d+) (\d+)$", moved.path)[0][:2], moved.path.split()[-2:]
    assert abs(int(start[0]) - boxes[0].x) < 104
    assert abs(int(end[0]) - boxes[1].x) < 104
    assert drawn.sentences == ("Mine.before_agent: u1__user moved and got a new id",)


def test_a_message_that_leaves_ends_its_line() -> None:
    before = (said("u1"), said("a1"), said("u2"))
    records = [Fold(2, "user", before[2:], before), Fold(2, "Mine.before_model", (), before[1:])]
    drawn = lane("mine", "violates", frames(History("mine", "reducer", list(records))))
    assert len(drawn.ends) == 1
    assert drawn.sentences == ("Mine.before_model: u1 left the state",)


def test_what_only_appends_is_left_out_unless_it_is_wrong() -> None:
    before = (said("u1"),)
    records = [Fold(1, "user", before, before), Fold(1, "model", (), (*before, said("a1")))]
    history = History("mine", "reducer", list(records))
    assert [item.record for item in frames(history)] == [0]
    assert [item.record for item in frames(history, {1: "wrong"})] == [0, 1, 1]


def test_long_histories_and_long_states_are_drawn_in_part() -> None:
    state = tuple(said(f"u{number}") for number in range(1, 200))
    records = [Fold(1, "user", state, state) for _ in range(200)]
    drawn = lane("mine", "holds", frames(History("mine", "reducer", list(records))))
    assert drawn.cut == 50
    assert any(box.label == "… 159 more" for box in drawn.boxes)
    assert len(drawn.boxes) == 150 * 41


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain ⟦u1⟧", "plain ⟦u1⟧"),
        ("a\nb\tc", "a b c"),
        ("a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"),
        ("\u2028\u2029\ud800\x00", "⟨U+2028⟩⟨U+2029⟩⟨U+D800⟩⟨U+0000⟩"),
        ("x" * 1_000_000, "x" * 199 + "…"),
    ],
)
def test_what_cannot_be_seen_is_named(raw: str, clean: str) -> None:
    assert shown(raw) == clean


def test_lines_are_broken_at_blanks_and_long_words_anywhere() -> None:
    assert wrapped("one two three four", 9, 9) == ("one two", "three", "four")
    assert wrapped("x" * 25, 10, 2) == ("x" * 10, "x" * 9 + "…")
    assert wrapped("", 10, 2) == ()


def test_the_templates_are_where_the_module_is() -> None:
    names = {path.name for path in (Path(files.__code__.co_filename).parent / "templates").iterdir()}
    assert names >= {"report.html.j2", "report.css", "report.js"}
