"""Write docs/systems.md and the scenarios it links to: `python -m tests.systems`.

Read the difference before you keep it, and look at each new finding by hand (tests/reviewed_systems.py).
The exit code is 1 while one of them has not been looked at.
"""

from __future__ import annotations

import sys

from .files import write_all
from .page import FILE, UNREVIEWED, page
from .regenerated import regenerated


def main() -> int:
    """Measure everything and write it down."""
    systems, flaws = regenerated()
    text = page(systems, flaws)
    FILE.write_text(text, encoding="utf-8")
    write_all(systems)
    unreviewed = text.count(UNREVIEWED)
    print(f"wrote {FILE.name}, {len(systems) - 1} systems and {len(flaws)} flaws")
    if unreviewed:
        print(f"{unreviewed} findings have no entry in tests/reviewed_systems.py", file=sys.stderr)
    return bool(unreviewed)


if __name__ == "__main__":
    sys.exit(main())
