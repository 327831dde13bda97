"""The trend as one HTML page: a plot for each figure, and a table of all. No script, nothing is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from .html_page import asset, policy, template
from .html_text import shown
from .trend import HEADINGS, TrendLine, cells

#: The size of a plot, and the room around its curve.
WIDTH, HEIGHT, MARGIN = 420.0, 130.0, 12.0


class Point(NamedTuple):
    """A night in a plot: where it is, and what it says."""

    x: float
    y: float
    told: str


class Curve(NamedTuple):
    """One figure over the nights. `lines` are points to be joined; a night without a value breaks them."""

    title: str
    explanation: str
    points: tuple[Point, ...]
    lines: tuple[str, ...]
    top: str
    last: str


def render(trend: Sequence[TrendLine]) -> str:
    """Return the page. Equal ledgers give equal text."""
    style = asset("report.css")
    curves = (
        _curve(
            "New findings", "First seen in the night.", trend, [float(line.new) for line in trend], "{:,.0f}"
        ),
        _curve(
            "All findings", "Seen up to the night.", trend, [float(line.known) for line in trend], "{:,.0f}"
        ),
        _curve(
            "Throughput",
            "Histories a second, on all workers together.",
            trend,
            [line.per_second for line in trend],
            "{:,.1f}",
        ),
        _curve(
            "Reach",
            "Goals reached, counted for each candidate.",
            trend,
            [float(line.goals) for line in trend],
            "{:,.0f}",
        ),
        _curve(
            "Prefix reuse",
            "Bytes of a request that the one before had sent.",
            trend,
            [line.reuse for line in trend],
            "{:.1%}",
        ),
    )
    return template("trend.html.j2").render(
        style=Markup(style),
        policy=policy(style),
        curves=curves,
        width=WIDTH,
        height=HEIGHT,
        headings=HEADINGS,
        rows=[[shown(cell, 20) for cell in cells(line)] for line in trend],
    )


def _curve(
    title: str, explanation: str, trend: Sequence[TrendLine], values: Sequence[float | None], form: str
) -> Curve:
    top = max((value for value in values if value is not None), default=0.0)
    step = (WIDTH - 2 * MARGIN) / max(1, len(trend) - 1)
    points: list[Point] = []
    lines: list[list[str]] = [[]]
    for number, (line, value) in enumerate(zip(trend, values, strict=True)):
        if value is None:
            lines.append([])
            continue
        x = round(MARGIN + number * step, 1)
        y = round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value / top if top else 0.0), 1)
        points.append(Point(x, y, f"night {line.night}, {shown(line.day, 20)}: {form.format(value)}"))
        lines[-1].append(f"{x},{y}")
    last = next((value for value in reversed(values) if value is not None), None)
    return Curve(
        title,
        explanation,
        tuple(points),
        tuple(" ".join(joined) for joined in lines if len(joined) > 1),
        form.format(top),
        "unknown" if last is None else form.format(last),
    )
