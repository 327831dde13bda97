"""The accessibility audit: axe-core, from SIXFOLD_AXE or fetched by npm into a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .chromium import Browser

_PACKAGE = "axe-core@4"

#: WCAG 2.0, 2.1 and 2.2, levels A and AA, and what axe-core calls good practice.
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

_RUN = """
axe.run(document, {runOnly: {type: "tag", values: %s}, resultTypes: ["violations", "incomplete"]})
  .then(result => ({
    violations: result.violations.map(each => [each.id, each.help, each.nodes.length, each.nodes[0].html,
      each.nodes[0].failureSummary]),
    passes: result.passes.length,
  }))
"""


def axe_source() -> str:
    """Return the text of axe-core. Raises `SystemExit` with what to do when it cannot be had."""
    named = os.environ.get("SIXFOLD_AXE")
    if named:
        if not Path(named).is_file():
            raise SystemExit(f"SIXFOLD_AXE names no file: {named}")
        return Path(named).read_text(encoding="utf-8")
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("No npm to fetch axe-core with: install npm, or name an axe.min.js in SIXFOLD_AXE.")
    with tempfile.TemporaryDirectory(prefix="sixfold-axe-") as folder:
        command = [
            npm,
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
            folder,
            _PACKAGE,
        ]
        fetched = subprocess.run(command, capture_output=True, text=True, check=False)
        file = Path(folder) / "node_modules" / "axe-core" / "axe.min.js"
        if fetched.returncode != 0 or not file.is_file():
            raise SystemExit(
                f"npm cannot fetch axe-core; name an axe.min.js in SIXFOLD_AXE.\n{fetched.stderr}"
            )
        return file.read_text(encoding="utf-8")


def audit(browser: Browser, source: str) -> tuple[list[Any], int]:
    """Audit the page that is open; return the violations, and how many rules passed."""
    browser.evaluate(f"{source}; 0")
    result = browser.evaluate(_RUN % _TAGS)
    return result["violations"], result["passes"]
