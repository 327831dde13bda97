"""The trend counts what the ledger holds, and its page shows hostile text as text."""

from html.parser import HTMLParser

from sixfold.harness.nights.entries import Entry, Night
from sixfold.harness.nights.shard import Known
from sixfold.reports.html_trend import HEIGHT, MARGIN, render
from sixfold.reports.trend import TrendLine, trend_of

HOSTILE = "</td><script>alert(1)</script>\x1b[31m\u202e"


def night(
    number: int, *, seconds: float | None = 10.0, histories: int = 50, day: str = "2026-12-02"
) -> Night:
    ended = None if seconds is None else "complete"
    return Night(number, day, "abc", ("mine",), seconds, ended, histories)


def entry(number: str, first: int) -> Entry:
    known = Known("mine", "2.reorder", "Mine.before_agent", (), "{}")
    return Entry(number, known, "", True, True, (), (), 1, first, first, "known", "", True)


def lines() -> tuple[TrendLine, ...]:
    measured = [
        (1, "mine", "figure sent", 200.0),
        (1, "mine", "figure resent", 50.0),
        (1, "other", "figure sent", 200.0),
        (1, "mine", "reached injection", 3.0),
        (1, "other", "reached injection", 0.0),
        (3, "mine", "reached injection", 1.0),
        (3, "mine", "reached compaction", 1.0),
    ]
    nights = [night(1), night(2, seconds=None, histories=0), night(3, histories=100)]
    return trend_of(nights, measured, [entry("SF-1", 1), entry("SF-2", 1), entry("SF-3", 3)])


def test_trend_counts_what_the_ledger_holds() -> None:
    first, killed, third = lines()
    assert (first.per_second, first.goals, first.reuse, first.new, first.known) == (5.0, 1, 0.125, 2, 2)
    assert (killed.per_second, killed.reuse, killed.new, killed.known, killed.ended) == (
        None,
        None,
        0,
        2,
        "killed",
    )
    assert (third.per_second, third.goals, third.new, third.known) == (10.0, 2, 1, 3)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def tags_of(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(page)
    return parser.seen


def test_page_draws_a_point_for_each_night_that_has_a_value() -> None:
    page = render(lines())
    tags = tags_of(page)
    circles = [attributes for tag, attributes in tags if tag == "circle"]
    # New, all and reach have three values; throughput two; reuse one. The highest is at the top.
    assert len(circles) == 3 + 3 + 3 + 2 + 1
    assert {float(circle["cy"] or 0) for circle in circles[:3]} == {MARGIN, HEIGHT / 2, HEIGHT - MARGIN}
    assert sum(tag == "polyline" for tag, _ in tags) == 3, "a night without a value breaks the line"
    assert page == render(lines())


def test_page_loads_nothing_and_escapes_everything() -> None:
    page = render(trend_of([night(1, day=HOSTILE)], [], []))
    tags = tags_of(page)
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe"}
    assert not [1 for _, attributes in tags for name in attributes if name in ("src", "href", "onload")]
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "script-src" not in page
    assert "&lt;/td&gt;" in page


def test_ledger_without_nights_has_a_page() -> None:
    assert "0 nights" in render(())
