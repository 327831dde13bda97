"""Proves in a real browser what `report.html` promises: `make browser`.

Opened from disk it makes no request and logs no error, in light and dark, wide and narrow, with and without
scripts; axe-core finds no violation of WCAG AA; 300 findings are on the screen within two seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from sixfold.reports import html
from sixfold.reports.stored_run import load_run

from .axe import audit, axe_source
from .chromium import Browser, open_browser
from .runs import poisoned, real_and_large

MANY = 300
MOST_SECONDS = 2.0
VISITS = 3
MOST_BYTES = 200_000
WIDE, NARROW, NARROWEST = 1280, 390, 320
#: A finding whose timeline shows a fault, a message that moves, and what the model sees of it.
SHOWN = "SF-bfe93ea2"

_TROUBLE = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
_VISIBLE = "[...document.querySelectorAll('details.finding')].filter(each => each.checkVisibility()).length"
_READABLE = (
    "[...document.querySelectorAll('details.finding > .body')].filter(each => each.checkVisibility()).length"
)
#: Twice: what a finding holds is there only when it was opened.
_OPEN_ALL = """(async () => {
  for (let time = 0; time < 2; time++) {
    document.querySelectorAll("details").forEach(each => { each.open = true; });
    await new Promise(done => setTimeout(done, 100));
  }
})()"""


def say(text: str) -> None:
    """Tell one thing that was shown."""
    print(f"  {text}", flush=True)


def check(holds: bool, text: str, found: Any = "") -> None:
    """Tell that `text` holds, or end with what was found instead."""
    if not holds:
        raise SystemExit(f"NOT SHOWN: {text} {found}")
    say(text)


def quiet(browser: Browser, page: Path, what: str) -> None:
    """Check that the page asked for nothing but itself and complained of nothing."""
    asked = [
        e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"
    ]
    trouble = [event for event in browser.events if event["method"] in _TROUBLE]
    check(asked == [page.resolve().as_uri()], f"{what}: no request but for the file itself", asked)
    check(not trouble, f"{what}: no console message, no error", trouble)


def prove_quiet(browser: Browser, page: Path, axe: str) -> None:
    """The page loads nothing, fits, and passes the audit in every look."""
    for width in (WIDE, NARROW):
        for dark in (False, True):
            look = f"{width} px, {'dark' if dark else 'light'}"
            browser.look(width=width, dark=dark)
            browser.visit(page)
            browser.evaluate(_OPEN_ALL)
            quiet(browser, page, look)
            violations, passes = audit(browser, axe)
            check(passes > 0, f"{look}: axe-core passed {passes} rules with everything open")
            check(not violations, f"{look}: axe-core finds no violation", violations)
    for width in (NARROW, NARROWEST):
        browser.look(width=width)
        browser.visit(page)
        browser.evaluate(_OPEN_ALL)
        needed = browser.evaluate("document.documentElement.scrollWidth")
        check(needed <= width, f"{width} px: the page does not scroll sideways", needed)


def prove_use(browser: Browser, page: Path, findings: int) -> None:
    """Filters work, the keyboard is enough, and everything is there without scripts and on paper."""
    browser.look(width=WIDE)
    browser.visit(page)
    check(browser.evaluate(_VISIBLE) == findings, f"{findings} findings are listed")
    browser.evaluate(
        "(form => { form.elements.text.value = 'stale-question';"
        " form.elements.text.dispatchEvent(new Event('input', {bubbles: true})); })(document.forms[0])"
    )
    fewer = browser.evaluate(_VISIBLE)
    check(0 < fewer < findings, f"the search leaves {fewer} of them", fewer)
    said = browser.evaluate("document.getElementById('count').textContent")
    check(said == f"{fewer} of {findings} findings", "and says so", said)
    browser.evaluate("document.querySelector('.heat a').click()")
    linked = browser.evaluate(_VISIBLE)
    promised = browser.evaluate("parseInt(document.querySelector('.heat a').textContent)")
    check(linked == promised, f"a cell of the matrix leads to its {promised} findings", linked)
    browser.visit(page)
    last = "[...document.querySelectorAll('details.finding')].at(-1)"
    browser.evaluate(f"{last}.querySelector('summary').focus()")
    browser.press("Enter", 13)
    check(browser.evaluate(f"{last}.open"), "Enter opens a finding")
    browser.press("Tab", 9)
    within = browser.evaluate(f"{last}.contains(document.activeElement)")
    check(within, "Tab goes on into it")
    outline = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check(outline == "solid", "the focus can be seen", outline)
    browser.allow_scripts(False)
    browser.visit(page)
    quiet(browser, page, "without scripts")
    check(browser.evaluate(_VISIBLE) == findings, "without scripts: all findings are there")
    drawn = browser.evaluate("document.querySelectorAll('figure.lane svg.boxes').length")
    check(drawn >= findings, f"without scripts: {drawn} timelines are there, too", drawn)
    check(
        browser.evaluate("!document.forms[0].checkVisibility()"), "without scripts: no dead filter is shown"
    )
    browser.allow_scripts(True)
    browser.look(width=WIDE, media="print")
    browser.visit(page)
    paper = browser.evaluate(_READABLE)
    check(paper == findings, "on paper: every finding is open", paper)
    browser.look(width=WIDE)
    check(browser.evaluate(_READABLE) == 1, "and on the screen: the first")


def prove_speed(browser: Browser, page: Path) -> None:
    """A page with many findings is soon there."""
    browser.look(width=WIDE)
    seconds = min(browser.visit(page) for _ in range(VISITS))
    size = page.stat().st_size / 1e6
    check(browser.evaluate(_VISIBLE) == MANY, f"{MANY} findings, {size:.1f} MB")
    check(
        seconds < MOST_SECONDS,
        f"loaded and painted in {seconds:.2f} s, the quickest of {VISITS} (most: {MOST_SECONDS} s)",
        seconds,
    )
    quiet(browser, page, f"{MANY} findings")


def prove_harmless(browser: Browser, page: Path) -> None:
    """Hostile text is text."""
    browser.look(width=NARROW)
    browser.visit(page)
    browser.evaluate(_OPEN_ALL)
    quiet(browser, page, "hostile text")
    strangers = browser.evaluate("document.querySelectorAll('img, iframe, object, script ~ script').length")
    check(strangers == 0, "hostile text: no element of its own", strangers)
    needed = browser.evaluate("document.documentElement.scrollWidth")
    check(needed <= NARROW, "hostile text: the page does not scroll sideways", needed)


def take_screenshots(browser: Browser, page: Path, folder: Path) -> None:
    """Write the pictures that the documentation shows."""
    for width, dark, name in (
        (WIDE, False, "report-1280"),
        (NARROW, False, "report-390"),
        (WIDE, True, "report-dark"),
    ):
        browser.look(width=width, dark=dark)
        browser.visit(page)
        browser.evaluate(
            f"document.querySelectorAll('details').forEach(e => {{ e.open = e.id === '{SHOWN}'; }});"
            "new Promise(done => setTimeout(done, 100))"
        )
        top = (
            browser.evaluate(f"document.getElementById('{SHOWN}').getBoundingClientRect().top + scrollY") - 8
        )
        bottom = browser.evaluate(
            f"document.getElementById('{SHOWN}').getBoundingClientRect().bottom + scrollY"
        )
        overview = browser.evaluate(
            "document.getElementById('figures').getBoundingClientRect().top + scrollY"
        )
        parts = [(f"{name}-finding", top, bottom + 8)]
        parts += [] if dark else [(name, 0, overview - 24)]
        for part, begin, end in parts:
            file = folder / f"{part}.png"
            browser.screenshot(file, width=width, top=begin, height=end - begin)
            size = file.stat().st_size
            check(size < MOST_BYTES, f"{file.name}: {size // 1000} kB", size)


def main() -> None:
    """Run the whole proof."""
    options = argparse.ArgumentParser(prog="make browser", description=__doc__)
    options.add_argument("--screenshots", type=Path, help="write screenshots into this folder, too")
    wanted = options.parse_args()
    with open_browser() as browser, tempfile.TemporaryDirectory(prefix="sixfold-report-") as base:
        axe = axe_source()
        print("Fuzzing ...", flush=True)
        pages = []
        for folder in real_and_large(Path(base), findings=MANY):
            page = folder / html.NAME
            page.write_text(html.files(load_run(folder))[html.NAME], encoding="utf-8")
            pages.append(page)
        print(f"Chromium {browser.send('Browser.getVersion')['product']}", flush=True)
        run = load_run(pages[0].parent)
        findings = len(run.findings)
        hostile = Path(base) / "hostile.html"
        hostile.write_text(html.files(poisoned(run))[html.NAME], encoding="utf-8")
        prove_speed(browser, pages[1])
        prove_quiet(browser, pages[0], axe)
        prove_use(browser, pages[0], findings)
        prove_harmless(browser, hostile)
        if wanted.screenshots:
            take_screenshots(browser, pages[0], wanted.screenshots)
    print("All of it was shown.")


if __name__ == "__main__":
    sys.exit(main())
